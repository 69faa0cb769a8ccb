# SPDX-License-Identifier: MIT
"""Names of collections, indexes, keys and types that differ only in Unicode normalization are distinct in every command."""

import json
from typing import List

import direct_sqlite
from harness import Trial, check
from values import parse

# Canonically equivalent pairs with different bytes.
PAIRS = [("caf\u00e9", "cafe\u0301"), ("\u00c5", "\u212b"), ("K", "\u212a"), ("\ud55c", "\u1112\u1161\u11ab"), ("\u03a9", "\u2126")]


def pair(trial: Trial) -> "tuple[str, str]":
    return trial.rng.choice(PAIRS)


def quoted(name: str) -> str:
    return '"' + name + '"'


def two_collections(trial: Trial) -> "tuple[str, str, str]":
    first, second = pair(trial)
    database = trial.path("s.db")
    for number in range(3):
        trial.run("put", database, first, f"k{number}", '{"of":"first","n":%d}' % number, expect=0)
    for number in range(2):
        trial.run("put", database, second, f"k{number}", '{"of":"second","n":%d}' % number, expect=0)
    return database, first, second


def exports(trial: Trial, database: str, names: List[str]) -> List[bytes]:
    return [trial.run("export", database, name, expect=0).out for name in names]


@check()
def collections_are_listed(trial: Trial) -> None:
    """collections lists two Unicode forms of a collection name separately, with the correct document counts."""
    database, first, second = two_collections(trial)
    for arguments in (["--json"], ["--csv"], ["--table"], []):
        result = trial.run("collections", database, *arguments, expect=0)
        if arguments == ["--json"]:
            found = {row["collection"]: row["documents"] for row in json.loads(result.out)}
            trial.require(found == {first: 3, second: 2}, f"collections shows {found!r}")
    trial.run("stats", database, expect=0)
    trial.run("verify", database, expect=0)
    trial.run("index", "export", database, expect=0)


@check()
def collections_are_distinct(trial: Trial) -> None:
    """Commands on one of two collections whose names differ only in Unicode normalization do not affect the other."""
    database, first, second = two_collections(trial)
    for name, of, count in ((first, "first", 3), (second, "second", 2)):
        lines = [parse(line) for line in trial.run("find", database, name, expect=0).lines]
        trial.require([document["of"] for document in lines] == [of] * count, f"find in {name!r} shows {lines}")
        trial.require(trial.run("count", database, name, "[n] >= 0", expect=0).out == b"%d\n" % count, f"count of {name!r}")
        found = json.loads(trial.run("get", database, name, "k1", expect=0).out)
        trial.require(found["of"] == of, f"get in {name!r} shows {found}")
    trial.run("index", "create", database, first, "n", expect=0)
    shown = trial.run("index", "list", database, second, expect=0).out
    trial.require(shown == b"", f"an index of one collection is listed for the other: {shown!r}")
    trial.run("index", "policy", database, second, "everything", expect=0)
    trial.require(trial.run("index", "policy", database, first, expect=0).out.strip() == b"declared", "the policy of one applies to both")
    trial.run("delete", database, first, "--all", expect=0)
    trial.require(trial.run("count", database, second, expect=0).out == b"2\n", "delete --all affects the other collection")
    trial.run("put", database, second, "k9", "{}", expect=0)
    trial.require(trial.run("count", database, first, expect=0).out == b"0\n", "put affects the other collection")
    trial.run("verify", database, expect=0)


def check_copy(trial: Trial, command: str) -> None:
    database, first, second = two_collections(trial)
    trial.run("index", "create", database, second, "n", expect=0)
    expected = exports(trial, database, [first, second])
    target = trial.path("target.db")
    trial.run(command, database, target, expect=0)
    trial.require(exports(trial, target, [first, second]) == expected, f"{command} changes two collections whose names differ only in Unicode form")
    trial.run("verify", target, expect=0)


@check()
def copy_of_collections(trial: Trial) -> None:
    """copy preserves two collections whose names differ only in Unicode normalization."""
    check_copy(trial, "copy")


@check()
def recover_of_collections(trial: Trial) -> None:
    """recover preserves two collections whose names differ only in Unicode normalization."""
    check_copy(trial, "recover")


@check()
def backup_of_collections(trial: Trial) -> None:
    """backup preserves two collections whose names differ only in Unicode normalization."""
    check_copy(trial, "backup")


