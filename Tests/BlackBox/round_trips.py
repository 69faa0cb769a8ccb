# SPDX-License-Identifier: MIT
"""Documents that verify accepts survive export and import, copy, backup and recover byte for byte."""

import os
import re
from typing import Any, Dict, List, Tuple

import direct_sqlite
import json_variants
from harness import Trial, check
from values import parse, stored

UUID_BYTES = bytes.fromhex("0199a1b2000070008000000000000001")

# Rows of other programs, inside and outside the declared column types.
ROWS: List[Tuple[str, Dict[str, Any]]] = [
    ("key of 16 bytes", {"key": UUID_BYTES}),
    ("key of 3 bytes", {"key": b"\x01\x02\x03"}),
    ("key of no bytes", {"key": b""}),
    ("key in capital hexadecimal digits", {"key": "0199A1B2-0000-7000-8000-000000000001"}),
    ("UUID as text", {"key": "0199a1b2-0000-7000-8000-000000000001"}),
    ("empty key", {"key": ""}),
    ("key with a line break", {"key": "a\nb"}),
    ("key with a quote", {"key": 'a"b\\c'}),
    ("key with a control character", {"key": "a\x1bb\x7f"}),
    ("key with a NUL", {"key": "a\x00b"}),
    ("integer key", {"key": 5}),
    ("real key", {"key": 0.5}),
    ("no key", {"key": None}),
    ("no timestamp", {"key": "k", "added": None}),
    ("type", {"key": "k", "type": "Book"}),
    ("empty type", {"key": "k", "type": ""}),
    ("type with a line break", {"key": "k", "type": "A\nB"}),
    ("type of bytes", {"key": "k", "type": b"Book"}),
    ("version", {"key": "k", "type": "Book", "version": 3}),
    ("version without type", {"key": "k", "version": 3}),
    ("version that is text", {"key": "k", "version": "three"}),
    ("negative version", {"key": "k", "version": -1}),
    ("largest version", {"key": "k", "version": 2**63 - 1}),
    ("timestamp", {"key": "k", "added": 1795209420_000001}),
    ("negative timestamp", {"key": "k", "added": -1}),
    ("timestamp in year 0", {"key": "k", "added": -62167219200_000000}),
    ("timestamp before year 0", {"key": "k", "added": -62167219200_000001}),
    ("timestamp after year 9999", {"key": "k", "added": 253402300800_000000}),
    ("last timestamp of year 9999", {"key": "k", "added": 253402300799_999999}),
    ("largest timestamp", {"key": "k", "added": 2**63 - 1}),
    ("timestamp that is a fraction", {"key": "k", "added": 1.5}),
    ("timestamp that is text", {"key": "k", "added": "2026-11-20"}),
    ("negative row ID", {"key": "k", "id": -7}),
    ("row ID 0", {"key": "k", "id": 0}),
    ("smallest row ID", {"key": "k", "id": -(2**63)}),
    ("largest row ID", {"key": "k", "id": 2**63 - 1}),
    ("revision 0", {"key": "k", "revision": 0}),
    ("negative revision", {"key": "k", "revision": -5}),
    ("revision that is text", {"key": "k", "revision": "x"}),
    ("largest revision", {"key": "k", "revision": 2**63 - 1}),
]


def survive(trial: Trial, database: str, collection: str, what: str) -> None:
    """If verify accepts the file, checks export, import, backup, copy and recover."""
    verdict = trial.run("verify", database)
    exported = trial.run("export", database, collection)
    if verdict.status != 0:
        return
    trial.require(exported.status == 0, f"{what}: verify accepts what export rejects: {exported.reason}")
    expected = exported.out
    lines = trial.run("find", database, collection, expect=0).lines
    count = int(trial.run("count", database, collection, expect=0).out)
    trial.require(len(lines) == count == len(exported.lines), f"{what}: {len(lines)} lines in find, {len(exported.lines)} in export, count {count}")
    again = trial.path("imported.db")
    source = trial.write("exported.ndjson", expected)
    imported = trial.run("import", again, collection, source)
    trial.require(imported.status == 0, f"{what}: import rejects the output of export: {imported.reason}")
    compare(trial, again, collection, expected, f"{what}: export of an import")
    for command in ("backup", "copy", "recover"):
        target = trial.path(command + ".db")
        result = trial.run(command, database, target)
        trial.require(result.status == 0, f"{what}: {command} fails on what verify accepts: {result.reason}")
        compare(trial, target, collection, expected, f"{what}: {command}")
    trial.run("copy", database, trial.path("copy.db"), "--verify-only", expect=0)
    clean(trial)


