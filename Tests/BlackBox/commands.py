# SPDX-License-Identifier: MIT
"""Hostile conditions and documents complete within seconds and bounded memory, with a result or an error."""

import json
import random
import sqlite3
from contextlib import closing
from typing import List

import direct_sqlite
from harness import Trial, check
from values import parse

RESERVED = ["__rowid__", "__key__", "__type__", "__version__", "__added__", "__leafpath__", "__revision__", "$nanostore", "_id", "id", "key", "body", "@", "[]"]


def lists(trial: Trial, length: int) -> str:
    database = trial.path("s.db")
    numbers = ",".join(map(str, range(length)))
    body = '{"l":[%s],"t":"%s","m":["%s"]}' % (numbers, "a" * 3000, '","'.join("ab" for _ in range(length)))
    trial.run("put", database, "c", "k", "-", input=body, expect=0)
    return database


def bounded(trial: Trial, database: str, condition: str, megabytes: int = 1000) -> None:
    """Runs a condition in every command that accepts one; each must succeed or fail within the limits."""
    uses: List[List[str]] = [["count", database, "c", condition]]
    if not trial.short:
        uses += [["find", database, "c", condition], ["delete", database, "c", "--where", condition], ["schema", database, "c", condition],
                 ["export", database, "c", condition], ["find", database, "c", "[l] = 1 ORDER BY " + condition.rpartition(" ")[0].rpartition(" ")[0]]]
    for arguments in uses:
        result = trial.run(*arguments, megabytes=megabytes, timeout=60.0)
        if result.status != 0:
            trial.require(result.status == 1, f"exit {result.status}: {result.reason}")


@check()
def products_of_lists(trial: Trial) -> None:
    """Sums and texts over several lists of 100 elements complete with a result or an error within 1 GB."""
    database = lists(trial, 100)
    cases = ["[l]+[l]+[l]+[l]+[l] = -1", "[l]||[l]||[l]||[l]||[l] = 'x'", "concat([l],[l],[l],[l],[l]) = 'x'",
             "json_array([l],[l],[l],[l],[l]) = 'x'", "max([l],[l],[l],[l],[l]) = -1", "coalesce([l]+[l]+[l]+[l]+[l], 0) = -1",
             "replace([m],[m],[m]) || [m] || [m] = 'x'", "iif([l]+[l]+[l]+[l]+[l], 1, 2) = 3", "substr([t],[l]*[l]*[l]*[l],[l]) = 'x'",
             "[l]+[l]+[l]+[l] = -1", "[l]+[l]+[l] BETWEEN [l]+[l]+[l] AND [l]+[l]+[l]", "[l]*[l]*[l] IN ([l]*[l]*[l])"]
    for condition in [cases[0], *trial.rng.sample(cases[1:], 1)] if trial.short else cases:
        bounded(trial, database, condition)


@check(short=False)
def comparisons_of_long_lists(trial: Trial) -> None:
    """Comparing two lists of 100,000 elements completes with a result or an error within seconds."""
    database = trial.path("s.db")
    body = json.dumps({"l": list(range(100_000)), "m": list(range(100_000, 200_000))})
    trial.run("import", database, "c", trial.write("in.json", body), expect=0)
    for condition in ("[l] = [m]", "[l] IS [m]", "[l] IN ([m])", "[l] BETWEEN [m] AND [m]", "[l] >= [m]"):
        result = trial.run("count", database, "c", condition, timeout=30.0)
        trial.require(result.status == 1 or result.out == b"0\n", f"{condition} counts {result.out!r}")


@check()
def growing_texts(trial: Trial) -> None:
    """Functions that multiply a text complete with a result or an error within 1 GB."""
    database = lists(trial, 10)
    cases = ["length(replace(replace([t],'a',[t]),'a',[t])) > 1", "length(" + "hex(" * 24 + "[t]" + ")" * 24 + ") > 1",
             "length(replace(replace(replace([t],'a',[t]),'a',[t]),'a',[t])) = 1",
             "length(concat(" + ",".join(["replace([t],'a',[t])"] * 400) + ")) > 1",
             "length(" + "||".join(["replace([t],'a',[t])"] * 400) + ") > 1"]
    for condition in cases[:1] if trial.short else cases:
        bounded(trial, database, condition)


@check()
def small_products_are_exact(trial: Trial) -> None:
    """The evaluation budget allows sums of two lists of 100 elements and replacements of common size."""
    database = lists(trial, 100)
    for condition, count in (("[l]+[l] = 198", 1), ("[l]+[l] = 199", 0), ("length(replace([t],'a','bcd')) = 9000", 1), ("[l]+[l]+1 = 5", 1)):
        found = trial.run("count", database, "c", condition, expect=0).out
        trial.require(found == b"%d\n" % count, f"{condition} counts {found!r}")


