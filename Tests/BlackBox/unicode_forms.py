# SPDX-License-Identifier: MIT
"""Names that differ only in their Unicode form are two names, in every command."""

import csv
import io
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
    trial.run("remove", database, first, "--all", expect=0)
    trial.require(trial.run("count", database, second, expect=0).out == b"2\n", "remove --all reaches the other collection")
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
def fields_in_one_document(trial: Trial) -> None:
    """put, import and get keep two fields of one name in two Unicode forms."""
    first, second = pair(trial)
    database = trial.path("s.db")
    body = '{"%s":1,"%s":2,"o":{"%s":3,"%s":4}}' % (first, second, second, first)
    for name, arguments, options in (("put", ["k", body], {}), ("import", ["-"], {"input": body})):
        result = trial.run(name, database, name, *arguments, **options)
        trial.require(result.status == 0, f"{name} refuses two fields: {result.reason}")
        shown = trial.run("find", database, name, expect=0).out.decode().strip()
        trial.require(shown == body, f"{name}: find shows {shown!r}")


def two_fields(trial: Trial) -> "tuple[str, str, str]":
    """A collection whose first document has the one field, whose second has the other."""
    first, second = pair(trial)
    database = trial.path("s.db")
    trial.run("put", database, "c", "k1", '{"%s":1}' % first, expect=0)
    trial.run("put", database, "c", "k2", '{"%s":2}' % second, expect=0)
    return database, first, second


@check()
def fields_in_csv(trial: Trial) -> None:
    """find --csv has a column for each of two fields in two Unicode forms."""
    database, first, second = two_fields(trial)
    rows = list(csv.reader(io.StringIO(trial.run("find", database, "c", "--csv", expect=0).out.decode())))
    trial.require(rows == [[first, second], ["1", ""], ["", "2"]], f"find --csv shows {rows!r}")


@check()
def fields_in_a_table(trial: Trial) -> None:
    """find --table has a column for each of two fields in two Unicode forms."""
    database, first, second = two_fields(trial)
    head = trial.run("find", database, "c", "--table", expect=0).out.decode().splitlines()[0].split()
    trial.require(head == [first, second], f"find --table shows the columns {head!r}")


@check()
def fields_chosen(trial: Trial) -> None:
    """--fields chooses the one field or both of two in two Unicode forms."""
    database, first, second = two_fields(trial)
    for chosen, expected in (([first], [{first: 1}, {}]), ([second], [{}, {second: 2}]), ([first, second], [{first: 1}, {second: 2}])):
        shown = trial.run("find", database, "c", "--fields", ",".join(map(quoted, chosen)), expect=0).lines
        found = [parse(line) for line in shown]
        trial.require(found == expected, f"--fields {chosen!r} shows {found!r}")
    rows = list(csv.reader(io.StringIO(
        trial.run("find", database, "c", "--csv", "--fields", quoted(first) + "," + quoted(second), expect=0).out.decode())))
    trial.require(rows[1:] == [["1", ""], ["", "2"]], f"--csv --fields shows {rows!r}")


@check()
def fields_in_schema(trial: Trial) -> None:
    """schema lists two fields in two Unicode forms, each in one document."""
    database, first, second = two_fields(trial)
    found = [(row["path"].strip('"'), row["documents"]) for row in json.loads(trial.run("schema", database, "c", "--json", expect=0).out)]
    trial.require(found == [(first, 1), (second, 1)], f"schema shows {found!r}")


@check()
def fields_in_aggregates(trial: Trial) -> None:
    """aggregate groups, counts and sums two fields in two Unicode forms apart."""
    database, first, second = two_fields(trial)
    rows = trial.run("aggregate", database, "c", "--total", quoted(first), "--total", quoted(second), "--csv", expect=0).lines
    trial.require(rows[1] == b"1,2", f"totals are {rows!r}")
    result = trial.run("aggregate", database, "c", "--group", quoted(first), "--group", quoted(second), "--csv", expect=0)
    trial.require(result.lines[1:] == [b"null,2,1", b"1,null,1"], f"groups are {result.out!r}")
    values = trial.run("aggregate", database, "c", "--total", quoted(first), "--total", quoted(second), expect=0).lines[0]
    trial.require(len(json.loads(values, object_pairs_hook=list)) == 2, f"a row of two columns is {values!r}")


@check()
def fields_in_indexes(trial: Trial) -> None:
    """Indexes on two fields in two Unicode forms are two indexes, listed, exported, used and dropped one by one."""
    database, first, second = two_fields(trial)
    for name in (first, second):
        trial.run("index", "create", database, "c", quoted(name), expect=0)
    found = [row["fields"] for row in json.loads(trial.run("index", "list", database, "c", "--json", expect=0).out)]
    trial.require(len(found) == 2, f"index list shows {found!r}")
    for name, count in ((first, 1), (second, 1)):
        shown = trial.run("count", database, "c", f"[{quoted(name)}] >= 1", expect=0).out
        trial.require(shown == b"%d\n" % count, f"count by {name!r} is {shown!r}")
    exported = json.loads(trial.run("index", "export", database, expect=0).out)
    trial.require(len(exported["c"]["indexes"]) == 2, f"index export shows {exported!r}")
    setup = trial.write("setup.json", json.dumps({"collections": exported}))
    trial.run("configure", trial.path("t.db"), setup, expect=0)
    trial.require(json.loads(trial.run("index", "export", trial.path("t.db"), expect=0).out) == exported, "configure changes them")


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
    trial.run("remove", database, "c", first, expect=0)
    trial.require(parse(trial.run("get", database, "c", second, expect=0).out)["n"] == 3, "remove takes the other document")
    trial.run("get", database, "c", first, expect=2)


@check()
def defaults_and_aliases(trial: Trial) -> None:
    """configure keeps defaults and aliases of two Unicode forms apart, or refuses them for that reason."""
    first, second = pair(trial)
    database = trial.path("s.db")
    setup = '{"collections":{"c":{"defaults":{"%s":1,"%s":2},"aliases":{"%s":"[a]","%s":"[b]"}}}}' % (first, second, first, second)
    result = trial.run("configure", database, trial.write("setup.json", setup))
    if result.status == 1 and b"Unicode" in result.err:
        return  # two such aliases may be refused, for that reason
    trial.require(result.status == 0, f"exit {result.status}: {result.reason}")
    trial.run("put", database, "c", "k", '{"a":7,"b":8}', expect=0)
    for name, number, alias in ((first, 1, 7), (second, 2, 8)):
        count = trial.run("count", database, "c", f"[{quoted(name)}] = {number}", expect=0).out
        trial.require(count == b"1\n", f"the default of {name!r} is not {number}")
        if name.isalpha():
            count = trial.run("count", database, "c", f"{name} = {alias}", expect=0).out
            trial.require(count == b"1\n", f"the alias {name!r} is not {alias}")


@check()
def export_and_import(trial: Trial) -> None:
    """Documents with fields and keys in two Unicode forms survive export and import."""
    first, second = pair(trial)
    database = trial.path("s.db")
    trial.run("put", database, "c", first, '{"a":1}', expect=0)
    trial.run("put", database, "c", second, '{"a":2}', expect=0)
    witness.insert(trial, database, "c", [("both", '{"%s":1,"%s":2}' % (first, second))])
    trial.run("put", database, "c", "next", "{}", expect=0)
    trial.run("verify", database, expect=0)
    exported = trial.run("export", database, "c", expect=0).out
    trial.run("import", trial.path("t.db"), "c", trial.write("e", exported), expect=0)
    trial.require(trial.run("export", trial.path("t.db"), "c", expect=0).out == exported, "a second export differs")


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
