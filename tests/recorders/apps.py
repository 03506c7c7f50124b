"""The applications of examples/apps, on the server in ISOPROOF_TEST_POSTGRES.

Each must show its mistake, in its own words, and nothing once it is fixed.  What is not installed is skipped.
"""
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ROOT / "examples" / "apps"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isoproof" / "page-tests" / "node_modules"
TRIES = 5  # anomalies need two transactions at the same time, which a busy machine may not have in every run


def shop(tests, server):
    # Debian's client library is known to Debian's Python alone.
    found = [python for python in (sys.executable, "/usr/bin/python3")
             if Path(python).exists() and tests.run([python, "-c", "import psycopg"]).returncode == 0]
    if not found:
        return tests.skip("shop", "psycopg is not installed")
    python = found[0]
    for _ in range(TRIES):
        lost = tests.run([python, APPS / "shop" / "open_day.py", server])
        if lost.returncode == 1:
            break
    said = lost.stdout + lost.stderr
    words = ("LOST", "serializable: violated", "lost update", "product/", "UPDATE product SET stock", "place order")
    tests.judge("shop: orders are lost, and it is told how", all(word in said for word in words), said)
    kept = tests.run([python, APPS / "shop" / "open_day.py", "--fixed", server])
    good = kept.returncode == 0 and "LOST" not in kept.stdout and "serializable: satisfied" in kept.stdout
    return tests.judge("shop: with the fix none is", good, kept.stdout + kept.stderr)


def booking(tests, server):
    node = shutil.which("node")
    if node is None or not (CACHE / "pg").is_dir():
        return tests.skip("booking", "node or its module pg is not installed; scripts/setup test does that")
    with tempfile.TemporaryDirectory(prefix="isoproof-booking-") as name:
        folder = Path(name)
        shutil.copytree(APPS / "booking", folder / "app")
        modules = folder / "app" / "node_modules"
        modules.mkdir()
        for module in CACHE.iterdir():
            (modules / module.name).symlink_to(module)
        (modules / "isoproof-recorder").symlink_to(ROOT / "javascript")

        def evening(number, *options):
            history = folder / f"{number}.jsonl"
            done = tests.run([node, "evening.js", *options, server, history], cwd=folder / "app")
            check = tests.run([tests.program, "check", "--level=serializable", "--json", history])
            text = tests.run([tests.program, "check", "--level=serializable", history])
            return done, json.loads(check.stdout), done.stdout + done.stderr + text.stdout + text.stderr

        for number in range(TRIES):
            done, result, said = evening(number)
            if result["verdict"] == "violated":
                break
        words = ("guests for", "booking[id=", "FROM booking WHERE evening", "book a table")
        good = done.returncode == 0 and result["verdict"] == "violated" and all(word in said for word in words)
        tests.judge("booking: more guests than seats, and it is told how", good, said)
        done, result, said = evening("fixed", "--fixed")
        good = done.returncode == 0 and result["verdict"] == "satisfied" and "no evening has more" in done.stdout
        return tests.judge("booking: with the fix there are not", good, said)


def test_apps(tests):
    """Both, as the tests of recorders call them."""
    server = os.environ.get("ISOPROOF_TEST_POSTGRES")
    if server is None:
        return tests.skip("applications", "there is no server in ISOPROOF_TEST_POSTGRES")
    tests.environment["PYTHONPATH"] = str(ROOT / "python" / "src")
    shop(tests, server)
    return booking(tests, server)
