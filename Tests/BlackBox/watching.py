# SPDX-License-Identifier: MIT
"""watch prints every change once, nothing else, and exits when its file is deleted or replaced."""

import json
import os
import shutil
import time
from typing import Any, Dict, List, Tuple

import direct_sqlite
import json_variants
from harness import Trial, check
from tool import Background
from values import parse, stored

PATIENCE = 300.0
Result = List[Tuple[int, Tuple[str, Any]]]  # row IDs, keys and documents


def lines(watcher: Background) -> List[Dict[str, Any]]:
    return [json.loads(line) for line in watcher.written().split(b"\n")[:-1]]


def until(trial: Trial, watcher: Background, holds: Any, what: str) -> None:
    if not watcher.wait_for(lambda _: holds(lines(watcher)), PATIENCE):
        trial.fail(f"{what} is not printed within {PATIENCE:g} seconds: {watcher.written()[-300:]!r}")


def started(trial: Trial, database: str, count: int, *more: str) -> Background:
    watcher = trial.start("watch", database, "c", *more)
    until(trial, watcher, lambda seen: len(seen) >= count, f"the initial result of {count} lines")
    return watcher


@check()
def adoption_is_not_a_change(trial: Trial) -> None:
    """A foreign row that an unrelated write adopts is not reported as changed."""
    database = trial.path("s.db")
    trial.run("put", database, "c", "ours", '{"a":1}', expect=0)
    for kind in ("none", "everything"):
        if kind == "everything":
            trial.run("index", "policy", database, "c", "everything", expect=0)
        rows = [(f"{kind}{number}", json_variants.VariantWriter(trial.rng).write(json_variants.document(trial.rng))) for number in range(5)]
        count = len(trial.run("find", database, "c", "--keys").lines)
        direct_sqlite.insert(trial, database, "c", rows)
        watcher = started(trial, database, count + len(rows))
        trial.run("put", database, "c", "next" + kind, '{"next":1}', expect=0)
        until(trial, watcher, lambda seen: any(line["key"] == "next" + kind for line in seen), "the write by the tool")
        direct_sqlite.insert(trial, database, "c", [("later" + kind, '{ "later" : 1 }')])
        until(trial, watcher, lambda seen: any(line["key"] == "later" + kind for line in seen), "a foreign row")
        trial.run("put", database, "c", "last" + kind, '{"last":1}', expect=0)
        until(trial, watcher, lambda seen: any(line["key"] == "last" + kind for line in seen), "the second write by the tool")
        time.sleep(0.3)
        changed = [line for line in lines(watcher) if line["change"] not in ("found", "inserted")]
        watcher.kill()
        trial.require(not changed, f"an adopted row is reported as {changed[:2]}")


@check()
def lines_reproduce_result(trial: Trial) -> None:
    """The lines of watch, applied in order, reproduce the contents of the store, even after writes by other programs."""
    database = trial.path("s.db")
    model: Dict[str, Dict[str, Any]] = {}
    trial.run("put", database, "c", "k0", '{"a":0}', expect=0)
    model["k0"] = {"a": 0}
    watcher = started(trial, database, 1, "--sort", "a")
    for step in range(15 if trial.short else 120):
        key = f"k{trial.rng.randrange(6)}"
        kind = trial.rng.randrange(4)
        fields = {"a": trial.rng.randrange(20), "s": step}
        if kind == 0 and key in model:
            trial.run("delete", database, "c", key, expect=0)
            del model[key]
        elif kind == 1 and key in model:
            direct_sqlite.execute(trial, database, "UPDATE c SET body = ? WHERE key = ?", [json_variants.VariantWriter(trial.rng).write(fields), key])
            model[key] = fields
        elif kind == 2 and key not in model:
            direct_sqlite.insert(trial, database, "c", [(key, json_variants.VariantWriter(trial.rng).write(fields))])
            model[key] = fields
        else:
            trial.run("put", database, "c", key, stored(fields), expect=0)
            model[key] = fields
        if trial.rng.random() < 0.1:
            trial.run("compact", database, expect=0)
    trial.run("put", database, "c", "end", '{"a":100}', expect=0)
    model["end"] = {"a": 100}
    until(trial, watcher, lambda seen: any(line["key"] == "end" for line in seen), "the last write")
    shown: Result = []
    for line in watcher.written().split(b"\n")[:-1]:
        apply(trial, shown, parse(line))
    watcher.kill()
    trial.require(dict(item for _, item in shown) == model, f"the lines produce {shown}, the store contains {model}")
    order = [fields["a"] for _, (_, fields) in shown]
    trial.require(order == sorted(order), f"the lines produce {shown}, which is not sorted; {misplaced_lines(watcher, shown)}")


