"""Judging a history, and the levels there are."""
from __future__ import annotations

import ctypes
import os
import time
from ctypes import byref, c_char_p, c_void_p
from typing import Iterable, Iterator, Optional, Union

from ._library import CheckOptions, Error, OpenOptions, RenderOptions, library, must, written
from ._result import Result


def _names(names: Iterable[str]) -> tuple[ctypes.Array[c_char_p], int]:
    encoded = [name.encode() for name in names]
    return (c_char_p * len(encoded))(*encoded), len(encoded)


class _Handles:
    """Frees what the library handed over, the last first, whatever happens."""

    def __init__(self) -> None:
        self.task, self.history, self.result = c_void_p(), c_void_p(), c_void_p()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *_problem: object) -> None:
        library().isoproof_result_free(self.result)
        library().isoproof_history_free(self.history)
        library().isoproof_task_free(self.task)


def check(
    path: Union[str, os.PathLike[str]],
    levels: Union[None, str, Iterable[str]] = None,
    *,
    format: Optional[str] = None,
    all: bool = False,
    certificate: bool = False,
    duplicate_values: bool = False,
    timeout: float = 0,
    threads: int = 0,
) -> Result:
    """Judges a recorded history, of any format that isoproof reads.

    `levels` are those asked for ("serializable", "si", ...; None: every level that can be decided).  `all` keeps every
    instance of an anomaly instead of the smallest one of each kind; `certificate` keeps the orders that prove what is
    satisfied; `duplicate_values` says that writes of one value to one key are expected.  What cannot be decided within
    `timeout` seconds (0: no limit) is `unknown`.  Raises IsoproofError for a file that cannot be judged.
    """
    c, error = library(), Error()
    options = CheckOptions(all=all, certificate=certificate, duplicate_values=duplicate_values)
    if levels is not None:
        options.levels, options.level_count = _names([levels] if isinstance(levels, str) else levels)
    reading = OpenOptions(format=format.encode() if format else None)
    name = os.fsencode(path)
    with _Handles() as handles:
        must(c.isoproof_task_new(byref(handles.task)), error)
        c.isoproof_task_set_threads(handles.task, threads)
        c.isoproof_task_set_timeout(handles.task, timeout)
        began = time.monotonic()
        must(c.isoproof_history_open(name, byref(reading), handles.task, byref(handles.history), byref(error)), error)
        loaded = time.monotonic()
        status = c.isoproof_check(handles.history, byref(options), handles.task, byref(handles.result), byref(error))
        must(status, error)
        how = RenderOptions(file=name, load_seconds=loaded - began, check_seconds=time.monotonic() - loaded)
        return Result(written(
            lambda write, problem: int(c.isoproof_result_write_json(
                handles.result, byref(how), write, None, byref(problem)))))


def levels() -> Iterator[tuple[str, str]]:
    """The levels that there are, each with a sentence that says what it means."""
    number = 0
    while info := library().isoproof_level_at(number):
        yield info.contents.id.decode(), info.contents.summary.decode()
        number += 1
