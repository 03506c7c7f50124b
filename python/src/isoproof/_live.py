"""The verdict while an application still runs: what was recorded so far goes to the live checker, piece by piece."""
from __future__ import annotations

import ctypes
import threading
from ctypes import CFUNCTYPE, POINTER, byref, c_bool, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from typing import Any, Callable, Iterable, Optional, Union

from ._library import Error, OpenOptions, RenderOptions, Sized, library, must, written
from ._result import Result, Verdict

WholeFunction = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(c_void_p), POINTER(Error))


class _Options(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("levels", POINTER(c_char_p)),
        ("level_count", c_size_t),
        ("horizon", c_uint64),
        ("memory_limit", c_uint64),
        ("whole", WholeFunction),
        ("whole_user", c_void_p),
    ]


class _Level(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("level", c_char_p),
        ("verdict", c_int),
        ("final", c_bool),
        ("since", c_uint64),
    ]


_FUNCTIONS: list[tuple[str, Any, list[Any]]] = [
    ("isoproof_live_new", c_int, [POINTER(_Options), c_void_p, POINTER(c_void_p), POINTER(Error)]),
    ("isoproof_live_free", None, [c_void_p]),
    ("isoproof_live_push", c_int, [c_void_p, c_void_p, c_void_p, POINTER(Error)]),
    ("isoproof_live_poll", c_int, [c_void_p, c_void_p, POINTER(Error)]),
    ("isoproof_live_finish", c_int, [c_void_p, POINTER(Error)]),
    ("isoproof_live_level_at", c_bool, [c_void_p, c_size_t, POINTER(_Level)]),
    ("isoproof_live_violation_at", c_bool, [c_void_p, c_size_t, POINTER(c_void_p), POINTER(c_void_p)]),
    ("isoproof_verdict_name", c_char_p, [c_int]),
    ("isoproof_history_open_memory", c_int,
     [c_char_p, c_size_t, c_char_p, POINTER(OpenOptions), c_void_p, POINTER(c_void_p), POINTER(Error)]),
]


def _declared() -> ctypes.CDLL:
    loaded = library()
    for name, result, arguments in _FUNCTIONS:
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    return loaded


def _opened(text: bytes, into: Any, error: Any) -> int:
    reading = OpenOptions(format=b"jsonl")
    return int(library().isoproof_history_open_memory(text, len(text), b"live", byref(reading), None, into, error))


class LiveChecker:
    """Judges lines of a history as they come.  `recorded` gives everything so far, for what has left memory."""

    def __init__(self, header: bytes, levels: Union[bool, str, Iterable[str]],
                 recorded: Callable[[], bytes]) -> None:
        self._c, self._header, self._handle, self._lock = _declared(), header, c_void_p(), threading.Lock()
        names = [] if isinstance(levels, bool) else [levels] if isinstance(levels, str) else list(levels)
        encoded = [name.encode() for name in names]

        def whole(_user: Any, _task: Any, into: Any, error: Any) -> int:
            return _opened(recorded(), into, error)

        self._whole = WholeFunction(whole)  # must live as long as the checker
        options, error = _Options(whole=self._whole), Error()
        if encoded:
            options.levels, options.level_count = (c_char_p * len(encoded))(*encoded), len(encoded)
        must(self._c.isoproof_live_new(byref(options), None, byref(self._handle), byref(error)), error)

    def push(self, lines: bytes) -> None:
        """Takes lines of transactions, in the order of their ends, and examines them."""
        text, history, error = self._header + lines, c_void_p(), Error()
        with self._lock:
            try:
                must(_opened(text, byref(history), byref(error)), error)
                must(self._c.isoproof_live_push(self._handle, history, None, byref(error)), error)
            finally:
                self._c.isoproof_history_free(history)
            must(self._c.isoproof_live_poll(self._handle, None, byref(error)), error)

    def verdicts(self) -> dict[str, Verdict]:
        """Per level, of everything so far; a violation that a later transaction may still mend is unknown."""
        found: dict[str, Verdict] = {}
        level, number = _Level(), 0
        with self._lock:
            while self._c.isoproof_live_level_at(self._handle, number, byref(level)):
                verdict = Verdict(self._c.isoproof_verdict_name(level.verdict).decode())
                mendable = verdict is Verdict.VIOLATED and not level.final
                found[level.level.decode()] = Verdict.UNKNOWN if mendable else verdict
                number += 1
        return found

    def violation(self) -> Optional[Result]:
        """The first violation, with its witness; None where there is none."""
        history, result, how = c_void_p(), c_void_p(), RenderOptions(file=b"live", load_seconds=-1, check_seconds=-1)
        with self._lock:
            if not self._c.isoproof_live_violation_at(self._handle, 0, byref(history), byref(result)):
                return None
            return Result(written(lambda write, problem: int(
                self._c.isoproof_result_write_json(result, byref(how), write, None, byref(problem)))))

    def finish(self) -> None:
        """Nothing more will come."""
        error = Error()
        with self._lock:
            must(self._c.isoproof_live_finish(self._handle, byref(error)), error)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._c.isoproof_live_free(self._handle)
