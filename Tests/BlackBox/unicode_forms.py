# SPDX-License-Identifier: MIT
"""Collections, indexes, keys and types whose names differ only in their Unicode form are two, in every command."""

import json
from typing import List

import witness
from harness import Trial, check
from values import parse

# Each pair is canonically equivalent and differs in bytes.
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
    """collections lists two collections of one name in two Unicode forms, each with its documents."""
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
def collections_stay_apart(trial: Trial) -> None:
    """Every command on one of two collections in two Unicode forms leaves the other one alone."""
    database, first, second = two_collections(trial)
    for name, of, count in ((first, "first", 3), (second, "second", 2)):
        lines = [parse(line) for line in trial.run("find", database, name, expect=0).lines]
        trial.require([document["of"] for document in lines] == [of] * count, f"find in {name!r} shows {lines}")
        trial.require(trial.run("count", database, name, "[n] >= 0", expect=0).out == b"%d\n" % count, f"count of {name!r}")
        found = json.loads(trial.run("get", database, name, "k1", expect=0).out)
        trial.require(found["of"] == of, f"get in {name!r} shows {found}")
    trial.run("index", "create", database, first, "n", expect=0)
    shown = trial.run("index", "list", database, second, expect=0).out
    trial.require(shown == b"", f"an index of the one is listed at the other: {shown!r}")
    trial.run("index", "policy", database, second, "everything", expect=0)
    trial.require(trial.run("index", "policy", database, first, expect=0).out.strip() == b"declared", "the policy of one is that of both")
    trial.run("delete", database, first, "--all", expect=0)
    trial.require(trial.run("count", database, second, expect=0).out == b"2\n", "delete --all reaches the other collection")
    trial.run("put", database, second, "k9", "{}", expect=0)
    trial.require(trial.run("count", database, first, expect=0).out == b"0\n", "put reaches the other collection")
    trial.run("verify", database, expect=0)


def out(trial: Trial, command: str) -> None:
    database, first, second = two_collections(trial)
    trial.run("index", "create", database, second, "n", expect=0)
    expected = exports(trial, database, [first, second])
    target = trial.path("target.db")
    trial.run(command, database, target, expect=0)
    trial.require(exports(trial, target, [first, second]) == expected, f"{command} changes two collections of one name in two forms")
    trial.run("verify", target, expect=0)


@check()
def copy_of_collections(trial: Trial) -> None:
    """copy copies two collections of one name in two Unicode forms."""
    out(trial, "copy")


@check()
def recover_of_collections(trial: Trial) -> None:
    """recover saves two collections of one name in two Unicode forms, each with its documents."""
    out(trial, "recover")


@check()
def backup_of_collections(trial: Trial) -> None:
    """backup copies two collections of one name in two Unicode forms."""
    out(trial, "backup")


@check()
def recover_of_orphans(trial: Trial) -> None:
    """recover without the catalogue's rows keeps documents of two Unicode forms apart."""
    database, first, second = two_collections(trial)
    expected = exports(trial, database, [first, second])
    witness.execute(trial, database, "DELETE FROM nano_collections")
    target = trial.path("target.db")
    trial.run("recover", database, target)
    found = [[parse(line)["of"] for line in trial.run("find", target, name).lines] for name in (first, second)]
    trial.require(found == [["first"] * 3, ["second"] * 2], f"recover finds {found} instead of {len(expected)} collections")


@check()
def index_names(trial: Trial) -> None:
    """Indexes named alike in two Unicode forms are two; one that does not exist is not dropped."""
    first, second = pair(trial)
    database = trial.path("s.db")
    trial.run("put", database, "c", "k", '{"a":1,"b":2}', expect=0)
    trial.run("index", "create", database, "c", "a", "--name", first, expect=0)
    result = trial.run("index", "drop", database, "c", second)
    trial.require(b"dropped" not in result.out, f"drop of a missing index says {result.out!r}")
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
    """index export declares the indexes of two collections in two Unicode forms."""
    database, first, second = two_collections(trial)
    trial.run("index", "create", database, first, "n", expect=0)
    trial.run("index", "create", database, second, "of", expect=0)
    exported = json.loads(trial.run("index", "export", database, expect=0).out, object_pairs_hook=list)
    trial.require(sorted(name for name, _ in exported) == sorted([first, second]), f"index export shows {exported!r}")


@check()
def keys(trial: Trial) -> None:
    """Keys in two Unicode forms belong to two documents, in every command."""
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
    trial.require(parse(trial.run("get", database, "c", second, expect=0).out)["n"] == 3, "remove takes the other document")
    trial.run("get", database, "c", first, expect=2)


@check()
def types(trial: Trial) -> None:
    """Types in two Unicode forms are two in conditions, exports and copies."""
    first, second = pair(trial)
    database = trial.path("s.db")
    trial.run("put", database, "c", "k", "{}", expect=0)
    for number, name in enumerate((first, second)):
        witness.execute(trial, database, f"INSERT INTO c(key, type, added, body) VALUES ('t{number}', ?, {witness.ADDED}, '{{}}')", [name])
    for name in (first, second):
        count = trial.run("count", database, "c", "[__type__] = ?", "--text-arg", name, expect=0).out
        trial.require(count == b"1\n", f"[__type__] = {name!r} finds {count!r}")
    trial.run("copy", database, trial.path("t.db"), expect=0)
    trial.require(exports(trial, trial.path("t.db"), ["c"]) == exports(trial, database, ["c"]), "copy changes types")
