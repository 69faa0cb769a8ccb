# SPDX-License-Identifier: MIT
"""Rows of other programs, spelled in any way that docs/SCHEMA.md allows, are found like our own."""

import json
from typing import Any, Dict, List, Tuple

import meaning
import spelling
import witness
from harness import Trial, check
from values import Data, parse, same

Documents = List[Tuple[str, Dict[str, Any]]]
PATHS = [(name,) for name in spelling.NAMES] + [("o", "a"), ("o", "größe"), ("a", "b"), ("tags", "größe")]


def indexed(trial: Trial, database: str, kind: str) -> None:
    """Makes collection `c` with indexes of a kind on fields that the documents have."""
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


def questions(trial: Trial, documents: Documents, count: int) -> "List[Tuple[str, meaning.Test]]":
    """Random conditions, most of them on values that some document has."""
    found = []
    while len(found) < count:
        path = trial.rng.choice(PATHS)
        values = [value for _, document in documents for value in meaning.reached(document, path)
                  if meaning.literal(value) is not None]
        kind = trial.rng.randrange(10)
        if kind == 0:
            condition = meaning.is_null(path)
        elif kind == 1:
            condition = meaning.exists(path)
        elif kind == 2:
            condition = meaning.begins(path, trial.rng.choice(["g", "", "größ", "日", "https"]))
        elif values:
            operator = trial.rng.choice(["=", "=", "=", "<", ">=", "!="])
            condition = meaning.comparison(path, operator, trial.rng.choice(values))
        else:
            continue
        found.append(meaning.opposite(condition) if trial.rng.random() < 0.15 else condition)
    return found


def ask(trial: Trial, database: str, documents: Documents, asked: "List[Tuple[str, meaning.Test]]", when: str) -> None:
    for text, holds in asked:
        expected = [key for key, document in documents if holds(document)]
        found = [line.decode() for line in trial.run("find", database, "c", text, "--keys", expect=0).lines]
        if found != expected:
            extra = {key: json.dumps(repr(document)) for key, document in documents if (key in found) != (key in expected)}
            trial.fail(f"{when}: {text} finds {found} instead of {expected}; {extra}")


def sort(trial: Trial, database: str, documents: Documents, when: str) -> None:
    path = trial.rng.choice(PATHS)
    descending = trial.rng.random() < 0.5
    field = meaning.bracketed(path)[1:-1]
    expected = meaning.sorted_by(documents, path, descending)
    result = trial.run("find", database, "c", "--sort", field + (":desc" if descending else ""), "--keys", expect=0)
    found = [line.decode() for line in result.lines]
    trial.require(found == expected, f"{when}: sorted by {field} desc={descending}: {found} instead of {expected}")


def contents(trial: Trial, database: str, documents: Documents, when: str) -> None:
    lines = trial.run("find", database, "c", expect=0).lines
    trial.require(len(lines) == len(documents), f"{when}: find shows {len(lines)} lines for {len(documents)} documents")
    for line, (key, document) in zip(lines, documents):
        trial.require(same(parse(line), document), f"{when}: {key} is {line!r} instead of {document!r}")


def ask_everything(trial: Trial, database: str, documents: Documents, count: int, when: str) -> None:
    ask(trial, database, documents, questions(trial, documents, count), when)
    sort(trial, database, documents, when)
    contents(trial, database, documents, when)


def trip(trial: Trial, kind: str) -> None:
    """Asks the same before our next write, after it, after a rebuild and in a copy by export and import."""
    database = trial.path("s.db")
    indexed(trial, database, kind)
    documents: Documents = [("ours", {"ours": True})]
    added: Documents = []
    for number in range(10 if trial.short else 40):
        added.append((f"k{number}", spelling.document(trial.rng)))
    added.append(("adjacent", {"größe": 5, "a": Data(b"\x00\xff"), "o": {"größe": "größe"}}))
    witness.insert(trial, database, "c", [(key, spelling.Speller(trial.rng).write(document)) for key, document in added])
    documents += added
    count = 5 if trial.short else 25
    asked = questions(trial, documents, count) + [
        meaning.comparison(("größe",), "=", 5), meaning.comparison(("a",), "=", Data(b"\x00\xff"))]
    ask(trial, database, documents, asked, "before our next write")
    contents(trial, database, documents, "before our next write")
    trial.run("put", database, "c", "next", '{"a":1}', expect=0)
    documents.append(("next", {"a": 1}))
    ask(trial, database, documents, asked, "after our next write")
    ask_everything(trial, database, documents, count, "after our next write")
    trial.run("verify", database, expect=0)
    trial.run("index", "rebuild", database, "c", expect=0)
    ask(trial, database, documents, asked, "after rebuilding")
    exported = trial.run("export", database, "c", expect=0).out
    other = trial.path("other.db")
    indexed(trial, other, kind)
    trial.run("delete", other, "c", "--all", expect=0)
    trial.run("import", other, "c", trial.write("exported", exported), expect=0)
    ask_everything(trial, other, documents, count, "after export and import")
    trial.require(trial.run("export", other, "c", expect=0).out == exported, "a second export differs from the first")


@check()
def without_indexes(trial: Trial) -> None:
    """Any spelling of another program is found as the same document spelled by us."""
    trip(trial, "none")


@check()
def field_indexes(trial: Trial) -> None:
    """Indexes on fields find every spelling of another program."""
    trip(trial, "fields")


@check()
def element_indexes(trial: Trial) -> None:
    """Indexes on elements find every spelling of another program."""
    trip(trial, "elements")


@check()
def everything_indexed(trial: Trial) -> None:
    """The table of all leaves finds every spelling of another program."""
    trip(trial, "everything")


@check(short=False)
def beside_text_indexes(trial: Trial) -> None:
    """Text indexes on the fields change no answer about spellings of another program."""
    trip(trial, "words")


@check()
def text_search(trial: Trial) -> None:
    """Full-text search finds words in texts and names that another program escaped, before and after our next write."""
    database = trial.path("s.db")
    indexed(trial, database, "words")
    expected = []
    rows = []
    for number in range(6 if trial.short else 30):
        words = [trial.rng.choice(["gin", "tonic", "größe", "ärger"]) for _ in range(3)]
        document: Dict[str, Any] = {"größe": trial.rng.choice([" ".join(words), [" / ".join(words), "x"]])}
        rows.append((f"k{number}", spelling.Speller(trial.rng).write(document)))
        if "gin" in words:
            expected.append(f"k{number}")
    rows += [("plain", '{"gr\\u00f6\\u00dfe":"gin \\u0061nd tonic"}'), ("object", '{"o":{"gr\\u00f6\\u00dfe":"g\\u0069n"}}')]
    witness.insert(trial, database, "c", rows)
    for when in ("before our next write", "after our next write", "after rebuilding"):
        for index, keys in (("w", expected + ["plain", "object"]), ("s", expected + ["plain"])):
            result = trial.run("search", database, "c", "gin", "--index", index, expect=0)
            found = sorted(json.loads(line)["key"] for line in result.lines)
            trial.require(found == sorted(keys), f"{when}: index {index} finds {found} instead of {sorted(keys)}")
        command = ["put", database, "c", "next", '{"a":1}'] if when.startswith("before") else ["index", "rebuild", database, "c"]
        trial.run(*command, expect=0)
    trial.run("verify", database, expect=0)