@check()
def wildcards(trial: Trial) -> None:
    """LIKE and GLOB with many wildcards over a long string complete within seconds."""
    database = trial.path("s.db")
    length = 10_000 if trial.short else 100_000
    trial.run("import", database, "c", "-", input=json.dumps({"t": "a" * length}), expect=0)
    patterns = ["%a" * 20 + "%b", "%" * 50 + "b", "_%" * 30 + "b", "a%" * 30 + "b"]
    for pattern in patterns[:2] if trial.short else patterns:
        for operator, text in (("LIKE", pattern), ("GLOB", pattern.replace("%", "*").replace("_", "?"))):
            result = trial.run("count", database, "c", f"[t] {operator} '{text}'", timeout=30.0, expect=0)
            trial.require(result.out == b"0\n", f"{operator} finds {result.out!r}")


def distinct_documents(trial: Trial, documents: int, names: int) -> str:
    """Creates documents without common field names, inserted with SQLite because that is fast."""
    database = trial.path("s.db")
    trial.run("put", database, "c", "first", '{"n":0}', expect=0)
    trial.note(f"sqlite3 {database}: insert {documents} documents of {names} names each, all different")
    with closing(sqlite3.connect(database)) as connection, connection:
        for row in range(documents):
            body = "{" + ",".join(f'"n{row}_{number}":{number}' for number in range(names)) + "}"
            connection.execute("INSERT INTO c(key, body) VALUES (?, ?)", (f"k{row}", body))
    return database


@check()
def table_of_distinct_documents(trial: Trial) -> None:
    """find --table of documents with very many different field names completes within seconds."""
    database = distinct_documents(trial, 500, 150 if trial.short else 1000)
    result = trial.run("find", database, "c", "--table", timeout=15.0 if trial.short else 30.0, expect=0)
    trial.require(b"n0_0" in result.out, f"the table starts with {result.out[:80]!r}")


@check(short=False)
def csv_of_distinct_documents(trial: Trial) -> None:
    """find --csv of documents without common field names writes more than 5 MB per second."""
    database = distinct_documents(trial, 500, 200)
    result = trial.run("find", database, "c", "--csv", timeout=20.0, expect=0)
    trial.require(result.lines[0].count(b",") == 500 * 200 and len(result.lines) == 502, "the CSV lacks columns or rows")
    trial.require(result.seconds < len(result.out) / 5e6, f"{len(result.out)} bytes take {result.seconds:.1f} seconds")


@check()
def reserved_names(trial: Trial) -> None:
    """A field with the name of an attribute is stored or rejected, never dropped."""
    database = trial.path("s.db")
    for number, name in enumerate(RESERVED):
        for body in (json.dumps({name: 5, "x": 1}), json.dumps({"o": {name: 5}})):
            for command in (["put", database, "c", f"k{number}", body, "--plain"], ["import", database, f"i{number}", "-", "--plain"]):
                result = trial.run(*command, input=body)
                if result.status != 0:
                    continue
                shown = trial.run("find", database, command[2], "--limit", "1", "--sort", "__rowid__:desc", expect=0).out
                found = json.loads(shown.replace(b'"$$', b'"$'))
                trial.require(found == json.loads(body), f"{command[0]} of {body} is printed as {shown!r}, exit 0")
    expected = '{"__rowid__":5,"__key__":6}'
    direct_sqlite.insert(trial, database, "c", [("foreign", expected)])
    shown = trial.run("get", database, "c", "foreign", expect=0).out
    trial.require(parse(shown) == parse(expected), f"a foreign row is printed as {shown!r}")


@check()
def random_command_lines(trial: Trial) -> None:
    """Random words as conditions, fields and values result in a documented exit status."""
    database = lists(trial, 3)
    words = ["[l]", "[t]", "=", "1", "'a'", "(", ")", "NOT", "AND", "LIKE", "IN", "?", ":x", "ORDER BY", "LIMIT", "-1", "ELEMENT(", ",",
             "CASE", "WHEN", "END", "x'0'", "DATE 'x'", "[", "]", "\"", "9e999", "[l.0]", "[@]", "REGEXP", "'('", "\u0301", "''", "--", "CAST(", "AS"]
    for _ in range(10 if trial.short else 60):
        condition = " ".join(trial.rng.choice(words) for _ in range(trial.rng.randrange(1, 9)))
        options = trial.rng.choice([[], ["--sort", condition], ["--fields", condition], ["--arg", condition], ["--limit", condition]])
        trial.run("find", database, "c", "--", condition) if not options else trial.run("find", database, "c", "[l] = 1", *options)
        random_body(trial, database, trial.rng)


def random_body(trial: Trial, database: str, rng: random.Random) -> None:
    pieces = ['{', '}', '[', ']', ':', ',', '"a"', '"a":', '1', '-', '1e9', 'null', '{"a":{"$date":"x"}}', '"\\ud800"', '\ufeff', ' ']
    trial.run("put", database, "r", "k", "-", input="".join(rng.choice(pieces) for _ in range(rng.randrange(1, 8))))
