"""Recording: what is written, by many threads, when things go wrong."""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import isoproof
from isoproof import Predicate, Recorder

VICTIM = """
import isoproof, os, signal, sys
recorder = isoproof.Recorder(sys.argv[1])
session = recorder.session()
for i in range(100):
    with session.transaction() as t:
        t.write("x", t.unique())
os.kill(os.getpid(), signal.SIGKILL)
"""

CROWDED = """
import isoproof, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
recorder = isoproof.Recorder(sys.argv[1])
session = recorder.session()
try:
    while True:
        with session.transaction() as t:
            t.write("a rather long key, so that a line does not fit", t.unique())
except OSError:
    sys.exit(7)
"""


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "history.jsonl"

    def lines(self):
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]

    def test_lines(self):
        with Recorder(self.path, database="none", sessions=2) as recorder:
            with recorder.session(node="n1").transaction() as t:
                t.write("x", 1)
                t.read(("stock", 3), None)
                t.read("y", isoproof.NOT_KNOWN)
                t.write("z", 2**70)
                t.read_list("l", [1, "a"])
        header, line, end = self.lines()
        self.assertEqual((header["isoproof"], header["database"], header["finished"]), (1, "none", "no"))
        self.assertEqual(end["finished"], "yes")
        self.assertEqual(line["ops"], [["w", "x", 1], ["r", "stock/3", None], ["r", "y", {"none": True}],
                                       ["w", "z", {"symbol": str(2**70)}], ["read-list", "l", [1, "a"]]])
        self.assertEqual((line["status"], line["node"]), ("committed", "n1"))
        self.assertLessEqual(line["start"], line["end"])

    def test_rows(self):
        with Recorder(self.path) as recorder:
            with recorder.transaction() as t:
                t.insert(1, 10)
                t.update(1, 11)
                t.update(2, None)
                t.delete(3, found=False)
            with recorder.transaction() as t:
                t.read_rows(Predicate(keys=(0, 9)), [(1, 11)])
                t.count_rows(Predicate(values=(0, 9)), 0)
                t.delete(1)
        result = isoproof.check(self.path)
        self.assertEqual(result["serializable"], "satisfied")

    def test_words(self):
        with Recorder(self.path) as recorder:
            recorder.name_row(1, "stock[id=1]")
            with recorder.transaction("restock", isolation="serializable") as t:
                t.write("x", 1)
                t.statement("UPDATE  stock\n SET ...")
                t.write("y", 2)
            with recorder.transaction("count") as t:
                t.statement("UPDATE  stock\n SET ...")
                t.write("y", 3)
                t.statement("SELECT ...")
                t.read("x", 1)
        _, names, text, first, second_text, second, _ = self.lines()
        self.assertEqual(names, {"row_names": [[1, "stock[id=1]"]]})
        self.assertEqual(text["statement.1"], "UPDATE stock SET ...")
        self.assertEqual(second_text["statement.2"], "SELECT ...")
        self.assertEqual((first["name"], first["isolation"], first["statements"]), ("restock", "serializable", [0, 1]))
        self.assertEqual((second["name"], second["statements"]), ("count", [1, 2]))
        self.assertNotIn("isolation", second)

    def test_columns(self):
        with Recorder(self.path) as recorder:
            with recorder.transaction() as t:
                t.insert(1, 10, city="Ulm")
                t.update(1, 11, city=None)
            with recorder.transaction() as t:
                t.read_rows(Predicate(where=(("city", "is null"),)), [(1, 11)])
                t.count_rows(Predicate(where=(("city", "in", ("Ulm", "Bonn")),)), 0)
        _, first, second, _ = self.lines()
        self.assertEqual(first["ops"], [["insert", 1, 10, {"city": "Ulm"}], ["update", 1, 11, {"city": None}]])
        self.assertEqual(second["ops"], [["rp", {"where": [["city", "is null"]]}, [[1, 11]]],
                                         ["count", {"where": [["city", "in", ["Ulm", "Bonn"]]]}, 0]])
        self.assertEqual(isoproof.check(self.path)["serializable"], "satisfied")

    def test_outcomes(self):
        with Recorder(self.path) as recorder:
            session = recorder.session()
            with self.assertRaises(ConnectionError):
                with session.transaction() as t:
                    t.write("x", 1)
                    raise ConnectionError("gone")
            with session.transaction() as t:
                t.write("x", 2)
                t.aborted("40001")
            with session.transaction() as t:
                t.unknown()
        _, lost, refused, unknown, _ = self.lines()
        self.assertEqual((lost["status"], lost["error"]), ("unknown", "ConnectionError"))
        self.assertNotIn("end", lost)
        self.assertEqual((refused["status"], refused["error"]), ("aborted", "40001"))
        self.assertEqual(unknown["status"], "unknown")

    def test_threads(self):
        values, checked = {}, threading.Lock()
        with Recorder(self.path) as recorder:
            def work():
                for _ in range(200):
                    with recorder.transaction() as t, checked:
                        t.read("x", values.get("x"))
                        values["x"] = t.unique()
                        t.write("x", values["x"])
            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        result = isoproof.check(self.path, "strict-serializable")
        self.assertEqual(result.verdict, "satisfied")
        self.assertEqual((result.json["sessions"], result.json["transactions"]), (8, 1600))

    def test_one_at_a_time(self):
        with Recorder(self.path) as recorder:
            session = recorder.session()
            with session.transaction() as t:
                with self.assertRaises(RuntimeError):
                    session.transaction().__enter__()
            with self.assertRaises(RuntimeError):
                t.write("x", 1)

    def test_files_are_left_alone(self):
        self.path.write_text("precious\n")
        with self.assertRaises(FileExistsError):
            Recorder(self.path)
        self.assertEqual(self.path.read_text(), "precious\n")

    def test_append(self):
        for first in (1, 100):
            with Recorder(self.path, append=True, first_value=first) as recorder:
                with recorder.session(f"run {first}").transaction() as t:
                    t.write("x", t.unique())
        self.assertEqual(isoproof.check(self.path, "serializable").verdict, "satisfied")

    def test_killed(self):
        done = subprocess.run([sys.executable, "-c", VICTIM, str(self.path)], check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        result = isoproof.check(self.path)
        self.assertEqual(result.json["transactions"], 100)
        self.assertTrue(any("no end" in notice for notice in result.notices))

    def test_full_disk(self):
        done = subprocess.run([sys.executable, "-c", CROWDED, str(self.path)], check=False)
        self.assertEqual(done.returncode, 7)
        self.assertTrue(self.path.read_bytes().endswith(b"\n"))
        self.assertGreater(isoproof.check(self.path).json["transactions"], 3)

    def test_live(self):
        with Recorder(self.path, live=["snapshot-isolation", "serializable"]) as recorder:
            one, two = recorder.session(), recorder.session()
            with one.transaction() as t:
                t.write("x", 1)
                t.write("y", 2)
            self.assertEqual(set(map(str, recorder.verdicts().values())), {"satisfied"})
            with one.transaction() as first, two.transaction() as second:
                for t, key, value in ((first, "x", 3), (second, "y", 4)):
                    t.read("x", 1)
                    t.read("y", 2)
                    t.write(key, value)
            self.assertEqual(recorder.verdicts(), {"snapshot-isolation": "satisfied", "serializable": "violated"})
            self.assertEqual(recorder.violation().anomalies[0].code, "write-skew")
            with one.transaction() as t:
                t.read("x", 99)  # nobody wrote it so far
            self.assertEqual(recorder.verdicts()["snapshot-isolation"], "unknown")
            with two.transaction() as t:
                t.write("x", 99)
            self.assertEqual(recorder.verdicts()["snapshot-isolation"], "satisfied")
        self.assertEqual(recorder.verdicts()["snapshot-isolation"], "satisfied")
        self.assertEqual(isoproof.check(self.path)["snapshot-isolation"], "satisfied")

    def test_live_threads(self):
        store, lock = {}, threading.Lock()
        with Recorder(self.path, live="serializable") as recorder:
            def work():
                for i in range(300):
                    with recorder.transaction() as t, lock:
                        t.read(i % 5, store.get(i % 5))
                        store[i % 5] = t.unique()
                        t.write(i % 5, store[i % 5])
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                self.assertNotEqual(recorder.verdicts().get("serializable"), "violated")
            for thread in threads:
                thread.join()
        self.assertEqual(recorder.verdicts(), {"serializable": "satisfied"})

    def test_not_live(self):
        with Recorder(self.path) as recorder:
            with self.assertRaises(ValueError):
                recorder.verdicts()

    def test_event(self):
        with Recorder(self.path) as recorder:
            recorder.event("the server was restarted")
        self.assertTrue(self.lines()[1]["event.1"].endswith(" the server was restarted"))


if __name__ == "__main__":
    unittest.main()
