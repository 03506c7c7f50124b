"""What was found in a history, as objects.

A result is made of the JSON that the program prints (docs/json.md), which has everything: it can be kept, sent and
looked at later without the history.
"""
from __future__ import annotations

import enum
import html
import json
from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional

from ._library import DrawOptions, Error, ReadOptions, library, must, written


class Verdict(str, enum.Enum):
    """What is known of a level; a string like any other."""

    SATISFIED = "satisfied"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    NONE = "none"  # no level was asked for

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)


@dataclass(frozen=True)
class Edge:
    """One step of a witness: `kind` is SO, WR, WW, RW, CM, RT or PO."""

    source: str
    target: str
    kind: str
    key: Optional[str]
    source_operation: Optional[int]
    target_operation: Optional[int]

    def __str__(self) -> str:
        return f"{self.source} -{self.kind}-> {self.target}" + (f" on {self.key}" if self.key is not None else "")


@dataclass(frozen=True)
class Operation:
    """An operation of a transaction of a witness; `involved` where the anomaly is about it."""

    number: int
    kind: str
    key: str
    value: Optional[str]
    involved: bool
    file: Optional[str]
    line: Optional[int]


@dataclass(frozen=True)
class TransactionDetail:
    """A transaction of a witness, with the operations that matter; `more` are left out."""

    name: str
    session: str
    status: str
    operations: tuple[Operation, ...]
    more: int
    id: Optional[str]
    start: Optional[int]
    end: Optional[int]
    node: Optional[str]
    error: Optional[str]


@dataclass(frozen=True)
class WriteOrder:
    """An order of two writes of a key that a case assumes."""

    before: str
    after: str
    key: str


@dataclass(frozen=True)
class Case:
    """What follows from one choice among the orders of writes that the history leaves open."""

    orders: tuple[WriteOrder, ...]
    edges: tuple[Edge, ...]
    explanation: str


@dataclass(frozen=True)
class Anomaly:
    """Something that a level forbids, with the witness that proves it."""

    code: str
    name: str
    level: Optional[str]  # the weakest that it breaks
    count: Optional[int]  # None where it is not known
    exact: bool  # whether there are exactly that many, or at least
    transactions: tuple[str, ...]
    keys: tuple[str, ...]
    edges: tuple[Edge, ...]
    cases: tuple[Case, ...]
    details: tuple[TransactionDetail, ...]
    explanation: str

    def __str__(self) -> str:
        return f"{self.name} ({self.code}): {self.explanation}"


def _edge(found: Mapping[str, Any]) -> Edge:
    return Edge(found["from"], found["to"], found["kind"], found.get("key"), found.get("from_op"), found.get("to_op"))


def _operation(found: Mapping[str, Any]) -> Operation:
    return Operation(found["number"], found["kind"], found["key"], found.get("value"), found.get("involved", False),
                     found.get("file"), found.get("line"))


def _detail(found: Mapping[str, Any]) -> TransactionDetail:
    return TransactionDetail(
        found["name"], found["session"], found["status"], tuple(map(_operation, found["operations"])),
        found.get("more", 0), found.get("id"), found.get("start"), found.get("end"), found.get("node"),
        found.get("error"))


def _case(found: Mapping[str, Any]) -> Case:
    orders = tuple(WriteOrder(order["before"], order["after"], order["key"]) for order in found["orders"])
    return Case(orders, tuple(map(_edge, found["edges"])), found["explanation"])


def _anomaly(found: Mapping[str, Any]) -> Anomaly:
    return Anomaly(
        found["code"], found["name"], found.get("level"), found.get("count"), found.get("count_is") == "exact",
        tuple(found["transactions"]), tuple(found["keys"]), tuple(map(_edge, found["edges"])),
        tuple(map(_case, found.get("cases", ()))), tuple(map(_detail, found.get("details", ()))),
        found["explanation"])


class Result(Mapping[str, Verdict]):
    """The verdict per level, `result["serializable"]`, by id or any usual name; and what was found.

    A level that was not decided is `unknown`; a name that is none of a level is a KeyError.
    """

    def __init__(self, document: bytes) -> None:
        self._document = document
        self.json: dict[str, Any] = json.loads(document)
        self._levels = {name: Verdict(verdict) for name, verdict in self.json["levels"].items()}
        self.anomalies: tuple[Anomaly, ...] = tuple(map(_anomaly, self.json["anomalies"]))

    def __getitem__(self, level: str) -> Verdict:
        if level in self._levels:
            return self._levels[level]
        info = library().isoproof_level_find(level.encode())
        if not info:
            raise KeyError(level)
        return self._levels.get(info.contents.id.decode(), Verdict.UNKNOWN)

    def __iter__(self) -> Iterator[str]:
        return iter(self._levels)

    def __len__(self) -> int:
        return len(self._levels)

    @property
    def verdict(self) -> Verdict:
        """Of the levels asked for: violated if one is, else unknown if one is, else satisfied."""
        return Verdict(self.json["verdict"])

    @property
    def strongest(self) -> tuple[str, ...]:
        """The satisfied levels that no other satisfied level implies."""
        return tuple(self.json["strongest"])

    @property
    def weakest_violated(self) -> tuple[str, ...]:
        """The violated levels that imply no other violated one."""
        return tuple(self.json["weakest_violated"])

    @property
    def notices(self) -> tuple[str, ...]:
        """What one has to know about the history behind the verdict."""
        return tuple(notice["message"] for notice in self.json.get("notices", ()))

    def __repr__(self) -> str:
        satisfied = ", ".join(self.strongest) or "nothing"
        violated = ", ".join(self.weakest_violated) or "nothing"
        return f"<Result of {self.json['file']}: satisfies {satisfied}; violates {violated}>"

    def __str__(self) -> str:
        return self._rendered("isoproof_document_write_text", unicode=True)

    def svg(self, anomaly: int = 0) -> str:
        """A drawing of a counterexample."""
        return self._rendered("isoproof_document_write_svg", anomaly=anomaly)

    def html(self) -> str:
        """A page to look at in a browser: one file that needs no network."""
        return self._rendered("isoproof_document_write_html")

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdicts, and the first counterexample drawn."""
        rows = "".join(f"<tr><td>{html.escape(level)}</td><td>{verdict}</td></tr>"
                       for level, verdict in self._levels.items())
        told = f"<p>{html.escape(self.anomalies[0].explanation)}</p>{self.svg()}" if self.anomalies else ""
        return f"<table><tr><th>level</th><th>verdict</th></tr>{rows}</table>{told}"

    def _rendered(self, function: str, **options: Any) -> str:
        c, error = library(), Error()
        reader, document = c_void_p(), c_void_p()
        reading, drawing = ReadOptions(no_history=True), DrawOptions(**options)
        try:
            must(c.isoproof_document_reader_open_memory(self._document, len(self._document), b"result",
                                                        byref(reading), None, byref(reader), byref(error)), error)
            must(c.isoproof_document_reader_next(reader, byref(document), byref(error)), error)
            write = getattr(c, function)
            return written(
                lambda out, problem: int(write(document, byref(drawing), out, None, byref(problem)))).decode()
        finally:
            c.isoproof_document_free(document)
            c.isoproof_document_reader_free(reader)
