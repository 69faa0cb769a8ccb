# SPDX-License-Identifier: MIT
"""Compares tables that the tool reads and writes with Python's csv and sqlite3 modules."""

import csv
import io
import json
import sqlite3
from typing import List

from harness import Trial, check

PIECES = [
    "a", "é", "日本", "😀", " ", ",", ";", "\t", '"', '""', "\n", "\r\n", "\r", "1", "0", "007", "-0", "1.5", "1.50", "1e5", "true", "null", "NaN",
    "2026-11-20T21:17:00Z", "\ufeff", "$", "=1+1", "\\", "\x01", "x" * 300,
]
# With QUOTE_MINIMAL, Python quotes only the characters of the line terminator, so that a lone \r would end a row.
DIALECTS = [
    dict(delimiter=",", quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n"), dict(delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n"),
    dict(delimiter="\t", quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"), dict(delimiter="|", quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n"),
]


def text(trial: Trial) -> str:
    return "".join(trial.rng.choice(PIECES) for _ in range(trial.rng.randint(0, 4)))


def rows(trial: Trial) -> List[List[str]]:
    width = trial.rng.randint(2, 6)
    return [[text(trial) for _ in range(width)] for _ in range(trial.rng.randint(1, 60))]


@check()
def files_of_python(trial: Trial) -> None:
    """Text in files that Python's csv module writes is imported unchanged, and exports are read by it as the same text."""
    for number in range(2 if trial.short else 12):
        dialect = trial.rng.choice(DIALECTS)
        table = rows(trial)
        names = [f"c{column}" for column in range(len(table[0]))]
        buffer = io.StringIO(newline="")
        csv.writer(buffer, **dialect).writerows([names] + table)
        database, source = trial.path(f"{number}.db"), trial.write(f"{number}.csv", buffer.getvalue())
        separator = ["--separator", str(dialect["delimiter"])]
        trial.run("import", database, "t", source, "--csv", "--all-text", "--empty", "text", *separator, expect=0)
        found = [list(json.loads(line).values()) for line in trial.run("find", database, "t", "--plain", expect=0).lines]
        trial.require(found == table, f"{dialect}: imported {found!r} instead of {table!r}")

        exported = trial.run("export", database, "t", "--csv", "--fields", ",".join(names), expect=0).out.decode()
        again = list(csv.reader(io.StringIO(exported, newline="")))
        trial.require(again == [names] + table, f"Python reads {again!r} instead of {table!r}")
        trial.run("import", database, "u", trial.write("e.csv", exported), expect=0)
        lines = trial.run("find", database, "u", "--plain", expect=0).lines
        trial.require([list(json.loads(line).values()) for line in lines] == table, "the import of an export differs")


@check()
def converted_fields(trial: Trial) -> None:
    """Conversion loses nothing: the export of an import has the text of every field without quotes."""
    cells = [
        "".join(trial.rng.choice(["0", "1", "9", "-", "+", ".", "e", "E", "5", "000", "T", "Z", ":", "nan", "true", " "]) for _ in range(trial.rng.randint(1, 7)))
        for _ in range(300)
    ]
    database = trial.path("n.db")
    trial.run("import", database, "t", trial.write("n.csv", "k,v\n" + "".join(f"k,{cell}\n" for cell in cells)), expect=0)
    exported = trial.run("export", database, "t", "--csv", "--fields", "v", expect=0).out.decode()
    again = [row[0] for row in csv.reader(io.StringIO(exported, newline=""))][1:]
    trial.require(again == cells, f"the text changes: {[pair for pair in zip(cells, again) if pair[0] != pair[1]][:5]!r}")


@check()
def rows_of_sqlite(trial: Trial) -> None:
    """Rows of a file that Python's sqlite3 module writes are imported with their types, and the file is unchanged."""
    path, database = trial.path("o.db"), trial.path("s.db")
    connection = sqlite3.connect(path)
    journal = trial.rng.choice(["wal", "delete"])
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, i, r, "s.a", "s.b", n)')
    values = [
        (number, trial.rng.randint(-(2**63), 2**63 - 1), trial.rng.random() * 10 ** trial.rng.randint(-20, 20), text(trial), str(number), None)
        for number in range(1, 200)
    ]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", values)
    connection.commit()
    before = open(path, "rb").read()
    trial.run("import", database, "t", "--from-sqlite", path, "--table", "t", "--key", "id", expect=0)
    trial.require(open(path, "rb").read() == before, f"the file changes ({journal})")
    connection.close()
    found = [json.loads(line) for line in trial.run("find", database, "t", "--plain", expect=0).lines]
    expected = [{"id": id, "i": i, "r": r, "s": {"a": a, "b": b}} for id, i, r, a, b, _ in values]
    trial.require(found == expected, "the documents differ from the rows")
    trial.require(trial.run("find", database, "t", "--keys", expect=0).lines == [str(row[0]).encode() for row in values], "the keys differ")
