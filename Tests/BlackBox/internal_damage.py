# SPDX-License-Identifier: MIT
"""Damaged internal tables: no command crashes or hangs, and a result with exit 0 is correct or verify reports damage."""

import json
import os
import shutil
from typing import Any, Dict, List, Tuple

import direct_sqlite
import page_damage
from harness import Skipped, Trial, check
from values import from_pairs, same

KEPT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "NanoStressTests", "Kept", "format-1")

INVALID_VALUES: List[Any] = [
    None, "", "garbage", "\u00e9\u0000x", b"\xff\x00", -1, 0, 7, 2**62, 2**63 - 1, -(2**63), 1e300, "[[", "[]", "{}", "[[1]]", '[["a","up"]]',
    '[[""]]', '[["a"],["a"]]', '{"defaults":5}', '{"aliases":{"a":5}}', "fields", "everything", "words", "x" * 5000]

COMMANDS: List[List[str]] = [
    ["collections", "FILE"], ["stats", "FILE"], ["schema", "FILE", "films"], ["schema", "FILE", "everything"],
    ["aggregate", "FILE", "films", "--group", "year", "--count"], ["index", "list", "FILE", "films"], ["index", "export", "FILE"],
    ["index", "advise", "FILE"], ["index", "policy", "FILE", "films"], ["explain", "FILE", "films", "[year] = 1985"],
    ["search", "FILE", "films", "fly", "--index", "title_plot_text"], ["get", "FILE", "films", "ran"],
    ["sql", "FILE", "SELECT * FROM films"], ["find", "FILE", "films", "--sort", "title:desc", "--table"], ["find", "FILE", "none"]]

WRITING: List[List[str]] = [
    ["put", "FILE", "films", "new", '{"title":"New","code":"n"}'], ["delete", "FILE", "films", "ran"], ["index", "rebuild", "FILE", "films"],
    ["index", "create", "FILE", "films", "plot"], ["put", "FILE", "more", "k", "{}"], ["compact", "FILE"], ["index", "drop", "FILE", "films", "year"]]


def sample(trial: Trial) -> Tuple[str, Dict[str, List[Any]]]:
    """Copies a sample file that uses most features; returns it with its recorded documents."""
    name = trial.rng.choice(["plain", "plain", "utf16"])
    if not os.path.exists(os.path.join(KEPT, name + ".db")):
        raise Skipped("requires the sample files of Tests/NanoStressTests")
    for old in trial.files():
        os.remove(os.path.join(os.fsencode(trial.folder), old))
    database = trial.path("s.db")
    shutil.copyfile(os.path.join(KEPT, name + ".db"), database)
    trial.note(f"cp Tests/NanoStressTests/Kept/format-1/{name}.db {database}")
    with open(os.path.join(KEPT, name + ".json"), encoding="utf-8") as file:
        record = json.load(file, object_pairs_hook=lambda pairs: from_pairs(
            [("$" + name if name.startswith("$") and not is_form(pairs) else name, value) for name, value in pairs]))
    contents = {name: [row["fields"] for row in collection["documents"]] for name, collection in record["collections"].items()}
    return database, contents


def is_form(pairs: "List[tuple[str, Any]]") -> bool:
    names = {name for name, _ in pairs}
    return bool(names) and names <= {"$date", "$binary", "$url", "$numberDouble", "$interval", "$base"}


def judge(trial: Trial, database: str, contents: Dict[str, List[Any]]) -> None:
    """Runs reading commands, and compares results with exit 0 with the expected documents."""
    limits = {"megabytes": 1500, "timeout": 30.0 if trial.short else 60.0}
    wrong = []
    for collection in ("films", "everything", "log"):
        queries: List[Tuple[List[str], Any]] = [
            (["find", database, collection], contents[collection]),
            (["export", database, collection, "--no-header"], contents[collection]),
            (["count", database, collection], len(contents[collection]))]
        if collection == "films":
            queries += [(["find", database, collection, "[year] = 1985"], [row for row in contents["films"] if row.get("year") == 1985]),
                          (["find", database, collection, "[genres] = 'war'"], [row for row in contents["films"] if "war" in row.get("genres", [])])]
        if collection == "everything":
            queries.append((["count", database, collection, "[a.b] = 'two'"], 2))
        for arguments, expected in trial.rng.sample(queries, 2) if trial.short else queries:
            result = trial.run(*arguments, **limits)
            if result.status != 0 or b"note: There is no collection" in result.err:
                continue
            found = int(result.out) if isinstance(expected, int) else [parse_line(line) for line in result.lines]
            if not same(found, expected):
                wrong.append(f"{' '.join(arguments[:1] + arguments[2:])} prints {str(found)[:120]}")
    for arguments in [COMMANDS[0], *trial.rng.sample(COMMANDS[1:], 3)] if trial.short else COMMANDS:
        trial.run(*[database if word == "FILE" else word for word in arguments], **limits)
    verdict = trial.run("verify", database, **limits)
    if wrong and verdict.status == 0:
        trial.fail(f"incorrect with exit 0, and verify reports no problems: {'; '.join(wrong)}")
    saved = trial.path("saved.db")
    trial.run("recover", database, saved, "--force", **limits)
    if os.path.exists(saved):
        trial.run("verify", saved, expect=0)
    trial.run("copy", database, trial.path("copied.db"), **limits)
    for arguments in trial.rng.sample(WRITING, 2 if trial.short else 4):
        trial.run(*[database if word == "FILE" else word for word in arguments], **limits)


