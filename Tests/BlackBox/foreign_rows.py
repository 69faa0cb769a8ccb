# SPDX-License-Identifier: MIT
"""Queries find rows of other programs in every JSON variant that docs/SCHEMA.md allows."""

import json
from typing import Any, Dict, List, Tuple

import direct_sqlite
import json_variants
import semantics
from harness import Trial, check
from values import Data, parse, same

Documents = List[Tuple[str, Dict[str, Any]]]
PATHS = [(name,) for name in json_variants.NAMES] + [("o", "a"), ("o", "größe"), ("a", "b"), ("tags", "größe")]


def indexed(trial: Trial, database: str, kind: str) -> None:
    """Creates collection `c` with a kind of indexes on fields of the documents."""
    trial.run("put", database, "c", "ours", '{"ours":true}', expect=0)
    fields = ["a", '"größe"', '"日本"', "o.a", 'o."größe"', '"$price"', '"naïve"', "b"]
    if kind == "fields":
        for field in fields:
            trial.run("index", "create", database, "c", field, "--whole-values", expect=0)
        trial.run("index", "create", database, "c", '"größe"', "a:desc", expect=0)
    elif kind == "elements":
        for field in fields:
            trial.run("index", "create", database, "c", field, "--elements", expect=0)
    elif kind == "everything":
        trial.run("index", "policy", database, "c", "everything", expect=0)
    elif kind == "words":
        trial.run("index", "text", database, "c", "a", '"größe"', 'o."größe"', "--name", "w", expect=0)
        trial.run("index", "text", database, "c", '"größe"', "--substrings", "--name", "s", expect=0)


def random_queries(trial: Trial, documents: Documents, count: int) -> "List[Tuple[str, semantics.Test]]":
    """Returns random conditions, mostly on values that some document contains."""
    found = []
    while len(found) < count:
        path = trial.rng.choice(PATHS)
        values = [value for _, document in documents for value in semantics.reached(document, path)
                  if semantics.literal(value) is not None]
        kind = trial.rng.randrange(10)
        if kind == 0:
            condition = semantics.is_null(path)
        elif kind == 1:
            condition = semantics.exists(path)
        elif kind == 2:
            condition = semantics.begins(path, trial.rng.choice(["g", "", "größ", "日", "https"]))
        elif values:
            operator = trial.rng.choice(["=", "=", "=", "<", ">=", "!="])
            condition = semantics.comparison(path, operator, trial.rng.choice(values))
        else:
            continue
        found.append(semantics.opposite(condition) if trial.rng.random() < 0.15 else condition)
    return found


def check_queries(trial: Trial, database: str, documents: Documents, queries: "List[Tuple[str, semantics.Test]]", when: str) -> None:
    for text, holds in queries:
        expected = [key for key, document in documents if holds(document)]
        found = [line.decode() for line in trial.run("find", database, "c", text, "--keys", expect=0).lines]
        if found != expected:
            extra = {key: json.dumps(repr(document)) for key, document in documents if (key in found) != (key in expected)}
            trial.fail(f"{when}: {text} finds {found} instead of {expected}; {extra}")


def check_order(trial: Trial, database: str, documents: Documents, when: str) -> None:
    path = trial.rng.choice(PATHS)
    descending = trial.rng.random() < 0.5
    field = semantics.bracketed(path)[1:-1]
    expected = semantics.sorted_by(documents, path, descending)
    result = trial.run("find", database, "c", "--sort", field + (":desc" if descending else ""), "--keys", expect=0)
    found = [line.decode() for line in result.lines]
    trial.require(found == expected, f"{when}: sorted by {field} desc={descending}: {found} instead of {expected}")


def check_contents(trial: Trial, database: str, documents: Documents, when: str) -> None:
    lines = trial.run("find", database, "c", expect=0).lines
    trial.require(len(lines) == len(documents), f"{when}: find prints {len(lines)} lines for {len(documents)} documents")
    for line, (key, document) in zip(lines, documents):
        trial.require(same(parse(line), document), f"{when}: {key} is {line!r} instead of {document!r}")


def check_everything(trial: Trial, database: str, documents: Documents, count: int, when: str) -> None:
    check_queries(trial, database, documents, random_queries(trial, documents, count), when)
    check_order(trial, database, documents, when)
    check_contents(trial, database, documents, when)


