# SPDX-License-Identifier: MIT
"""A user without write permission for the folder reads while the owner writes: correct results, or an error with the reason."""

import json
import os
import time
from typing import Callable, List, Optional

import direct_sqlite
from harness import OTHER_USER, Trial, check
from tool import Result

Judge = Callable[[Result], None]


class Shared:
    """A store in a folder of its owner. Each commit sets the same generation in all documents."""

    def __init__(self, trial: Trial, rows: int):
        trial.need_root()
        self.trial, self.rows, self.generation = trial, rows, 0
        self.folder = trial.path("owned")
        os.mkdir(self.folder, 0o755)
        self.database = os.path.join(self.folder, "s.db")
        self.fill()
        trial.run("index", "create", self.database, "c", "k", "--whole-values", expect=0)

    def fill(self, replace: bool = False) -> None:
        self.generation += 1
        lines = "".join(f'{{"k":{k},"g":{self.generation},"pad":"{"x" * 100}"}}\n' for k in range(self.rows))
        path = self.trial.write("in.ndjson", lines)
        self.trial.note(f"python3 -c 'documents k=0…{self.rows - 1}, g={self.generation}, pad=100 x' > {path}")
        more = ["--replace"] if replace else []
        self.trial.run("import", self.database, "c", path, "--key", "k", *more, expect=0)

    def act(self) -> None:
        """Performs a random kind of write as the owner. Every commit leaves all rows or none."""
        run, database = self.trial.run, self.database
        kind = self.trial.rng.randrange(6)
        if kind == 0:
            run("delete", database, "c", "--all", expect=0)
            self.fill()
        elif kind == 1:
            self.fill(replace=True)
        elif kind == 2:
            run("delete", database, "c", "--all", expect=0)
            run("compact", database, expect=0)
            self.fill()
        elif kind == 3:
            run("put", database, "other", str(self.generation), '{"big":"' + "y" * 20000 + '"}', expect=0)
        elif kind == 4:
            run("index", "create", database, "c", "g", "--whole-values", expect=0)
            run("index", "drop", database, "c", "g")
        else:
            run("compact", database, expect=0)

    def replace_all(self) -> None:
        """Deletes everything, compacts the file, and imports all documents again."""
        self.trial.run("delete", self.database, "c", "--all", expect=0)
        self.trial.run("compact", self.database, expect=0)
        self.fill()


def refused(trial: Trial, result: Result) -> bool:
    """Returns whether the tool failed with a helpful error; reporting an intact file as damaged is a failure."""
    if result.status == 0:
        return False
    text = result.err.decode(errors="replace").lower()
    trial.require(result.status == 1, f"exit {result.status}: {result.reason}")
    for word in ("damage", "corrupt", "malformed", "not a database", "i/o error"):
        trial.require(word not in text, f"an intact file is reported as damaged: {result.reason}")
    hints = ("--immutable", "permission", "may not", "right", "write", "again", "changed", "replaced")
    trial.require(any(hint in text for hint in hints), f"an error without a hint: {result.reason}")
    return True


def documents(shared: Shared) -> Judge:
    """Requires all documents of one generation, once each, or none at all."""
    trial = shared.trial

    def judge(result: Result) -> None:
        if refused(trial, result):
            return
        found = [json.loads(line) for line in result.lines]
        generations = {document["g"] for document in found}
        numbers = [document["k"] for document in found]
        trial.require(len(set(numbers)) == len(numbers), f"{len(numbers) - len(set(numbers))} duplicate documents, exit 0")
        trial.require(len(generations) <= 1, f"generations {sorted(generations)} mixed, exit 0")
        trial.require(len(numbers) in (0, shared.rows), f"{len(numbers)} of {shared.rows} documents, exit 0")

    return judge


def number(shared: Shared) -> Judge:
    def judge(result: Result) -> None:
        if not refused(shared.trial, result):
            shared.trial.require(int(result.out) in (0, shared.rows), f"count {result.out!r} of {shared.rows}, exit 0")

    return judge


def readings(shared: Shared) -> "List[tuple[List[str], Judge]]":
    file = shared.database
    return [
        (["find", file, "c"], documents(shared)),
        (["export", file, "c", "--no-header"], documents(shared)),
        (["find", file, "c", "[k] >= 0"], documents(shared)),
        (["find", file, "c", "[k] >= 0 ORDER BY [k] DESC"], documents(shared)),
        (["find", file, "c", "--sort", "pad"], documents(shared)),
        (["count", file, "c", "[g] > 0"], number(shared)),
        (["count", file, "c"], number(shared)),
    ]


def slow_reading(trial: Trial, shared: Shared, arguments: List[str], judge: Judge, act: Callable[[], None]) -> None:
    """Reads through a pipe that is not drained before the owner has written."""
    reader = trial.start(*arguments, user=OTHER_USER, pipe=True)
    assert reader.process.stdout is not None
    first = reader.process.stdout.read(1)
    act()
    result = trial.finish(reader)
    judge(Result(**{**result.__dict__, "out": first + result.out}))


