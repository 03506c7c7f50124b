"""Histories from application code: what each transaction read and wrote, and how it ended.

A line is written when a transaction has ended, by one call, so that a program that is killed loses no whole line.
Threads may share a recorder; a session is one connection, and its transactions come one after the other.
"""
from __future__ import annotations

import itertools
import json
import os
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Iterable, Mapping, Optional, Type, Union

from ._live import LiveChecker
from ._result import Result, Verdict


class _NotKnown:
    """The type of NOT_KNOWN."""

    def __repr__(self) -> str:
        return "NOT_KNOWN"


NOT_KNOWN = _NotKnown()
"""The value of a read whose answer never came."""

_STATEMENTS = 1000  # more are not told apart: texts with values in them instead of parameters
_PIECE = 1 << 23  # bytes that the live checker gets at a time

_SMALLEST, _LARGEST = -(2**63), 2**64 - 1


def _scalar(value: Any) -> Any:
    """A key or a value as the format has it; whatever has no form of its own is kept as text."""
    if value is None or isinstance(value, str):
        return value
    if value is NOT_KNOWN:
        return {"none": True}
    if isinstance(value, bool) or isinstance(value, float):
        return {"symbol": json.dumps(value)}
    if isinstance(value, int):
        return value if _SMALLEST <= value <= _LARGEST else {"symbol": str(value)}
    if isinstance(value, (tuple, list)):
        return "/".join(str(part) for part in value)
    return str(value)


@dataclass(frozen=True)
class Predicate:
    """Which rows a query picks: conditions that must all be met, each of them optional."""

    keys: Optional[tuple[int, int]] = None  # from, to
    values: Optional[tuple[int, int]] = None  # from, to
    modulo: Optional[tuple[int, int]] = None  # the value modulo the first is the second
    where: tuple[tuple[Any, ...], ...] = ()  # of columns: ("city", "=", "Ulm"), ("age", "in", (7, 8)), ("left", "is null")

    def _conditions(self) -> dict[str, list[Any]]:
        found = {"keys": self.keys, "values": self.values, "mod": self.modulo}
        conditions: dict[str, list[Any]] = {name: list(bounds) for name, bounds in found.items() if bounds is not None}
        if self.where:
            conditions["where"] = [[list(part) if isinstance(part, tuple) else part for part in condition]
                                   for condition in self.where]
        return conditions


