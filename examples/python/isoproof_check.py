#!/usr/bin/env python3
"""Judges a history from Python, through ctypes: isoproof_check.py [--library libisoproof.so] FILE

The structures below mirror include/isoproof/*.h; nothing needs to be compiled.  Those that can grow begin with their
size: the library fills no more of them than that, so that this program and a newer library understand each other.
"""
import argparse
import ctypes
import sys
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64
from ctypes import c_void_p


class Sized(Structure):
    """A structure that the library may know in another length; the size is set here, once and for all."""

    def __init__(self, **values):
        super().__init__(struct_size=ctypes.sizeof(type(self)), **values)


class Error(Structure):
    _fields_ = [
        ("code", c_int),
        ("line", c_uint64),
        ("column", c_uint64),
        ("offset", c_int64),
        ("file", c_char * 512),
        ("message", c_char * 512),
    ]


class Scalar(Structure):
    _fields_ = [("type", c_int), ("length", c_uint32), ("integer", c_int64), ("text", c_void_p)]


class Counts(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("sessions", c_uint64),
        ("transactions", c_uint64),
        ("committed", c_uint64),
        ("aborted", c_uint64),
        ("unknown", c_uint64),
        ("operations", c_uint64),
        ("keys", c_uint64),
        ("has_times", c_bool),
    ]


