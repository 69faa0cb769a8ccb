# SPDX-License-Identifier: MIT
"""Field names that differ only in Unicode normalization are distinct in every command."""

import csv
import io
import json

import direct_sqlite
from harness import Trial, check
from unicode_forms import pair, quoted
from values import parse


@check()
def fields_in_one_document(trial: Trial) -> None:
    """put, import and find preserve two fields whose names differ only in Unicode normalization."""
    first, second = pair(trial)
    database = trial.path("s.db")
    body = '{"%s":1,"%s":2,"o":{"%s":3,"%s":4}}' % (first, second, second, first)
    for name, arguments, options in (("put", ["k", body], {}), ("import", ["-"], {"input": body})):
        result = trial.run(name, database, name, *arguments, **options)
        trial.require(result.status == 0, f"{name} rejects two fields: {result.reason}")
        shown = trial.run("find", database, name, expect=0).out.decode().strip()
        trial.require(shown == body, f"{name}: find prints {shown!r}")


def two_fields(trial: Trial) -> "tuple[str, str, str]":
    """Creates a collection with one field in the first document and the other in the second."""
    first, second = pair(trial)
    database = trial.path("s.db")
    trial.run("put", database, "c", "k1", '{"%s":1}' % first, expect=0)
    trial.run("put", database, "c", "k2", '{"%s":2}' % second, expect=0)
    return database, first, second


@check()
def fields_in_csv(trial: Trial) -> None:
    """find --csv prints a column for each of two Unicode forms of a field name."""
    database, first, second = two_fields(trial)
    rows = list(csv.reader(io.StringIO(trial.run("find", database, "c", "--csv", expect=0).out.decode())))
    trial.require(rows == [[first, second], ["1", ""], ["", "2"]], f"find --csv shows {rows!r}")


@check()
def fields_in_a_table(trial: Trial) -> None:
    """find --table prints a column for each of two Unicode forms of a field name."""
    database, first, second = two_fields(trial)
    head = trial.run("find", database, "c", "--table", expect=0).out.decode().splitlines()[0].split()
    trial.require(head == [first, second], f"find --table shows the columns {head!r}")


@check()
def selected_fields(trial: Trial) -> None:
    """--fields selects either or both of two Unicode forms of a field name."""
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
    """schema lists two Unicode forms of a field name separately."""
    database, first, second = two_fields(trial)
    found = [(row["path"].strip('"'), row["documents"]) for row in json.loads(trial.run("schema", database, "c", "--json", expect=0).out)]
    trial.require(found == [(first, 1), (second, 1)], f"schema shows {found!r}")


@check()
def fields_in_aggregates(trial: Trial) -> None:
    """aggregate groups and sums two Unicode forms of a field name separately."""
    database, first, second = two_fields(trial)
    rows = trial.run("aggregate", database, "c", "--sum", quoted(first), "--sum", quoted(second), "--csv", expect=0).lines
    trial.require(rows[1] == b"1,2", f"totals are {rows!r}")
    result = trial.run("aggregate", database, "c", "--group", quoted(first), "--group", quoted(second), "--csv", expect=0)
    trial.require(result.lines[1:] == [b"null,2,1", b"1,null,1"], f"groups are {result.out!r}")
    values = trial.run("aggregate", database, "c", "--sum", quoted(first), "--sum", quoted(second), expect=0).lines[0]
    trial.require(len(json.loads(values, object_pairs_hook=list)) == 2, f"a row of two columns is {values!r}")


@check()
def fields_in_indexes(trial: Trial) -> None:
    """Indexes on two Unicode forms of a field name are listed, used, exported and configured separately."""
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
def defaults_and_aliases(trial: Trial) -> None:
    """configure keeps defaults and aliases in two Unicode forms separate, or rejects them for that reason."""
    first, second = pair(trial)
    database = trial.path("s.db")
    setup = '{"collections":{"c":{"defaults":{"%s":1,"%s":2},"aliases":{"%s":"[a]","%s":"[b]"}}}}' % (first, second, first, second)
    result = trial.run("configure", database, trial.write("setup.json", setup))
    if result.status == 1 and b"Unicode" in result.err:
        return  # such aliases may be rejected for that reason
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
    """Documents with field names and keys in two Unicode forms survive export and import."""
    first, second = pair(trial)
    database = trial.path("s.db")
    trial.run("put", database, "c", first, '{"a":1}', expect=0)
    trial.run("put", database, "c", second, '{"a":2}', expect=0)
    direct_sqlite.insert(trial, database, "c", [("both", '{"%s":1,"%s":2}' % (first, second))])
    trial.run("put", database, "c", "next", "{}", expect=0)
    trial.run("verify", database, expect=0)
    exported = trial.run("export", database, "c", expect=0).out
    trial.run("import", trial.path("t.db"), "c", trial.write("e", exported), expect=0)
    trial.require(trial.run("export", trial.path("t.db"), "c", expect=0).out == exported, "a second export differs")
