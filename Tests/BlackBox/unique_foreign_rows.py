# SPDX-License-Identifier: MIT
"""Unique indexes compare values of other programs regardless of their JSON variant."""

import sqlite3
from typing import List, Tuple

import direct_sqlite
from harness import Trial, check

# JSON variants of one document per row, all with the same value at the path.
SAME = [
    ('"größe"', '{"größe":5}', ['{"gr\\u00f6\\u00dfe":5}', '{ "gr\\u00F6ße" : 5 }']),
    ("a", '{"a":"größe"}', ['{"a":"gr\\u00f6\\u00dfe"}', '{"\\u0061":"größe"}']),
    ("a", '{"a":{"$binary":{"base64":"AP8=","subType":"00"}}}',
     ['{"a":{"$binary":{"subType":"0","base64":"AP8="}}}', '{"a":{"$binary": {"base64":"AP8=","subType":"05"}}}']),
    ("a", '{"a":{"$date":"2026-11-20T21:17:00.000000000Z"}}',
     ['{"a":{"$date":"2026-11-20T21:17:00Z"}}', '{"a":{ "$date" : "2026-11-20T22:17:00+01:00"}}']),
    ("a", '{"a":{"$url":"https://example.org/"}}', ['{"a":{"$url":"https:\\/\\/example.org\\/"}}']),
    ("o.b", '{"o":{"b":1}}', ['{"o":{"\\u0062":1.0}}', '{"\\u006f":{"b":1e0}}']),
]


def cases(trial: Trial) -> "List[Tuple[int, Tuple[str, str, List[str]]]]":
    """Returns all cases with their numbers; in the short form, the first and two others."""
    found = list(enumerate(SAME))
    return found[:1] + trial.rng.sample(found[1:], 2) if trial.short else found


@check()
def creation_over_duplicates(trial: Trial) -> None:
    """A unique index cannot be created if rows contain the same value in different JSON variants."""
    for number, (field, ours, others) in cases(trial):
        for adopted in (False, True):
            for kind in (["--whole-values"], ["--elements"]):
                database = trial.path(f"{number}{adopted}{kind[0]}.db")
                trial.run("put", database, "c", "ours", ours, expect=0)
                direct_sqlite.insert(trial, database, "c", [(f"o{i}", body) for i, body in enumerate(others)])
                if adopted:
                    trial.run("put", database, "c", "next", "{}", expect=0)
                result = trial.run("index", "create", database, "c", field, "--unique", *kind)
                trial.require(result.status == 1, f"a unique index on {field} is created over equal values (adopted: {adopted})")


@check()
def duplicate_writes(trial: Trial) -> None:
    """A unique index rejects a document if a foreign row contains the same value in a different JSON variant."""
    for number, (field, ours, others) in cases(trial):
        for kind in (["--whole-values"], ["--elements"]):
            database = trial.path(f"{number}{kind[0]}.db")
            trial.run("put", database, "c", "first", "{}", expect=0)
            trial.run("index", "create", database, "c", field, "--unique", *kind, expect=0)
            direct_sqlite.insert(trial, database, "c", [("other", trial.rng.choice(others))])
            for when in ("before adoption", "after adoption"):
                result = trial.run("put", database, "c", "ours", ours)
                trial.require(result.status == 1, f"{when}: a duplicate value of {field} is stored")
                trial.run("put", database, "c", "unrelated", "{}", expect=0)
            trial.run("verify", database, expect=0)


@check()
def reported_duplicates(trial: Trial) -> None:
    """Equal values that another program wrote under a unique index in different JSON variants are reported, and both rows are found."""
    for number, (field, ours, others) in enumerate(SAME):
        database = trial.path(f"{number}.db")
        trial.run("put", database, "c", "first", ours, expect=0)
        trial.run("index", "create", database, "c", field, "--unique", "--whole-values", expect=0)
        try:
            direct_sqlite.insert(trial, database, "c", [("other", others[0])])
        except sqlite3.IntegrityError:
            trial.log.pop()
            continue
        write = trial.run("put", database, "c", "unrelated", "{}")
        verdict = trial.run("verify", database)
        count = trial.run("count", database, "c", f"[{field}] IS NOT NULL", expect=0).out.strip()
        trial.require(count == b"2", f"two rows have {field}, {count.decode()} are found")
        trial.require(write.status == 1 or verdict.status == 1, f"duplicate values under a unique index on {field} are not reported")