@check()
def unopened_store(trial: Trial) -> None:
    """A reader without write permission gets complete results from a store that no process has open, or an error with a hint."""
    shared = Shared(trial, 300)
    for arguments, judge in readings(shared):
        judge(trial.run(*arguments, user=OTHER_USER))


@check()
def reading_while_rows_are_replaced(trial: Trial) -> None:
    """A slow reader without write permission sees one commit while the owner deletes, compacts and imports."""
    shared = Shared(trial, 3000 if trial.short else 20000)
    for arguments, judge in readings(shared)[: 2 if trial.short else 5]:
        slow_reading(trial, shared, arguments, judge, shared.replace_all)


@check()
def reading_while_imported(trial: Trial) -> None:
    """A slow reader without write permission sees one commit while the owner imports with --replace."""
    shared = Shared(trial, 3000 if trial.short else 20000)
    for arguments, judge in readings(shared)[: 1 if trial.short else 5]:
        slow_reading(trial, shared, arguments, judge, lambda: shared.fill(replace=True))
        slow_reading(trial, shared, arguments, judge, lambda: trial.run("delete", shared.database, "c", "--all") and None)
        slow_reading(trial, shared, arguments, judge, shared.fill)


@check(short=False)
def reading_in_a_loop(trial: Trial) -> None:
    """Readers without write permission see complete commits while the owner writes continuously."""
    shared = Shared(trial, 4000)
    keeper = trial.start("watch", shared.database, "none") if trial.rng.random() < 0.5 else None
    for _ in range(6):
        arguments, judge = trial.rng.choice(readings(shared))
        slow_reading(trial, shared, arguments, judge, shared.act)
        readers = [(trial.start(*a, user=OTHER_USER), j) for a, j in trial.rng.sample(readings(shared), 2)]
        shared.act()
        for reader, judge in readers:
            judge(trial.finish(reader))
    if keeper is not None:
        keeper.kill()


@check()
def owner_has_it_open(trial: Trial) -> None:
    """A reader without write permission sees the latest commit while the owner has the file open."""
    shared = Shared(trial, 50)
    keeper = trial.start("watch", shared.database, "c", "--new")
    until = time.monotonic() + 300
    while not os.path.exists(shared.database + "-shm") and time.monotonic() < until:
        time.sleep(0.02)
    if not os.path.exists(shared.database + "-shm"):
        keeper.kill()
        trial.fail("the owner's watch does not create the -shm file")
    time.sleep(0.2)
    shared.fill(replace=True)
    result = trial.run("find", shared.database, "c", user=OTHER_USER, expect=0)
    documents(shared)(result)
    generation = {json.loads(line)["g"] for line in result.lines}
    trial.require(generation == {shared.generation}, f"generation {generation} instead of {shared.generation}")
    keeper.kill()


@check()
def watching(trial: Trial) -> None:
    """watch by a reader without write permission prints the owner's changes, or fails with a hint."""
    shared = Shared(trial, 3)
    keeper: Optional[object] = None
    for owner_is_active in (False, True):
        if owner_is_active:
            keeper = trial.start("watch", shared.database, "c", "--new")
            time.sleep(0.5)
        watcher = trial.start("watch", shared.database, "c", user=OTHER_USER)
        if not watcher.wait_for(lambda out: out.count(b"\n") >= 3, 300):
            trial.require(not watcher.is_running, "watch prints nothing for 300 seconds")
            refused(trial, trial.finish(watcher))
            continue
        shared.fill(replace=True)
        seen = watcher.wait_for(lambda out: out.count(b'"g":%d' % shared.generation) >= 3, 300)
        if not watcher.is_running:
            refused(trial, trial.finish(watcher))
            continue
        watcher.kill()
        trial.require(seen, "watch does not print a change by the owner within 10 seconds")


@check()
def immutable(trial: Trial) -> None:
    """--immutable reads a read-only file in a read-only folder, with every command that reads."""
    shared = Shared(trial, 20)
    direct_sqlite.checkpoint(shared.database)
    os.chmod(shared.database, 0o444)
    os.chmod(shared.folder, 0o555)
    for arguments, judge in readings(shared):
        result = trial.run(*arguments, "--immutable", user=OTHER_USER, expect=0)
        judge(result)
        trial.require(bool(result.out), "--immutable reads nothing")
    for arguments in (["collections"], ["stats"], ["verify"], ["index", "export"]):
        trial.run(*arguments, shared.database, "--immutable", user=OTHER_USER, expect=0)
    trial.require(trial.files(shared.folder) == [b"s.db"], f"--immutable leaves {trial.files(shared.folder)}")
