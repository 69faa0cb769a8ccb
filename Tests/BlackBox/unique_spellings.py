# SPDX-License-Identifier: MIT
"""Unique indexes see through the spelling of other programs."""

import sqlite3
from typing import List, Tuple

import witness
from harness import Trial, check

# Spellings of one document each; all of a row have the same value at the path.
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
    """All cases with their numbers, in the short form the first and two others."""
    found = list(enumerate(SAME))
    return found[:1] + trial.rng.sample(found[1:], 2) if trial.short else found


@check()
def made_over_duplicates(trial: Trial) -> None:
    """A unique index is refused where several rows hold one value in different spellings."""
    for number, (field, ours, others) in cases(trial):
        for adopted in (False, True):
            for kind in (["--whole-values"], ["--elements"]):
                database = trial.path(f"{number}{adopted}{kind[0]}.db")
                trial.run("put", database, "c", "ours", ours, expect=0)
                witness.insert(trial, database, "c", [(f"o{i}", body) for i, body in enumerate(others)])
                if adopted:
                    trial.run("put", database, "c", "next", "{}", expect=0)
                result = trial.run("index", "create", database, "c", field, "--unique", *kind)
                trial.require(result.status == 1, f"a unique index on {field} is made over equal values (adopted: {adopted})")


@check()
def refuses_ours(trial: Trial) -> None:
    """A unique index refuses our document if another program's row has its value in another spelling."""
    for number, (field, ours, others) in cases(trial):
        for kind in (["--whole-values"], ["--elements"]):
            database = trial.path(f"{number}{kind[0]}.db")
            trial.run("put", database, "c", "first", "{}", expect=0)
            trial.run("index", "create", database, "c", field, "--unique", *kind, expect=0)
            witness.insert(trial, database, "c", [("other", trial.rng.choice(others))])
            for when in ("before adoption", "after adoption"):
                result = trial.run("put", database, "c", "ours", ours)
                trial.require(result.status == 1, f"{when}: a second document of one unique value on {field} is stored")
                trial.run("put", database, "c", "unrelated", "{}", expect=0)
            trial.run("verify", database, expect=0)


@check()
def reports_duplicates(trial: Trial) -> None:
    """Equal values that another program put below a unique index in two spellings are reported, and both rows are found."""
    for number, (field, ours, others) in enumerate(SAME):
        database = trial.path(f"{number}.db")
        trial.run("put", database, "c", "first", ours, expect=0)
        trial.run("index", "create", database, "c", field, "--unique", "--whole-values", expect=0)
        try:
            witness.insert(trial, database, "c", [("other", others[0])])
        except sqlite3.IntegrityError:
            trial.log.pop()
            continue
        write = trial.run("put", database, "c", "unrelated", "{}")
        verdict = trial.run("verify", database)
        count = trial.run("count", database, "c", f"[{field}] IS NOT NULL", expect=0).out.strip()
        trial.require(count == b"2", f"two rows have {field}, {count.decode()} are found")
        trial.require(write.status == 1 or verdict.status == 1, f"two equal values below a unique index on {field} are not reported")