class Transaction:
    """A transaction that is being recorded; comes from Session.transaction, as the subject of a `with` block.

    Where the block ends, the transaction counts as committed; where an exception leaves it, as *unknown*: the commit
    may have reached the server before the connection broke.  What is known better is said: `aborted` when the server
    has answered that it was rolled back, or when its commit was never sent; `unknown` when nobody can tell.
    """

    def __init__(self, session: Session, name: Optional[str] = None, isolation: Optional[str] = None) -> None:
        self.session = session
        self.name = name
        self.isolation = isolation
        self._operations: list[list[Any]] = []
        self._statements: list[int] = []  # the numbers of those that did the operations; 0: not said
        self._statement = 0
        self._status: Optional[str] = None
        self._error: Any = None
        self._start = 0
        self._ended = False

    # ---- what it did ----

    def read(self, key: Any, value: Any) -> None:
        """It read this value; None where the key had none yet."""
        self._add("r", key, _scalar(value))

    def write(self, key: Any, value: Any) -> None:
        """It wrote this value.  Values that are different for every write of a key tell most (`unique`)."""
        self._add("w", key, _scalar(value))

    def append(self, key: Any, element: Any) -> None:
        """It appended an element to a list."""
        self._add("append", key, _scalar(element))

    def read_list(self, key: Any, elements: Optional[Iterable[Any]]) -> None:
        """It read a list."""
        self._add("read-list", key, None if elements is None else [_scalar(element) for element in elements])

    def add(self, key: Any, element: Any) -> None:
        """It added an element to a set."""
        self._add("add", key, _scalar(element))

    def read_set(self, key: Any, elements: Optional[Iterable[Any]]) -> None:
        """It read a set."""
        self._add("read-set", key, None if elements is None else [_scalar(element) for element in elements])

    def increment(self, key: Any, by: int = 1) -> None:
        """It changed a counter."""
        self._add("inc", key, by)

    def read_counter(self, key: Any, value: Optional[int]) -> None:
        """It read a counter."""
        self._add("read-counter", key, value)

    # ---- rows of a table, whose keys and values are integers ----

    # Columns are what predicates ask for with `where`: {"city": "Ulm"}.

    def insert(self, key: int, value: int, **columns: Union[None, int, str]) -> None:
        """It made a row."""
        self._add("insert", key, value, columns)

    def update(self, key: int, value: Optional[int], **columns: Union[None, int, str]) -> None:
        """It changed a row; None: it found none."""
        self._add("missed-update" if value is None else "update", key, value, columns)

    def upsert(self, key: int, value: int, **columns: Union[None, int, str]) -> None:
        """It made or changed a row."""
        self._add("upsert", key, value, columns)

    def delete(self, key: int, found: bool = True) -> None:
        """It removed a row, or found none."""
        self._add("delete" if found else "missed-delete", key, None)

    def read_rows(self, predicate: Predicate, rows: Iterable[tuple[int, int]]) -> None:
        """It read the rows that a predicate picks: these keys with these values."""
        self._note(["rp", predicate._conditions(), [list(row) for row in rows]])

    def count_rows(self, predicate: Predicate, number: int) -> None:
        """It counted the rows that a predicate picks."""
        self._note(["count", predicate._conditions(), number])

    def unique(self) -> int:
        """A number that no other transaction of this recorder gets, to be written as a value."""
        return self.session.recorder.unique()

    def statement(self, text: str) -> None:
        """What is recorded from here on was done by this statement; witnesses show it."""
        self._statement = self.session.recorder._statement(text)

    # ---- how it ended ----

    def aborted(self, error: Any = None) -> None:
        """It is certain that it was rolled back."""
        self._status, self._error = "aborted", error

    def unknown(self, error: Any = None) -> None:
        """Nobody can tell whether it was committed."""
        self._status, self._error = "unknown", error

    def __enter__(self) -> Transaction:
        self.session._begin()
        self._start = time.monotonic_ns()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], problem: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._ended = True
        status = self._status or ("committed" if kind is None else "unknown")
        error = self._error if self._error is not None or kind is None else kind.__name__
        line: dict[str, Any] = {"session": self.session.name, "status": status, "start": self._start}
        if status != "unknown":
            line["end"] = time.monotonic_ns()
        if self.session.node is not None:
            line["node"] = _scalar(self.session.node)
        if error is not None:
            line["error"] = _scalar(error)
        if self.name is not None:
            line["name"] = self.name
        if self.isolation is not None:
            line["isolation"] = self.isolation
        if any(self._statements):
            line["statements"] = self._statements
        line["ops"] = self._operations
        self.session._end(line)

    def _add(self, name: str, key: Any, value: Any, columns: Optional[Mapping[str, Any]] = None) -> None:
        operation = [name, _scalar(key), value]
        self._note(operation + [columns] if columns else operation)

    def _note(self, operation: list[Any]) -> None:
        if self._ended:
            raise RuntimeError("the transaction has ended")
        self._operations.append(operation)
        self._statements.append(self._statement)


class Session:
    """One connection: its transactions come one after the other.  Comes from Recorder.session."""

    def __init__(self, recorder: Recorder, name: Union[int, str], node: Any) -> None:
        self.recorder = recorder
        self.name = name
        self.node = node
        self._busy = False

    def transaction(self, name: Optional[str] = None, *, isolation: Optional[str] = None) -> Transaction:
        """A transaction to be recorded, from the begin of a `with` block to its end.

        `name` says which of the application's transactions it is ("place order"); `isolation` is the level that this
        one is held to ("serializable"), where transactions have levels of their own.
        """
        return Transaction(self, name, isolation)

    def _begin(self) -> None:
        if self._busy:
            raise RuntimeError(f"session {self.name} has a transaction already; a session is one connection")
        self._busy = True

    def _end(self, line: Mapping[str, Any]) -> None:
        self._busy = False
        self.recorder._write(line)


