"""Recording through DB-API: sqlite3 always, PostgreSQL where a server is given by ISOPROOF_TEST_POSTGRES."""
import importlib
import os
import sqlite3
import tempfile
import threading
import unittest
from pathlib import Path

import isoproof
from isoproof import dbapi

READ = "SELECT quantity, version FROM stock WHERE id = 3"
WRITE = "UPDATE stock SET quantity = {0}, version = {0} WHERE id = 3"


def sell(t, mark):
    """One piece less, by reading and writing."""
    quantity, _ = t.read(("stock", 3), READ, value=1)
    t.write(("stock", 3), t.unique(), WRITE.format(mark), lambda version: (quantity - 1, version))


class Shop(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.history = self.folder / "history.jsonl"

    def run_threads(self, recorder, connect, work, count=4):
        problems = []

        def run():
            connection = connect()
            try:
                work(recorder.session(), connection)
            except Exception as problem:  # told by the test, not by a thread
                problems.append(problem)
            finally:
                connection.close()
        threads = [threading.Thread(target=run) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])


class Sqlite(Shop):
    def connect(self):
        return sqlite3.connect(self.folder / "shop.db", isolation_level=None, timeout=0.05)

    def setUp(self):
        super().setUp()
        database = self.connect()
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE stock (id INTEGER PRIMARY KEY, quantity INTEGER, version INTEGER)")
        database.execute("INSERT INTO stock VALUES (3, 1000, NULL)")
        database.close()

    def test_many_connections(self):
        def work(session, connection):
            for _ in range(50):
                try:
                    with dbapi.transaction(session, connection) as t:
                        sell(t, "?")
                except sqlite3.OperationalError:
                    pass  # busy: recorded as aborted
        with isoproof.Recorder(self.history) as recorder:
            self.run_threads(recorder, self.connect, work)
        result = isoproof.check(self.history, "serializable")
        self.assertEqual(result.verdict, "satisfied")
        self.assertEqual(result.json["unknown"], 0)
        left, = self.connect().execute("SELECT quantity FROM stock").fetchone()
        self.assertEqual(1000 - left, result.json["committed"])

    def test_rolled_back(self):
        database = self.connect()
        with isoproof.Recorder(self.history) as recorder:
            session = recorder.session()
            with self.assertRaises(ZeroDivisionError):
                with dbapi.transaction(session, database) as t:
                    sell(t, "?")
                    raise ZeroDivisionError
            with dbapi.transaction(session, database) as t:
                row = t.read(("stock", 3), READ, value=1)
        self.assertEqual(row, (1000, None))
        result = isoproof.check(self.history, "serializable")
        self.assertEqual((result.verdict, result.json["aborted"], result.json["committed"]), ("satisfied", 1, 1))

    def test_no_row(self):
        database = self.connect()
        with isoproof.Recorder(self.history) as recorder:
            with dbapi.transaction(recorder.session(), database) as t:
                self.assertEqual(t.write("x", 1, "UPDATE stock SET version = 1 WHERE id = 99"), 0)
                self.assertIsNone(t.read("x", "SELECT version FROM stock WHERE id = 99"))
                t.read_all("SELECT id, version FROM stock", key=lambda row: ("stock", row[0]), value=lambda row: row[1])
        self.assertEqual(isoproof.check(self.history)["serializable"], "satisfied")


@unittest.skipUnless(os.environ.get("ISOPROOF_TEST_POSTGRES"), "no server is given by ISOPROOF_TEST_POSTGRES")
class Postgres(Shop):
    def setUp(self):
        super().setUp()
        for name in ("psycopg", "psycopg2"):
            try:
                self.driver = importlib.import_module(name)
                break
            except ModuleNotFoundError:
                continue
        else:
            self.skipTest("neither psycopg nor psycopg2 is installed")
        database = self.connect()
        cursor = database.cursor()
        cursor.execute("DROP TABLE IF EXISTS stock")
        cursor.execute("CREATE TABLE stock (id INTEGER PRIMARY KEY, quantity INTEGER, version BIGINT)")
        cursor.execute("INSERT INTO stock VALUES (3, 1000, NULL)")
        database.commit()
        database.close()

    def connect(self):
        return self.driver.connect(os.environ["ISOPROOF_TEST_POSTGRES"])

    def overtaken(self, isolation):
        """A sale that reads, is overtaken by another one, and writes; whether it was refused, and the result."""
        begin, refused = f"SET TRANSACTION ISOLATION LEVEL {isolation}", False
        slow, quick = self.connect(), self.connect()
        with isoproof.Recorder(self.history, isolation=isolation) as recorder:
            try:
                with dbapi.transaction(recorder.session(), slow, begin=begin) as t:
                    quantity, _ = t.read(("stock", 3), READ, value=1)
                    with dbapi.transaction(recorder.session(), quick, begin=begin) as other:
                        sell(other, "%s")
                    t.write(("stock", 3), t.unique(), WRITE.format("%s"), lambda version: (quantity - 1, version))
            except self.driver.Error:
                refused = True
        slow.close()
        quick.close()
        return refused, isoproof.check(self.history)

    def test_read_committed_loses_updates(self):
        refused, result = self.overtaken("READ COMMITTED")
        self.assertFalse(refused)
        self.assertEqual(result["read-committed"], "satisfied")
        self.assertEqual(result["snapshot-isolation"], "violated")
        self.assertIn("lost-update", {anomaly.code for anomaly in result.anomalies})

    def test_repeatable_read_does_not(self):
        refused, result = self.overtaken("REPEATABLE READ")
        self.assertTrue(refused)
        self.assertEqual(result["serializable"], "satisfied")
        self.assertEqual((result.json["aborted"], result.json["committed"]), (1, 1))

    def test_many_connections(self):
        def work(session, connection):
            for _ in range(50):
                try:
                    with dbapi.transaction(session, connection,
                                           begin="SET TRANSACTION ISOLATION LEVEL REPEATABLE READ") as t:
                        sell(t, "%s")
                except self.driver.Error:
                    pass  # a serialization failure: recorded as aborted
        with isoproof.Recorder(self.history) as recorder:
            self.run_threads(recorder, self.connect, work)
        result = isoproof.check(self.history, "snapshot-isolation")
        self.assertEqual((result.verdict, result.json["unknown"]), ("satisfied", 0))

    def test_connection_lost(self):
        connection = self.connect()
        with isoproof.Recorder(self.history) as recorder:
            with self.assertRaises(self.driver.Error):
                with dbapi.transaction(recorder.session(), connection) as t:
                    sell(t, "%s")
                    killer = self.connect()
                    killer.cursor().execute("SELECT pg_terminate_backend(%s)", (
                        getattr(connection, "info").backend_pid,))
                    killer.commit()
                    killer.close()
        result = isoproof.check(self.history)
        self.assertEqual((result.json["unknown"], result.json["committed"]), (1, 0))


if __name__ == "__main__":
    unittest.main()
