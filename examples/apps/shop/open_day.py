#!/usr/bin/env python3
"""A busy day in the shop, recorded and judged: open_day.py [--fixed] [--history FILE] CONNECTION

CONNECTION is a database of PostgreSQL, as psycopg takes it ("postgresql://user@host/database", or "" for the default).  All
tables are made in a schema of their own, which is removed in the end.  The exit code is 1 when orders were lost.
"""
import argparse
import os
import random
import sys
import tempfile
import threading
from pathlib import Path

import psycopg

import isoproof
import shop
from isoproof import dbapi

CUSTOMERS, ORDERS, PRODUCTS, STOCK = 8, 40, ("kettle", "teapot", "cup"), 100_000


def customer(number, connection, session, place):
    """One customer at a time per connection, as a web server would have it."""
    choice = random.Random(number)
    for _ in range(ORDERS):
        try:
            with dbapi.transaction(session, connection, "place order") as t:
                place(t, choice.randint(1, len(PRODUCTS)), choice.randint(1, 3))
        except psycopg.errors.OperationalError as problem:
            print(f"customer {number}: {problem}", file=sys.stderr)


def day(connect, place, history):
    """Lets customers buy side by side, and returns the books of the evening."""
    with connect() as connection:
        shop.open_shop(connection, PRODUCTS, STOCK)
    with isoproof.Recorder(history, database="PostgreSQL", isolation="read committed") as recorder:
        connections = [connect() for _ in range(CUSTOMERS)]
        threads = [threading.Thread(target=customer, args=(number, connection, recorder.session(), place))
                   for number, connection in enumerate(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for connection in connections:
            connection.close()
    with connect() as connection:
        return shop.books(connection)


def tell(rows, result):
    """What the books say, and what isoproof says about how it came to that."""
    for name, stock, ordered in rows:
        lost = stock + ordered - STOCK
        print(f"{name}: {ordered} ordered, {STOCK - stock} left the stock" + (f", {lost} LOST" if lost else ""))
    print(f"serializable: {result['serializable']}")
    for anomaly in result.anomalies:
        print(f"{anomaly.name}, {anomaly.count} times, the smallest:\n{anomaly.explanation}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fixed", action="store_true", help="place orders as they should be placed")
    parser.add_argument("--history", help="keep what was recorded in a file")
    parser.add_argument("connection")
    arguments = parser.parse_args()
    schema = f"shop_{os.getpid()}"

    def connect():
        return psycopg.connect(arguments.connection, options=f"-c search_path={schema}")

    with psycopg.connect(arguments.connection, autocommit=True) as keeper:
        keeper.execute(f"CREATE SCHEMA {schema}")
        try:
            with tempfile.TemporaryDirectory() as folder:
                history = arguments.history or Path(folder) / "shop.jsonl"
                rows = day(connect, shop.place_order_locked if arguments.fixed else shop.place_order, history)
                result = isoproof.check(history, "serializable")
        finally:
            keeper.execute(f"DROP SCHEMA {schema} CASCADE")
    tell(rows, result)
    return result["serializable"] != "satisfied"


if __name__ == "__main__":
    sys.exit(main())