def apply(trial: Trial, shown: Result, line: Dict[str, Any]) -> None:
    change, row = line["change"], line["rowid"]
    before = dict(shown)
    trial.require((row in before) == (change in ("removed", "changed", "moved")), f"row {row} is {change}, but the result is {shown}")
    shown[:] = [old for old in shown if old[0] != row]
    if change != "removed":
        shown.insert(line["position"], (row, (line["key"], line.get("document", before.get(row, (None, None))[1]))))


def misplaced_lines(watcher: Background, shown: Result) -> str:
    """Returns the last lines about the first misplaced row."""
    wrong = next((row for at, (row, item) in enumerate(shown[:-1]) if item[1]["a"] > shown[at + 1][1][1]["a"]), None)
    found = [line for line in watcher.written().split(b"\n") if b'"rowid":%d,' % (wrong or 0) in line]
    return b" ".join(found[-3:]).decode()


def require_exit(trial: Trial, act: str) -> None:
    """Deletes, moves or replaces the watched file, and requires an error."""
    database, other = trial.path("s.db"), trial.path("other.db")
    for path, number in ((database, 1), (other, 2)):
        trial.run("put", path, "c", "k", '{"a":%d}' % number, expect=0)
        direct_sqlite.checkpoint(path)
    watcher = started(trial, database, 1)
    trial.note(act)
    if act == "rm s.db*":
        for name in ("s.db", "s.db-wal", "s.db-shm"):
            if os.path.exists(trial.path(name)):
                os.remove(trial.path(name))
    elif act == "rm s.db":
        os.remove(database)
    elif act == "mv other.db s.db":
        os.replace(other, database)
    elif act == "mv s.db gone.db":
        os.replace(database, trial.path("gone.db"))
    elif act == "rm -r of the folder":
        shutil.rmtree(trial.path("sub"), ignore_errors=True)
    else:
        trial.run(act, other, database, "--force")
    deadline = time.monotonic() + PATIENCE
    # It reports the new content, or ends.
    is_reported = act in ("backup", "recover")
    while watcher.is_running and time.monotonic() < deadline and not (is_reported and b'"a":2' in watcher.written()):
        time.sleep(0.05)
    if watcher.is_running and is_reported:
        seen = b'"a":2' in watcher.written()
        watcher.kill()
        trial.require(seen, f"{act} --force over a watched file is neither reported nor an error")
        return
    trial.require(not watcher.is_running, f"watch is still running {PATIENCE:g} seconds after {act}")
    result = trial.finish(watcher)
    trial.require(result.status == 1 and b"error:" in result.err, f"after {act}: exit {result.status}, {result.reason}")


@check()
def deleted(trial: Trial) -> None:
    """watch exits with an error when its file is deleted."""
    require_exit(trial, trial.rng.choice(["rm s.db*", "rm s.db"]))


@check()
def replaced(trial: Trial) -> None:
    """watch exits with an error when its file is replaced."""
    require_exit(trial, "mv other.db s.db")


@check(short=False)
def renamed(trial: Trial) -> None:
    """watch exits with an error when its file is renamed."""
    require_exit(trial, "mv s.db gone.db")


@check(short=False)
def replaced_by_backup(trial: Trial) -> None:
    """backup --force over a watched file is reported, or watch exits with an error."""
    require_exit(trial, "backup")


@check(short=False)
def replaced_by_recover(trial: Trial) -> None:
    """recover --force over a watched file is reported, or watch exits with an error."""
    require_exit(trial, "recover")
