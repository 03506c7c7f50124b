#!/usr/bin/env python3
"""Runs a tiny sweep, goes on with it, and draws it again: sweep.py --isoproof PROGRAM

The shapes must be the same each time, the results complete, the picture whole; a verdict that contradicts how the history
was made, and a program that fails, must be noticed.
"""
import argparse
import json
import os
import stat
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SWEEP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "sweep")
COUNT = 6
# In place of the program: what it says, with every verdict turned round; or nothing but a failure to check.
LIAR = """#!/bin/sh
if [ "$1" = check ]; then "{program}" "$@" | sed 's/"verdict":"satisfied"/"verdict":"violated"/'; exit 0; fi
exec "{program}" "$@"
"""
BROKEN = """#!/bin/sh
if [ "$1" = check ]; then echo "out of order" >&2; exit 70; fi
exec "{program}" "$@"
"""


def sweep(program, *options):
    """Exit code, and the lines of the output."""
    command = [sys.executable, "-B", SWEEP, "--isoproof", program, "--quick", "--count", str(COUNT), *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout.splitlines(), run.stderr


def expect(condition, what, found):
    if not condition:
        sys.exit(f"{what}; found\n{found}")


def results(folder):
    with open(os.path.join(folder, "results.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def picture(folder):
    """The text of the picture, which must be XML."""
    path = os.path.join(folder, "heatmap.svg")
    xml.etree.ElementTree.parse(path)
    with open(path, encoding="utf-8") as file:
        return file.read()


def runs_and_resumes(program, folder):
    code, out, err = sweep(program, "--output", folder, "--jobs", "2")
    expect(code == 0, "expected exit code 0", (code, out, err))
    totals = json.loads(out[-1])
    expect(totals["checks"] == 3 * COUNT and totals["wrong"] == 0 and totals["undecided"] == 0, "expected all decided", totals)
    lines, drawn = results(folder), picture(folder)
    expect(len(lines) == 3 * COUNT and f"{COUNT} histories, {3 * COUNT} checks, none undecided" in drawn, "expected all", drawn)
    # The last two lines are lost, the second to last in part.
    path = os.path.join(folder, "results.jsonl")
    with open(path, "r+b") as file:
        rows = file.read().splitlines(keepends=True)
        file.truncate(sum(map(len, rows[:-2])) + 20)
    code, out, err = sweep(program, "--output", folder, "--resume")
    expect(code == 0, "expected exit code 0 of --resume", (code, out, err))
    again = results(folder)
    expect(again[:-2] == lines[:-2] and len(again) == len(lines), "expected two checks to be done again", again)
    drawn = picture(folder)
    code, out, err = sweep(program, "--output", folder, "--redraw")
    expect(code == 0 and picture(folder) == drawn, "expected the same picture", (code, out, err))


def sees_contradictions(program, folder):
    """Serializable without snapshot isolation."""
    lines = results(folder)
    name = next(line["gen"] for line in lines if line["level"] == "serializable" and line["verdict"] == "satisfied")
    with open(os.path.join(folder, "results.jsonl"), "w", encoding="utf-8") as file:
        for line in lines:
            if line["gen"] == name and line["level"] == "snapshot-isolation":
                line["verdict"] = "violated"
            file.write(json.dumps(line) + "\n")
    code, out, err = sweep(program, "--output", folder, "--redraw")
    seen = any("WRONG: serializable is satisfied" in line for line in out)
    expect(code == 1 and seen, "expected a contradiction", (code, out, err))


def notices(program, script, folder, what):
    """Whether a program that does not do its work is found out."""
    os.makedirs(folder)
    path = os.path.join(folder, "program")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script.format(program=program))
    os.chmod(path, stat.S_IRWXU)
    code, out, err = sweep(path, "--output", folder, "--level", "causal", "--cpu-limit", "60")
    expect(code == 1 and any(what in line for line in out), f"expected exit code 1 and {what!r}", (code, out, err))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--isoproof", required=True)
    program = os.path.abspath(parser.parse_args().isoproof)
    first, second = sweep(program, "--list"), sweep(program, "--list")
    expect(first == second and len(first[1]) == COUNT, "expected the same shapes", (first, second))
    with tempfile.TemporaryDirectory() as folder:
        runs_and_resumes(program, os.path.join(folder, "sweep"))
        sees_contradictions(program, os.path.join(folder, "sweep"))
        notices(program, LIAR, os.path.join(folder, "liar"), "WRONG: it is satisfied by construction")
        notices(program, BROKEN, os.path.join(folder, "broken"), "exit code 70: out of order")
        code, _, err = sweep(program, "--output", os.path.join(folder, "nothing"), "--redraw")
        expect(code == 2 and "no results" in err, "expected exit code 2 without results", (code, err))
    print("ok")


if __name__ == "__main__":
    main()
