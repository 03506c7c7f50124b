#!/usr/bin/env python3
"""Runs the Python example on histories with anomalies: python_example.py EXAMPLE LIBRARY HISTORIES

Every field of every structure that it mirrors must come out as the library has it: a field that is missing or
misplaced shows as a wrong number, a wrong name or a crash.
"""
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


def main():
    example, library, histories = sys.argv[1:]
    for name, patterns in EXPECTED:
        check(example, library, f"{histories}/{name}", patterns)


if __name__ == "__main__":
    main()