@check()
def recover_of_orphans(trial: Trial) -> None:
    """recover without the rows of the catalog keeps two collections whose names differ only in Unicode form separate."""
    database, first, second = two_collections(trial)
    expected = exports(trial, database, [first, second])
    direct_sqlite.execute(trial, database, "DELETE FROM nano_collections")
    target = trial.path("target.db")
    trial.run("recover", database, target)
    found = [[parse(line)["of"] for line in trial.run("find", target, name).lines] for name in (first, second)]
    trial.require(found == [["first"] * 3, ["second"] * 2], f"recover finds {found} instead of {len(expected)} collections")


@check()
def index_names(trial: Trial) -> None:
    """Two Unicode forms of an index name denote different indexes, and dropping a missing one drops nothing."""
    first, second = pair(trial)
    database = trial.path("s.db")
    trial.run("put", database, "c", "k", '{"a":1,"b":2}', expect=0)
    trial.run("index", "create", database, "c", "a", "--name", first, expect=0)
    result = trial.run("index", "drop", database, "c", second)
    trial.require(b"dropped" not in result.out, f"drop of a missing index prints {result.out!r}")
    trial.run("index", "create", database, "c", "b", "--name", second, expect=0)
    names = [row["index"] for row in json.loads(trial.run("index", "list", database, "c", "--json", expect=0).out)]
    trial.require(sorted(names) == sorted([first, second]), f"index list shows {names!r}")
    exported = json.loads(trial.run("index", "export", database, expect=0).out)
    trial.require(len(exported["c"]["indexes"]) == 2, f"index export shows {exported!r}")
    trial.run("index", "drop", database, "c", first, expect=0)
    names = [row["index"] for row in json.loads(trial.run("index", "list", database, "c", "--json", expect=0).out)]
    trial.require(names == [second], f"after a drop index list shows {names!r}")


@check()
def index_export_of_collections(trial: Trial) -> None:
    """index export prints the indexes of two collections whose names differ only in Unicode normalization."""
    database, first, second = two_collections(trial)
    trial.run("index", "create", database, first, "n", expect=0)
    trial.run("index", "create", database, second, "of", expect=0)
    exported = json.loads(trial.run("index", "export", database, expect=0).out, object_pairs_hook=list)
    trial.require(sorted(name for name, _ in exported) == sorted([first, second]), f"index export shows {exported!r}")


@check()
def keys(trial: Trial) -> None:
    """Keys that differ only in Unicode normalization belong to different documents in every command."""
    first, second = pair(trial)
    database = trial.path("s.db")
    lines = '{"id":"%s","n":1}\n{"id":"%s","n":2}\n' % (first, second)
    trial.run("import", database, "c", "-", "--key", "id", input=lines, expect=0)
    shown = trial.run("find", database, "c", "--keys", expect=0).lines
    trial.require([line.decode() for line in shown] == [first, second], f"find --keys shows {shown!r}")
    trial.run("import", database, "c", "-", "--key", "id", "--replace", input=lines.replace('"n":2', '"n":3'), expect=0)
    for key, number in ((first, 1), (second, 3)):
        found = parse(trial.run("get", database, "c", key, expect=0).out)["n"]
        trial.require(found == number, f"get {key!r} shows n = {found}")
        count = trial.run("count", database, "c", "[__key__] = ?", "--text-arg", key, expect=0).out
        trial.require(count == b"1\n", f"[__key__] = {key!r} finds {count!r}")
    trial.run("delete", database, "c", first, expect=0)
    trial.require(parse(trial.run("get", database, "c", second, expect=0).out)["n"] == 3, "delete removes the other document")
    trial.run("get", database, "c", first, expect=2)


@check()
def types(trial: Trial) -> None:
    """Types that differ only in Unicode normalization are distinct in conditions, exports and copies."""
    first, second = pair(trial)
    database = trial.path("s.db")
    trial.run("put", database, "c", "k", "{}", expect=0)
    for number, name in enumerate((first, second)):
        direct_sqlite.execute(trial, database, f"INSERT INTO c(key, type, added, body) VALUES ('t{number}', ?, {direct_sqlite.ADDED}, '{{}}')", [name])
    for name in (first, second):
        count = trial.run("count", database, "c", "[__type__] = ?", "--text-arg", name, expect=0).out
        trial.require(count == b"1\n", f"[__type__] = {name!r} finds {count!r}")
    trial.run("copy", database, trial.path("t.db"), expect=0)
    trial.require(exports(trial, trial.path("t.db"), ["c"]) == exports(trial, database, ["c"]), "copy changes types")
