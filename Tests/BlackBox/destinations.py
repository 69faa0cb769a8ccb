# SPDX-License-Identifier: MIT
"""Destinations that cannot be written: the error names the correct file, and the source is unchanged."""

import os
import shutil
import subprocess
from typing import List

import direct_sqlite
from harness import OTHER_USER, Skipped, Trial, check
from tool import Result

COMMANDS = ["backup", "copy", "recover"]


def source(trial: Trial, documents: int = 3) -> str:
    database = trial.path("source.db")
    lines = "".join(f'{{"n":{number},"pad":"{"x" * 100}"}}\n' for number in range(documents))
    trial.run("import", database, "c", trial.write("in.ndjson", lines), expect=0)
    direct_sqlite.checkpoint(database)
    return database


def files(trial: Trial) -> List[bytes]:
    """Returns the files in the folder, except the -wal and -shm files of the source."""
    return [name for name in trial.files() if name not in (b"source.db-wal", b"source.db-shm")]


def refused(trial: Trial, result: Result, destination: str, database: str) -> None:
    text = result.err.decode(errors="replace")
    trial.require(result.status == 1, f"exit {result.status} instead of 1: {result.command}: {result.reason}")
    named = destination in text or os.path.dirname(destination) + "," in text.replace(" ", ",").replace("\n", ",")
    trial.require(named, f"the error does not name the destination: {result.reason}")
    trial.require(os.path.basename(database) not in text, f"the error names the source, which is valid: {result.reason}")
    trial.require(len(text.strip().splitlines()) == 1, f"the error is not a single line: {result.reason}")


@check()
def missing_folder(trial: Trial) -> None:
    """A destination in a folder that cannot be created is named in the error, and nothing is created."""
    database = source(trial)
    before = files(trial)
    for command in COMMANDS:
        for destination in (trial.path("no/such/target.db"), trial.path("in.ndjson/target.db")):
            result = trial.run(command, database, destination)
            if result.status == 0 and os.path.exists(destination):
                shutil.rmtree(trial.path("no"))  # a command may create the folder
                continue
            refused(trial, result, destination, database)
            trial.require(files(trial) == before, f"{command} leaves {files(trial)}")


@check()
def folder_as_destination(trial: Trial) -> None:
    """A folder as the destination is rejected, or receives a file with the name of the source; its other files remain."""
    database = source(trial)
    folder = trial.path("target.db")
    os.mkdir(folder)
    trial.write("target.db/kept", "x")
    for command in COMMANDS:
        for more in ([], ["--replace"] if command == "copy" else ["--force"]):
            result = trial.run(command, database, folder, *more)
            inside = os.path.join(folder, "source.db")
            if result.status == 0 and command != "copy":
                trial.require(trial.run("count", inside, "c", expect=0).out == b"3\n", f"{command} into a folder creates no copy")
                os.remove(inside)
            else:
                refused(trial, result, folder, database)
            left = [name for name in trial.files(folder) if name not in (b"source.db-wal", b"source.db-shm")]
            trial.require(left == [b"kept"], f"{command} changes the folder: {left}")


@check()
def existing_destination(trial: Trial) -> None:
    """An existing destination is rejected by name without --force, and is unchanged."""
    database = source(trial)
    for name, content in (("text.db", b"a text that matters"), ("empty.db", b"")):
        target = trial.write(name, content)
        for command in COMMANDS:
            result = trial.run(command, database, target)
            if result.status == 0 and content == b"":
                os.remove(target)
                trial.write(name, content)
                continue
            refused(trial, result, target, database)
            trial.require(open(target, "rb").read() == content, f"{command} overwrites {name}")


@check()
def folder_without_write_permission(trial: Trial) -> None:
    """A destination in a folder without write permission is rejected by name for that reason."""
    trial.need_root()
    database = source(trial)
    os.mkdir(trial.path("open"), 0o777)
    os.chmod(trial.path("open"), 0o777)
    subprocess.run(["cp", database, trial.path("open/mine.db")], check=True)
    os.chown(trial.path("open/mine.db"), OTHER_USER, OTHER_USER)
    trial.note("a folder `open` of mode 777 with a copy of source.db owned by 65534; a folder `closed` of mode 755")
    os.mkdir(trial.path("closed"), 0o755)
    for command in COMMANDS:
        target = trial.path("closed/target.db")
        result = trial.run(command, trial.path("open/mine.db"), target, user=OTHER_USER)
        refused(trial, result, target, trial.path("open/mine.db"))
    for arguments in (["put", "c", "k", "{}"], ["import", "c", trial.path("in.ndjson")]):
        target = trial.path("closed/new.db")
        refused(trial, trial.run(arguments[0], target, *arguments[1:], user=OTHER_USER), target, trial.path("nothing"))
    trial.require(trial.files(trial.path("closed")) == [], "files remain in the folder")