def compare(trial: Trial, database: str, collection: str, expected: bytes, what: str) -> None:
    result = trial.run("export", database, collection, expect=0)
    if without_generated(result.out, expected) != expected:
        pairs = [(a, b) for a, b in zip(expected.split(b"\n"), result.out.split(b"\n")) if a != b]
        first = pairs[0] if pairs else (expected[-100:], result.out[-100:])
        trial.fail(f"{what} changes the contents: {first[0][:150]!r} to {first[1][:150]!r}")
    trial.run("verify", database, expect=0)


def without_generated(lines: bytes, expected: bytes) -> bytes:
    """Removes keys and timestamps that import generated for documents without them (docs/CLI.md, import)."""
    pairs = zip(lines.split(b"\n"), expected.split(b"\n"))
    shown = [EMPTY_HEADER.sub(b'{"$nanostore":{', strip(line, other), count=1) for line, other in pairs]
    return b"\n".join(shown) if lines.count(b"\n") == expected.count(b"\n") else lines


def strip(line: bytes, expected: bytes) -> bytes:
    for pattern in (KEY, ADDED):
        if pattern.match(line) and not pattern.match(expected):
            line = pattern.sub(rb"\1", line, count=1)
    return line


# Members of the export header, in the order key, type, version, added.
KEY = re.compile(rb'^(\{"\$nanostore":\{)"key":"[^"\\]*"')
ADDED = re.compile(rb'^(\{"\$nanostore":\{[^}]*?),?"added":\{[^}]*\}')
EMPTY_HEADER = re.compile(rb'^\{"\$nanostore":\{,')


def clean(trial: Trial) -> None:
    for name in trial.files():
        if name.split(b".")[0] in (b"imported", b"backup", b"copy", b"recover"):
            os.remove(os.path.join(os.fsencode(trial.folder), name))


@check()
def own_documents(trial: Trial) -> None:
    """Random documents survive export and import, copy, backup and recover byte for byte."""
    database = trial.path("s.db")
    lines = [stored(json_variants.document(trial.rng, 3)) for _ in range(30 if trial.short else 300)]
    trial.run("import", database, "c", trial.write("in.ndjson", "\n".join(lines)), expect=0)
    trial.run("index", "create", database, "c", "a", expect=0)
    trial.run("index", "text", database, "c", "b", expect=0)
    trial.run("index", "policy", database, "c", trial.rng.choice(["everything", "declared"]), expect=0)
    found = [parse(line) for line in trial.run("find", database, "c", expect=0).lines]
    trial.require(found == [parse(line) for line in lines], "find prints different documents than were imported")
    survive(trial, database, "c", "random documents")


@check()
def foreign_documents(trial: Trial) -> None:
    """Random JSON variants written by another program survive export and import, copy, backup and recover."""
    for when in ["after adoption"] if trial.short else ["before adoption", "after adoption"]:
        database = trial.path(when[:5] + ".db")
        trial.run("put", database, "c", "ours", '{"a":1}', expect=0)
        bodies = [json_variants.VariantWriter(trial.rng).write(json_variants.document(trial.rng)) for _ in range(8 if trial.short else 60)]
        direct_sqlite.insert(trial, database, "c", [(f"k{number}", body) for number, body in enumerate(bodies)])
        if when.startswith("after"):
            trial.run("put", database, "c", "next", "{}", expect=0)
        trial.run("verify", database, expect=0)
        survive(trial, database, "c", when)


def odd_row(trial: Trial, name: str, columns: Dict[str, Any]) -> None:
    database = trial.path("odd.db")
    trial.run("put", database, "c", "ours", '{"a":0}', expect=0)
    values = {"added": direct_sqlite.ADDED, **columns, "body": '{"a":1}'}
    sql = f"INSERT INTO c({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
    direct_sqlite.execute(trial, database, sql, list(values.values()))
    survive(trial, database, "c", name)
    if not trial.short:
        trial.run("put", database, "c", "next", '{"a":2}')
        survive(trial, database, "c", name + ", adopted")


def odd(number: int) -> None:
    name, columns = ROWS[number]

    def run(trial: Trial) -> None:
        odd_row(trial, name, columns)

    run.__name__ = "row-with-" + name.replace(" ", "-")
    run.__doc__ = f"A row with {name}, written by another program, survives export and copies or is reported by verify."
    check(short=name in ("no key", "no timestamp", "key of 16 bytes"))(run)


for index in range(len(ROWS)):
    odd(index)