class Recorder:
    """Writes a history, as JSON lines that `isoproof.check` and `isoproof check` read.

    `facts` go into the header: database="PostgreSQL 15", isolation="repeatable read", ...  A file that exists is
    left alone (FileExistsError), unless `append` continues it.

    With `live`, the levels to judge (True: those that the live checker judges by default), `verdicts` says at any time
    what is known of everything recorded so far, and `violation` shows the first one.
    """

    def __init__(self, path: Union[str, os.PathLike[str]], *, append: bool = False, first_value: int = 1,
                 live: Union[bool, str, Iterable[str]] = False, **facts: Union[str, int, float, bool]) -> None:
        self.path = os.fspath(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if append else os.O_EXCL)
        self._file = os.open(self.path, flags | getattr(os, "O_CLOEXEC", 0), 0o666)
        self._lock = threading.Lock()
        self._values = itertools.count(first_value)
        self._sessions = itertools.count()
        self._own = threading.local()
        self._process = os.getpid()
        self._closed = False
        self._events = 0
        self._naming = threading.Lock()
        self._texts: dict[str, int] = {}
        self._size = 0  # bytes of the file, whole lines
        self._judged = 0  # of these the live checker has seen so many
        self._examining = threading.Lock()
        self._checker: Optional[LiveChecker] = None
        if live:
            if append:
                raise ValueError("a history that is continued cannot be judged live; check it when it is complete")
            header = b'{"isoproof":1,"initial":null}\n'
            self._checker = LiveChecker(header, live, self._recorded)
        self._write({"isoproof": 1, "initial": None, **facts, "finished": "no"})

    def session(self, name: Union[None, int, str] = None, *, node: Any = None) -> Session:
        """A new session; by default it is named by a number of its own.  `node` is the server it talks to."""
        if name is None:
            number = next(self._sessions)
            name = number if os.getpid() == self._process else f"{os.getpid()}.{number}"
        return Session(self, name, node)

    def transaction(self, name: Optional[str] = None, *, isolation: Optional[str] = None) -> Transaction:
        """A transaction of the session that belongs to the calling thread."""
        if getattr(self._own, "process", None) != os.getpid():
            self._own.session, self._own.process = self.session(), os.getpid()
        session: Session = self._own.session
        return session.transaction(name, isolation=isolation)

    def unique(self) -> int:
        """A number that was not handed out before."""
        return next(self._values)

    def name_row(self, key: int, name: str) -> None:
        """Says what people call a row: "bookings[id=7]"."""
        self._write({"row_names": [[key, name]]})

    def event(self, text: str) -> None:
        """Notes what happened beside the transactions, such as a server that was killed."""
        with self._lock:
            self._events += 1
            number = self._events
        self._write({"isoproof": 1, "initial": None, f"event.{number}": f"{time.monotonic_ns()} {text}"})

    def close(self) -> None:
        """Ends the history.  One that was not closed is judged all the same, with a notice."""
        if not self._closed:
            self._write({"isoproof": 1, "initial": None, "finished": "yes"})
            self._closed = True
            os.close(self._file)
            if self._checker is not None:
                self._examine()
                self._checker.finish()

    def verdicts(self) -> dict[str, Verdict]:
        """What is known of everything recorded so far, per level.  Needs `live`.

        Exact; what a transaction that has not ended may still explain is unknown.  Recording goes on meanwhile.
        """
        checker = self._live()
        self._examine()
        return checker.verdicts()

    def violation(self) -> Optional[Result]:
        """The first violation that was found, with its witness.  Needs `live`."""
        return self._live().violation()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()

    def _statement(self, text: str) -> int:
        """The number of a statement; its text goes into the history when it is first met."""
        with self._naming:
            number = self._texts.get(text, 0)
            if number == 0 and len(self._texts) < _STATEMENTS:
                number = len(self._texts) + 1
                self._write({"isoproof": 1, "initial": None, f"statement.{number}": " ".join(text.split())})
                self._texts[text] = number
            return number

    def _live(self) -> LiveChecker:
        if self._checker is None:
            raise ValueError("the recorder was not made with live=...")
        return self._checker

    def _examine(self) -> None:
        with self._examining:
            with self._lock:
                size = self._size
            while self._judged < size and self._checker is not None:
                piece = self._read(self._judged, min(size - self._judged, _PIECE))
                piece = piece[:piece.rindex(b"\n") + 1]
                self._judged += len(piece)
                self._checker.push(piece)

    def _recorded(self) -> bytes:
        """What the live checker has seen, read again."""
        return self._read(0, self._judged)

    def _read(self, place: int, size: int) -> bytes:
        """Some of the file; at least one line, whatever its length."""
        with open(self.path, "rb") as file:
            file.seek(place)
            piece = file.read(size)
            return piece if b"\n" in piece else piece + file.readline()

    def _write(self, line: Mapping[str, Any]) -> None:
        """Appends a line, whole or not at all."""
        data = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "surrogatepass")
        with self._lock:
            if self._closed:
                raise ValueError("the recorder is closed")
            done = os.write(self._file, data)
            while done < len(data):
                try:
                    done += os.write(self._file, data[done:])
                except OSError:
                    # A full disk: nothing of the line is better than a part of it.
                    os.ftruncate(self._file, os.fstat(self._file).st_size - done)
                    raise
            self._size += len(data)
