#!/usr/bin/env python3
"""Runs the Python example on histories with anomalies: python_example.py EXAMPLE LIBRARY HISTORIES

Every field of every structure that it mirrors must come out as the library has it: a field that is missing or
misplaced shows as a wrong number, a wrong name or a crash.  Then the same with structures that are older than the library's
(every length from the first field on) and newer: the library writes what the size allows and nothing beyond.
"""
import ctypes
import importlib.util
import re
import subprocess
import sys

# File, then patterns that lines must match, in this order.
EXPECTED = [
    ("aborted-read.txt", [
        r"isoproof \d+\.\d+\.\d+",
        r".*aborted-read\.txt: 2 sessions, 2 transactions, 2 operations",
        r"1 committed, 1 aborted, 0 unknown, 1 keys",
        r"cut-isolation +satisfied",
        r"read-committed +violated",
        r"TAP-b AbortedRead x1, breaks read-committed",
        r"  keys 1; transactions s0t0, s1t0; operations 0, 1",
        r"  s1t0 read key 1 = 1 .*",
        r"  s0t0#0 -WR-> s1t0#1 on 1",
    ]),
    ("lost-update.txt", [
        r"3 committed, 0 aborted, 0 unknown, 1 keys",
        r"parallel-snapshot-isolation +violated",
        r"lost-update lost update x1, breaks update-atomic",
        r"  keys 1; transactions .*s\dt\d, s\dt\d.*; operations \d, \d.*",
        r"  if s\dt0 wrote before s\dt0 on 1:",
        r"    .*s\dt0.*",
        r"    s\dt0#\d -RW-> s\dt0#\d on 1",
        r"  if s\dt0 wrote before s\dt0 on 1:",
        r"    s\dt0#\d -RW-> s\dt0#\d on 1",
    ]),
    ("list-append.edn", [r"TAP-k FracturedReadCO x\d+, breaks read-atomic", r"  keys .+; transactions .+; operations .+"]),
]


def check(example, library, path, patterns):
    """Fails unless the lines of the example match the patterns in order."""
    command = [sys.executable, example, "--library", library, path]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{path}: exit {run.returncode}\n{run.stdout}{run.stderr}")
    lines = iter(run.stdout.splitlines())
    for pattern in patterns:
        if not any(re.fullmatch(pattern, line) for line in lines):
            sys.exit(f"{path}: expected a line {pattern!r} after those before it, found\n{run.stdout}")


GUARD = b"\xa5" * 64


def of_length(kind, count, more=0):
    """The structure with its first fields only, or with more bytes than it has; behind it, bytes that nobody may touch."""
    body = type("Body", (ctypes.Structure,), {"_fields_": kind._fields_[:count] + [("more", ctypes.c_char * more)] * (more > 0)})
    made = type("Guarded", (ctypes.Structure,), {"_fields_": [("body", body), ("guard", ctypes.c_char * len(GUARD))]})()
    ctypes.memset(ctypes.byref(made), 0xA5, ctypes.sizeof(made))
    made.body.struct_size = ctypes.sizeof(body)
    return made


def plain(value):
    """A field as something to compare; pointers by where they point to."""
    return ctypes.cast(value, ctypes.c_void_p).value if isinstance(value, ctypes._Pointer) else value


def fill_all_lengths(kind, fill):
    """Fills the structure in every length; what an older one has must be as in the whole one."""
    whole = kind()
    assert fill(ctypes.cast(ctypes.byref(whole), ctypes.POINTER(kind))), kind
    fields = [name for name, *_ in kind._fields_]
    for count, more in [(n, 0) for n in range(1, len(fields) + 1)] + [(len(fields), 40)]:
        made = of_length(kind, count, more)
        filled = fill(ctypes.cast(ctypes.byref(made), ctypes.POINTER(kind)))
        where = f"{kind.__name__} with {count} fields and {more} bytes more"
        if not filled or bytes(made)[-len(GUARD):] != GUARD:
            sys.exit(f"{where}: " + ("not filled" if not filled else "the library wrote beyond it"))
        for name in fields[1:count]:
            if plain(getattr(made.body, name)) != plain(getattr(whole, name)):
                sys.exit(f"{where}: {name} is {plain(getattr(made.body, name))}, not {plain(getattr(whole, name))}")
        if more > 0 and ctypes.string_at(ctypes.addressof(made) + ctypes.sizeof(made.body) - more, more) != bytes(more):
            sys.exit(f"{where}: what the library does not know is not zero")
    unsized = of_length(kind, len(fields))
    unsized.body.struct_size = 0
    before = bytes(unsized)
    if fill(ctypes.cast(ctypes.byref(unsized), ctypes.POINTER(kind))) or bytes(unsized) != before:
        sys.exit(f"{kind.__name__} without a size was filled")


def check_lengths(example, path, history_path):
    """Structures of other lengths than the library's."""
    spec = importlib.util.spec_from_file_location("isoproof_check", example)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    library = module.load(path)
    history, result, error = ctypes.c_void_p(), ctypes.c_void_p(), module.Error()
    module.must(library, library.isoproof_history_open(history_path.encode(), None, None, ctypes.byref(history),
                                                       ctypes.byref(error)), error)
    # Options of every length, too; NULL has the defaults.
    lengths = range(1, len(module.CheckOptions._fields_) + 1)
    for options in [None] + [of_length(module.CheckOptions, count) for count in lengths]:
        if options is not None:
            size = options.body.struct_size
            ctypes.memset(ctypes.byref(options.body), 0, size)
            options.body.struct_size = size
        library.isoproof_result_free(result)
        pointer = options and ctypes.cast(ctypes.byref(options), ctypes.POINTER(module.CheckOptions))
        module.must(library, library.isoproof_check(history, pointer, None, ctypes.byref(result), ctypes.byref(error)), error)
    fill_all_lengths(module.Counts, lambda out: library.isoproof_history_counts(history, out))
    fill_all_lengths(module.LevelVerdict, lambda out: library.isoproof_result_level_at(result, 0, out))
    fill_all_lengths(module.Anomaly, lambda out: library.isoproof_result_anomaly_at(result, 0, out))
    library.isoproof_result_free(result)
    library.isoproof_history_free(history)


def main():
    example, library, histories = sys.argv[1:]
    for name, patterns in EXPECTED:
        check(example, library, f"{histories}/{name}", patterns)
        check_lengths(example, library, f"{histories}/{name}")


if __name__ == "__main__":
    main()
