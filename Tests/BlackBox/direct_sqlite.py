# SPDX-License-Identifier: MIT
"""Reads and writes the file of a store with Python's SQLite, as docs/SCHEMA.md allows other programs to do."""

import sqlite3
from contextlib import closing
from typing import Any, List, Sequence, Tuple

from harness import Trial

ADDED = 1795209420000001  # a timestamp in microseconds since 1970


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def insert(trial: Trial, database: str, collection: str, rows: Sequence[Tuple[Any, str]]) -> None:
    """Inserts bodies with their keys in one transaction."""
    with closing(sqlite3.connect(database)) as connection, connection:
        for key, body in rows:
            trial.note(f"sqlite3 {database} {statement(collection, key, body)!r}")
            connection.execute(statement(collection, key, body))


def statement(collection: str, key: Any, body: str) -> str:
    text = body.replace("'", "''")
    shown = f"'{key}'" if isinstance(key, str) else "NULL" if key is None else f"x'{key.hex()}'"
    return f"INSERT INTO {quoted(collection)}(key, added, body) VALUES ({shown}, {ADDED}, '{text}')"


def execute(trial: Trial, database: str, sql: str, values: Sequence[Any] = (), schema: bool = False) -> None:
    """Runs a statement, which may damage the file."""
    trial.note(f"sqlite3 {database} {sql!r}" + (f" with {list(values)!r}" if values else ""))
    with closing(sqlite3.connect(database)) as connection, connection:
        if schema:
            connection.execute("PRAGMA writable_schema = ON")
        connection.execute(sql, values)


def rows(database: str, sql: str, values: Sequence[Any] = ()) -> List[Tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(sql, values).fetchall()


def checkpoint(database: str) -> None:
    """Checkpoints the write-ahead log, so that the main file is complete."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