def parse_line(line: bytes) -> Any:
    return json.loads(line, object_pairs_hook=from_pairs)


@check()
def undamaged_sample(trial: Trial) -> None:
    """Without damage, every result is correct and verify reports no problems."""
    database, contents = sample(trial)
    judge(trial, database, contents)


@check()
def invalid_values_in_columns(trial: Trial) -> None:
    """An invalid value in a column of an internal table causes no crash and no undetected incorrect result."""
    for _ in range(2 if trial.short else 8):
        del trial.log[:]
        database, contents = sample(trial)
        table = trial.rng.choice(page_damage.INTERNAL)
        columns = [row[1] for row in direct_sqlite.rows(database, f"PRAGMA table_info({table})")]
        rows = direct_sqlite.rows(database, f"SELECT * FROM {table}")
        if not rows:
            continue
        row = trial.rng.choice(rows)
        column = trial.rng.choice(columns)
        where = " AND ".join(f'"{name}" IS ?' for name in columns)
        try:
            direct_sqlite.execute(trial, database, f'UPDATE OR REPLACE {table} SET "{column}" = ? WHERE {where}', [trial.rng.choice(INVALID_VALUES), *row])
        except Exception as error:  # rejected by a constraint of the table
            trial.note(f"({error})")
            continue
        judge(trial, database, contents)


@check()
def damaged_pages(trial: Trial) -> None:
    """A damaged page of an internal table causes no crash, no hang and no undetected incorrect result."""
    for _ in range(2 if trial.short else 10):
        del trial.log[:]
        database, contents = sample(trial)
        found = page_damage.roots(database)
        name = trial.rng.choice([table for table in page_damage.INTERNAL if table in found] + trial.rng.sample(sorted(found), 1))
        damage = trial.rng.choice(page_damage.DAMAGES)
        content = damage(trial.rng, database, page_damage.read(database, found[name]))
        page_damage.write(database, found[name], bytes(content))
        trial.note(f"{damage.__name__.replace('_', ' ')} on page {found[name]}, the first of {name}: bytes {bytes(content).hex()[:48]}…")
        judge(trial, database, contents)


@check()
def duplicate_rows(trial: Trial) -> None:
    """A duplicate row in an internal table causes no crash."""
    tables = ["nano_collections", "nano_indexes", "nano_paths", "nano_metadata", "nano_index_ledger"]
    for table in [tables[0], trial.rng.choice(tables[1:])] if trial.short else tables:
        database, contents = sample(trial)
        page = page_damage.roots(database)[table]
        content = page_damage.duplicate_row(trial.rng, database, page_damage.read(database, page))
        page_damage.write(database, page, bytes(content))
        trial.note(f"two cell pointers of page {page}, the first of {table}, made equal")
        judge(trial, database, contents)


@check()
def exchanged_pages(trial: Trial) -> None:
    """Internal tables whose pages were overwritten with pages of other internal tables cause no crash."""
    tables = ["nano_collections", "nano_indexes", "nano_paths", "nano_metadata"]
    pairs = [(into, of) for into in tables for of in [*tables, "nano_elements_films_genres_elements"] if into != of]
    for into, of in [*trial.rng.sample(pairs, 1), ("nano_collections", "nano_indexes")] if trial.short else pairs:
        database, contents = sample(trial)
        found = page_damage.roots(database)
        page_damage.write(database, found[into], bytes(page_damage.read(database, found[of])))
        trial.note(f"dd if={database} of={database} bs=4096 count=1 conv=notrunc skip={found[of] - 1} seek={found[into] - 1}  # {of} over {into}")
        judge(trial, database, contents)