@check()
def same_file(trial: Trial) -> None:
    """A destination that is the source under any name is rejected, and the source is unchanged."""
    database = source(trial)
    os.symlink(database, trial.path("symbolic.db"))
    os.link(database, trial.path("hard.db"))
    os.mkdir(trial.path("folder"))
    trial.note("ln -s source.db symbolic.db; ln source.db hard.db; mkdir folder")
    with open(database, "rb") as file:
        before = file.read()
    for command in COMMANDS:
        names = ["source.db", "./source.db", "folder/../source.db", "symbolic.db", "hard.db"]
        for name in trial.rng.sample(names, 2) if trial.short else names:
            for more in ([], ["--replace"] if command == "copy" else ["--force"]):
                result = trial.run(command, database, os.path.join(trial.folder, name), *more)
                count = trial.run("count", database, "c")
                trial.require(count.out == b"3\n", f"{command} to {name} {more} loses documents: {count.reason}")
                linked = name in ("symbolic.db", "hard.db") and command != "copy" and more != []
                trial.require(result.status == 1 or linked, f"{command} to the source under the name {name} {more}: exit {result.status}")
        with open(database, "rb") as file:
            trial.require(file.read() == before, f"{command} changes the source")


@check()
def full_disk(trial: Trial) -> None:
    """A full file system is reported with the destination, and no partial copy remains."""
    trial.need_root()
    database = source(trial, 4000)
    small = trial.path("small")
    os.mkdir(small)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k,mode=777", "tmpfs", small], stderr=subprocess.DEVNULL)
    if mounted.returncode != 0:
        raise Skipped("cannot mount a small file system here")
    trial.note(f"mount -t tmpfs -o size=160k tmpfs {small}")
    try:
        before = open(database, "rb").read()
        for command in [*COMMANDS, "import"]:
            target = os.path.join(small, "target.db")
            words = ["import", target, "c", trial.path("in.ndjson")] if command == "import" else [command, database, target]
            result = trial.run(*words)
            refused(trial, result, target, database)
            text = result.err.decode(errors="replace").lower()
            trial.require(any(word in text for word in ("full", "space")), f"the error does not mention a full file system: {result.reason}")
            trial.require("is damaged" not in text, f"a full disk is reported as damage: {result.reason}")
            left = trial.files(small)
            trial.require(command in ("copy", "import") or left == [], f"{command} leaves {left}")
            if command == "import" and os.path.exists(target):
                trial.require(trial.run("count", target, "c", expect=0).out == b"0\n", "a partial import is stored")
            for name in left:
                os.remove(os.path.join(os.fsencode(small), name))
        trial.require(open(database, "rb").read() == before, "the source changed")
    finally:
        subprocess.run(["umount", small], check=False)


@check()
def invalid_sources(trial: Trial) -> None:
    """A missing or invalid source, and not the destination, is named in the error, and no destination is created."""
    broken = {"missing.db": None, "empty.db": b"", "byte.db": b"x", "text.db": b"no database\n" * 500}
    for name, content in broken.items():
        if content is not None:
            trial.write(name, content)
    direct_sqlite.execute(trial, trial.path("foreign.db"), "CREATE TABLE t(x)")
    before = files(trial)
    for name in [*broken, "foreign.db"]:
        for command in COMMANDS:
            result = trial.run(command, trial.path(name), trial.path("target.db"))
            trial.require(result.status == 1, f"{command} of {name}: exit {result.status}")
            trial.require(name in result.err.decode(errors="replace"), f"{command} of {name} does not name it: {result.reason}")
            if name in ("missing.db", "empty.db", "foreign.db") or command != "recover":
                trial.require(files(trial) == before, f"{command} of {name} leaves {files(trial)}")
            for file in set(files(trial)) - set(before):
                os.remove(os.path.join(os.fsencode(trial.folder), file))


