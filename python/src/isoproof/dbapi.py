"""Recording what goes through a DB-API connection: psycopg, psycopg2, sqlite3, mariadb, and others like them.

    with dbapi.transaction(session, connection) as t:
        quantity, version = t.read(("stock", 3), "SELECT quantity, version FROM stock WHERE id = 3", value=1)
        t.write(("stock", 3), t.unique(), "UPDATE stock SET quantity = %s, version = %s WHERE id = 3",
                lambda new: (quantity - 1, new))

The block is one transaction of the database: it is committed where the block ends and rolled back where an exception
leaves it.  How it ended is recorded as the client learnt it: a commit that the server refused is aborted; one whose
answer never came is unknown.
"""
from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Sequence, Union

from ._recorder import Session, Transaction

Parameters = Union[None, Sequence[Any], Callable[[Any], Sequence[Any]]]

# SQLSTATE classes by which a server says that a transaction was rolled back: integrity, transaction state, rollback,
# deadlocks and serialization failures, lack of resources, and errors of the statement itself.
_REFUSED_CLASSES = ("22", "23", "25", "40", "42", "44", "53", "54", "55")
# MariaDB's and MySQL's own numbers: lock wait timeout (if the transaction is rolled back by us), deadlock, duplicate
# key, foreign keys.
_REFUSED_NUMBERS = {1020, 1022, 1048, 1062, 1205, 1213, 1451, 1452, 4025}
# sqlite3: busy, locked, constraint, read-only; COMMIT leaves the transaction open after SQLITE_BUSY, and it is rolled
# back then.
_REFUSED_SQLITE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CONSTRAINT", "SQLITE_READONLY")


def _was_refused(problem: BaseException) -> bool:
    """Whether the server itself answered that there is no commit."""
    state = getattr(problem, "sqlstate", None) or getattr(problem, "pgcode", None)
    if isinstance(state, str) and state[:2] in _REFUSED_CLASSES:
        return True
    name = getattr(problem, "sqlite_errorname", None)
    if isinstance(name, str):
        return name.startswith(_REFUSED_SQLITE)
    if type(problem).__module__ == "sqlite3":
        return type(problem).__name__ in ("IntegrityError",) or "locked" in str(problem)
    number = getattr(problem, "errno", None)
    return isinstance(number, int) and number in _REFUSED_NUMBERS


def _name_of(problem: BaseException) -> str:
    """What the server calls an error."""
    for attribute in ("sqlstate", "pgcode", "sqlite_errorname", "errno"):
        found = getattr(problem, attribute, None)
        if found:
            return str(found)
    return type(problem).__name__


class RecordedTransaction:
    """A transaction of the database, and its record: statements through here are recorded, others are not."""

    def __init__(self, record: Transaction, connection: Any) -> None:
        self.record = record
        self.connection = connection
        self.cursor = connection.cursor()

    def unique(self) -> int:
        """A number to be written as a value that no other write has."""
        return self.record.unique()

    def execute(self, sql: str, parameters: Optional[Sequence[Any]] = None) -> Any:
        """Runs a statement that is not recorded; returns the cursor."""
        if parameters is None:
            self.cursor.execute(sql)
        else:
            self.cursor.execute(sql, parameters)
        return self.cursor

    def read(self, key: Any, sql: str, parameters: Optional[Sequence[Any]] = None, *, value: int = 0) -> Any:
        """Reads one row and records the column `value` of it as the value of the key; None where there is no row."""
        row = self.execute(sql, parameters).fetchone()
        self.record.statement(sql)
        self.record.read(key, None if row is None else row[value])
        return row

    def read_all(self, sql: str, parameters: Optional[Sequence[Any]] = None, *, key: Callable[[Any], Any],
                 value: Callable[[Any], Any]) -> Any:
        """Reads rows, and records each one's value under its key.  Rows that are not there are not recorded."""
        rows = self.execute(sql, parameters).fetchall()
        self.record.statement(sql)
        for row in rows:
            self.record.read(key(row), value(row))
        return rows

    def write(self, key: Any, value: Any, sql: str, parameters: Parameters = None) -> int:
        """Runs a statement that writes the value, and records it where it changed a row; returns how many it changed.

        `parameters` may be a function of the value.
        """
        given = parameters(value) if callable(parameters) else parameters
        changed = int(self.execute(sql, given).rowcount)
        if changed != 0:
            self.record.statement(sql)
            self.record.write(key, value)
        return changed


@contextmanager
def transaction(session: Session, connection: Any, name: Optional[str] = None, *, begin: Optional[str] = None,
                isolation: Optional[str] = None) -> Iterator[RecordedTransaction]:
    """Records a transaction of a connection; `name` and `isolation` are those of Session.transaction.

    `begin` is a statement to open it with ("BEGIN IMMEDIATE", "SET TRANSACTION ..."); by default the connection opens
    it by itself at the first statement, as DB-API has it.  sqlite3 does so only before statements that write, so its
    connections get a BEGIN here.
    """
    if begin is None and type(connection).__module__ == "sqlite3" and not connection.in_transaction:
        begin = "BEGIN"
    with session.transaction(name, isolation=isolation) as record:
        try:
            recorded = RecordedTransaction(record, connection)
            if begin is not None:
                recorded.execute(begin)
            yield recorded
        except BaseException as problem:
            # The commit was never sent: whatever becomes of the connection, it is not committed.
            record.aborted(_name_of(problem))
            _roll_back(connection)
            raise
        try:
            connection.commit()
        except BaseException as problem:
            if _was_refused(problem):
                record.aborted(_name_of(problem))
            else:
                record.unknown(_name_of(problem))
            _roll_back(connection)
            raise


def _roll_back(connection: Any) -> None:
    """A connection that cannot be rolled back any more has nothing left to roll back."""
    try:
        connection.rollback()
    except Exception:  # the first problem is the one to tell
        pass
