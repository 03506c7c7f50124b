"""Does the database keep the isolation it promises?

    import isoproof

    result = isoproof.check("history.jsonl")
    print(result["serializable"])       # violated
    for anomaly in result.anomalies:
        print(anomaly.explanation)

`Recorder` writes such histories from application code; `isoproof.dbapi` records what goes through a connection of
psycopg, sqlite3 or mariadb.
"""
from ._library import IsoproofError, version
from ._recorder import NOT_KNOWN, Predicate, Recorder, Session, Transaction
from ._result import Anomaly, Case, Edge, Operation, Result, TransactionDetail, Verdict, WriteOrder
from ._check import check, levels

__all__ = [
    "Anomaly",
    "Case",
    "Edge",
    "IsoproofError",
    "NOT_KNOWN",
    "Operation",
    "Predicate",
    "Recorder",
    "Result",
    "Session",
    "Transaction",
    "TransactionDetail",
    "Verdict",
    "WriteOrder",
    "check",
    "levels",
    "version",
]
__version__ = "0.1.0"