def check_round_trip(trial: Trial, kind: str) -> None:
    """Runs the same queries before and after the tool's next write, after a rebuild, and in an imported copy."""
    database = trial.path("s.db")
    indexed(trial, database, kind)
    documents: Documents = [("ours", {"ours": True})]
    added: Documents = []
    for number in range(10 if trial.short else 40):
        added.append((f"k{number}", json_variants.document(trial.rng)))
    added.append(("adjacent", {"größe": 5, "a": Data(b"\x00\xff"), "o": {"größe": "größe"}}))
    direct_sqlite.insert(trial, database, "c", [(key, json_variants.VariantWriter(trial.rng).write(document)) for key, document in added])
    documents += added
    count = 5 if trial.short else 25
    queries = random_queries(trial, documents, count) + [
        semantics.comparison(("größe",), "=", 5), semantics.comparison(("a",), "=", Data(b"\x00\xff"))]
    check_queries(trial, database, documents, queries, "before the next write")
    check_contents(trial, database, documents, "before the next write")
    trial.run("put", database, "c", "next", '{"a":1}', expect=0)
    documents.append(("next", {"a": 1}))
    check_queries(trial, database, documents, queries, "after the next write")
    check_everything(trial, database, documents, count, "after the next write")
    trial.run("verify", database, expect=0)
    trial.run("index", "rebuild", database, "c", expect=0)
    check_queries(trial, database, documents, queries, "after rebuilding")
    exported = trial.run("export", database, "c", expect=0).out
    other = trial.path("other.db")
    indexed(trial, other, kind)
    trial.run("delete", other, "c", "--all", expect=0)
    trial.run("import", other, "c", trial.write("exported", exported), expect=0)
    check_everything(trial, other, documents, count, "after export and import")
    trial.require(trial.run("export", other, "c", expect=0).out == exported, "a second export differs from the first")


@check()
def without_indexes(trial: Trial) -> None:
    """Queries without indexes find every JSON variant of another program."""
    check_round_trip(trial, "none")


@check()
def field_indexes(trial: Trial) -> None:
    """Indexes on fields find every JSON variant of another program."""
    check_round_trip(trial, "fields")


@check()
def element_indexes(trial: Trial) -> None:
    """Indexes on elements find every JSON variant of another program."""
    check_round_trip(trial, "elements")


@check()
def everything_indexed(trial: Trial) -> None:
    """The everything index finds every JSON variant of another program."""
    check_round_trip(trial, "everything")


@check(short=False)
def with_text_indexes(trial: Trial) -> None:
    """Text indexes on the fields do not change query results for JSON variants of another program."""
    check_round_trip(trial, "words")


@check()
def text_search(trial: Trial) -> None:
    """Full-text search finds words in strings and names that another program escaped, before and after the tool's next write."""
    database = trial.path("s.db")
    indexed(trial, database, "words")
    expected = []
    rows = []
    for number in range(6 if trial.short else 30):
        words = [trial.rng.choice(["gin", "tonic", "größe", "ärger"]) for _ in range(3)]
        document: Dict[str, Any] = {"größe": trial.rng.choice([" ".join(words), [" / ".join(words), "x"]])}
        rows.append((f"k{number}", json_variants.VariantWriter(trial.rng).write(document)))
        if "gin" in words:
            expected.append(f"k{number}")
    rows += [("plain", '{"gr\\u00f6\\u00dfe":"gin \\u0061nd tonic"}'), ("object", '{"o":{"gr\\u00f6\\u00dfe":"g\\u0069n"}}')]
    direct_sqlite.insert(trial, database, "c", rows)
    for when in ("before the next write", "after the next write", "after rebuilding"):
        for index, keys in (("w", expected + ["plain", "object"]), ("s", expected + ["plain"])):
            result = trial.run("search", database, "c", "gin", "--index", index, expect=0)
            found = sorted(json.loads(line)["key"] for line in result.lines)
            trial.require(found == sorted(keys), f"{when}: index {index} finds {found} instead of {sorted(keys)}")
        command = ["put", database, "c", "next", '{"a":1}'] if when.startswith("before") else ["index", "rebuild", database, "c"]
        trial.run(*command, expect=0)
    trial.run("verify", database, expect=0)
