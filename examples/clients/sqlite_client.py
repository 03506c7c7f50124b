#!/usr/bin/env python3
"""A client for isoproof: SQLite through Python's own sqlite3 module.

    isoproof test "--db=exec:python3 sqlite_client.py FILE"

isoproof starts one process per session.  Every line of standard input is a request, every line of standard output its
answer, both JSON objects; docs/exec.md is the protocol.  To test another database, change the SQL and the errors.
"""
import json
import sqlite3
import sys


class Refused(Exception):
    """An error with the class that isoproof counts it under."""

    def __init__(self, error_class, message):
        super().__init__(message)
        self.error_class = error_class


class Client:
    """One session."""

    def __init__(self, path):
        self.path = path
        self.table = None
        self.database = None

    def hello(self, request):
        """The first request; the table is this run's own, and its name is of letters, digits and _ only."""
        self.table = request["table"]
        self.database = sqlite3.connect(self.path, timeout=(request["lock_timeout_ms"] or 5000) / 1000,
                                        isolation_level=None)
        return {"isoproof": 1, "database": f"SQLite {sqlite3.sqlite_version} (Python)",
                "capabilities": ["registers", "lists", "rows"],
                "isolations": [{"name": "serializable", "level": "serializable", "default": True,
                                "note": "one writer at a time"}]}

    def setup(self, _):
        """Makes the table; never takes one that is there already."""
        if self.one("SELECT count(*) FROM sqlite_master WHERE name = ?", self.table)[0] > 0:
            raise Refused("constraint", f"there is a table {self.table} already")
        self.database.execute(f"CREATE TABLE {self.table} (k INTEGER PRIMARY KEY, v INTEGER, l TEXT)")
        return {}

    def teardown(self, _):
        """Removes what setup made."""
        self.database.execute(f"DROP TABLE {self.table}")
        return {}

    def one(self, sql, *values):
        """The first row, or None."""
        return self.database.execute(sql, values).fetchone()

    def change(self, sql, *values):
        """How many rows a statement changed."""
        return {"affected": self.database.execute(sql, values).rowcount}

    def begin(self, _):
        self.database.execute("BEGIN")
        return {}

    def commit(self, _):
        self.database.execute("COMMIT")
        return {}

    def abort(self, _):
        if self.database.in_transaction:
            self.database.execute("ROLLBACK")
        return {}

    def ping(self, _):
        self.one("SELECT 1")
        return {}

    def read(self, request):
        row = self.one(f"SELECT v FROM {self.table} WHERE k = ?", request["key"])
        return {"value": row[0] if row else None}

    def write(self, request):
        return self.change(f"INSERT INTO {self.table} (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
                           request["key"], request["value"])

    def read_list(self, request):
        row = self.one(f"SELECT l FROM {self.table} WHERE k = ?", request["key"])
        return {"list": [int(item) for item in row[0].split(",")] if row and row[0] else None}

    def append(self, request):
        return self.change(f"INSERT INTO {self.table} (k, l) VALUES (?1, ?2) "
                           "ON CONFLICT (k) DO UPDATE SET l = coalesce(l || ',', '') || ?2",
                           request["key"], str(request["value"]))

    def insert(self, request):
        return self.change(f"INSERT INTO {self.table} (k, v) VALUES (?, ?)", request["key"], request["value"])

    def update(self, request):
        return self.change(f"UPDATE {self.table} SET v = ? WHERE k = ?", request["value"], request["key"])

    def delete(self, request):
        return self.change(f"DELETE FROM {self.table} WHERE k = ?", request["key"])

    @staticmethod
    def where(request):
        """The condition of a predicate, and its bounds; without bounds it is the whole table."""
        for column, name in (("k", "keys"), ("v", "values")):
            if name in request:
                return f" WHERE {column} BETWEEN ? AND ?", request[name]
        return "", []

    def predicate(self, request):
        text, bounds = self.where(request)
        rows = self.database.execute(f"SELECT k, v FROM {self.table}{text}", bounds).fetchall()
        return {"rows": [row for row in rows if row[1] is not None]}

    def count(self, request):
        text, bounds = self.where(request)
        return {"count": self.one(f"SELECT count(v) FROM {self.table}{text}", *bounds)[0]}

    def answer(self, request):
        """The answer to a request: its results, or the truth about an error."""
        operation = getattr(self, request["op"].replace("-", "_"), None)
        if request["op"] not in OPERATIONS or operation is None:
            return {"error": "client", "message": f"no such operation: {request['op']}", "transaction": self.state()}
        try:
            return {"ok": True, **operation(request)}
        except Refused as problem:
            return {"error": problem.error_class, "message": str(problem), "transaction": self.state()}
        except sqlite3.IntegrityError as problem:
            return {"error": "constraint", "message": str(problem), "transaction": self.state()}
        except sqlite3.OperationalError as problem:
            busy = "locked" in str(problem) or "busy" in str(problem)
            return {"error": "busy" if busy else "statement", "message": str(problem), "transaction": self.state()}

    def state(self):
        """A statement that failed is undone alone; SQLite tells whether the transaction is still there."""
        return "active" if self.database.in_transaction else "aborted"


OPERATIONS = {"hello", "setup", "teardown", "begin", "commit", "abort", "ping", "read", "write", "read-list", "append",
              "insert", "update", "delete", "predicate", "count"}


def main():
    client = Client(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        answer = client.hello(request) if request["op"] == "hello" else client.answer(request)
        print(json.dumps(answer), flush=True)


main()