class CheckOptions(Sized):
    """The first fields only: what is left out has its default."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("levels", POINTER(c_char_p)),
        ("level_count", c_size_t),
        ("all", c_bool),
    ]


# What the count of an anomaly says; anything else: the number is not known.
EXACT, AT_LEAST = 1, 2


class LevelVerdict(Sized):
    _fields_ = [("struct_size", c_size_t), ("level", c_char_p), ("verdict", c_int), ("asked", c_bool),
                ("called", c_char_p)]


class Edge(Structure):
    _fields_ = [
        ("kind", c_char_p),
        ("from_txn", c_uint64),
        ("to_txn", c_uint64),
        ("from_op", c_uint64),
        ("to_op", c_uint64),
        ("has_key", c_bool),
        ("key", Scalar),
    ]


class WriteOrder(Structure):
    _fields_ = [("before_txn", c_uint64), ("after_txn", c_uint64), ("key", Scalar)]


class Case(Structure):
    _fields_ = [
        ("orders", POINTER(WriteOrder)),
        ("order_count", c_size_t),
        ("edges", POINTER(Edge)),
        ("edge_count", c_size_t),
        ("explanation", c_char_p),
    ]


class Anomaly(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("code", c_char_p),
        ("name", c_char_p),
        ("level", c_char_p),
        ("count", c_uint64),
        ("txns", POINTER(c_uint64)),
        ("txn_count", c_size_t),
        ("ops", POINTER(c_uint64)),
        ("op_count", c_size_t),
        ("keys", POINTER(Scalar)),
        ("key_count", c_size_t),
        ("edges", POINTER(Edge)),
        ("edge_count", c_size_t),
        ("explanation", c_char_p),
        ("cases", POINTER(Case)),
        ("case_count", c_size_t),
        ("count_is", c_int),
    ]


NO_NUMBER = 2**64 - 1  # ISOPROOF_NO_NUMBER: an edge without an operation


class IsoproofError(Exception):
    """A call failed; the message has the place in the file."""


# Name, result, arguments.
FUNCTIONS = [
    ("isoproof_version", c_char_p, []),
    ("isoproof_error_format", c_size_t, [POINTER(Error), c_char_p, c_size_t]),
    ("isoproof_history_open", c_int, [c_char_p, c_void_p, c_void_p, POINTER(c_void_p), POINTER(Error)]),
    ("isoproof_history_free", None, [c_void_p]),
    ("isoproof_history_counts", c_bool, [c_void_p, POINTER(Counts)]),
    ("isoproof_history_txn_name", c_size_t, [c_void_p, c_uint64, c_char_p, c_size_t]),
    ("isoproof_scalar_format", c_size_t, [Scalar, c_char_p, c_size_t]),
    ("isoproof_check", c_int, [c_void_p, POINTER(CheckOptions), c_void_p, POINTER(c_void_p), POINTER(Error)]),
    ("isoproof_result_free", None, [c_void_p]),
    ("isoproof_result_level_count", c_size_t, [c_void_p]),
    ("isoproof_result_level_at", c_bool, [c_void_p, c_size_t, POINTER(LevelVerdict)]),
    ("isoproof_result_anomaly_count", c_size_t, [c_void_p]),
    ("isoproof_result_anomaly_at", c_bool, [c_void_p, c_size_t, POINTER(Anomaly)]),
    ("isoproof_verdict_name", c_char_p, [c_int]),
]


def load(path):
    """Loads the library and declares its functions."""
    library = ctypes.CDLL(path)
    for name, result, arguments in FUNCTIONS:
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def must(library, status, error):
    """Raises when a call failed."""
    if status != 0:
        text = ctypes.create_string_buffer(1200)
        library.isoproof_error_format(byref(error), text, len(text))
        raise IsoproofError(text.value.decode())


def name_of(library, history, transaction):
    text = ctypes.create_string_buffer(64)
    library.isoproof_history_txn_name(history, transaction, text, len(text))
    return text.value.decode()


def words_of(library, scalar):
    text = ctypes.create_string_buffer(256)
    library.isoproof_scalar_format(scalar, text, len(text))
    return text.value.decode()


def tell_edges(library, history, edges, indent):
    """One line per edge: its ends with their operations, its kind and its key."""
    for edge in edges:
        ends = []
        for transaction, operation in ((edge.from_txn, edge.from_op), (edge.to_txn, edge.to_op)):
            place = "" if operation == NO_NUMBER else f"#{operation}"
            ends.append(name_of(library, history, transaction) + place)
        key = f" on {words_of(library, edge.key)}" if edge.has_key else ""
        print(indent + f" -{edge.kind.decode()}-> ".join(ends) + key)


def tell_anomaly(library, history, anomaly):
    """Everything that an anomaly has."""
    keys = ", ".join(words_of(library, key) for key in anomaly.keys[: anomaly.key_count])
    transactions = ", ".join(name_of(library, history, txn) for txn in anomaly.txns[: anomaly.txn_count])
    operations = ", ".join(str(op) for op in anomaly.ops[: anomaly.op_count])
    level = anomaly.level.decode() if anomaly.level else "no level"
    times = {EXACT: f" x{anomaly.count}", AT_LEAST: f" x{anomaly.count} or more"}.get(anomaly.count_is, "")
    print(f"{anomaly.code.decode()} {anomaly.name.decode()}{times}, breaks {level}")
    print(f"  keys {keys}; transactions {transactions}; operations {operations}")
    print("  " + anomaly.explanation.decode())
    tell_edges(library, history, anomaly.edges[: anomaly.edge_count], "  ")
    for case in anomaly.cases[: anomaly.case_count]:
        for order in case.orders[: case.order_count]:
            ends = (name_of(library, history, end) for end in (order.before_txn, order.after_txn))
            print("  if " + " wrote before ".join(ends) + f" on {words_of(library, order.key)}:")
        print("    " + case.explanation.decode())
        tell_edges(library, history, case.edges[: case.edge_count], "    ")


def tell(library, history, result):
    """Prints verdicts and anomalies; returns the verdicts by level and the codes of the anomalies."""
    verdicts, codes = {}, []
    level, anomaly = LevelVerdict(), Anomaly()
    for i in range(library.isoproof_result_level_count(result)):
        if library.isoproof_result_level_at(result, i, byref(level)):
            verdicts[level.level.decode()] = library.isoproof_verdict_name(level.verdict).decode()
    for name, verdict in verdicts.items():
        print(f"{name:28} {verdict}")
    for i in range(library.isoproof_result_anomaly_count(result)):
        if library.isoproof_result_anomaly_at(result, i, byref(anomaly)):
            tell_anomaly(library, history, anomaly)
            codes.append(anomaly.code.decode())
    return verdicts, codes


def check(library, path):
    """Opens and judges one history; frees everything."""
    error, history, result, counts = Error(), c_void_p(), c_void_p(), Counts()
    must(library, library.isoproof_history_open(path.encode(), None, None, byref(history), byref(error)), error)
    try:
        library.isoproof_history_counts(history, byref(counts))
        print(f"{path}: {counts.sessions} sessions, {counts.transactions} transactions, {counts.operations} operations")
        print(f"{counts.committed} committed, {counts.aborted} aborted, {counts.unknown} unknown, {counts.keys} keys")
        options = CheckOptions()
        must(library, library.isoproof_check(history, byref(options), None, byref(result), byref(error)), error)
        return tell(library, history, result)
    finally:
        library.isoproof_result_free(result)
        library.isoproof_history_free(history)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default="libisoproof.so.0")
    parser.add_argument("file")
    arguments = parser.parse_args()
    library = load(arguments.library)
    print("isoproof", library.isoproof_version().decode())
    try:
        check(library, arguments.file)
    except IsoproofError as error:
        sys.exit(f"isoproof_check.py: {error}")


if __name__ == "__main__":
    main()
