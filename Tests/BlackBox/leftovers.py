# SPDX-License-Identifier: MIT
"""Commands leave only documented files, even when killed, and succeed when repeated."""

import os
import re
import signal
import subprocess
import time
from typing import List

import direct_sqlite
from file_paths import READING, filled
from harness import Trial, check

DOCS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs")
STRAY = re.compile(rb"target\.db\.nanostore-[0-9A-Fa-f-]{36}(\.[a-z]+)?(-wal|-shm|-journal)?")


def documented(name: bytes) -> bool:
    """Returns whether the documentation lists this kind of file as a leftover of a killed command."""
    match = STRAY.fullmatch(name)
    if match is None:
        return False
    text = ""
    for page in ("CLI.md", "RELIABILITY.md", "SCHEMA.md"):
        with open(os.path.join(DOCS, page), encoding="utf-8") as file:
            text += file.read()
    return all(part is None or part.decode() in text for part in match.groups())


def source(trial: Trial, documents: int) -> str:
    database = trial.path("s.db")
    lines = "".join(f'{{"n":{number},"pad":"{"x" * 100}"}}\n' for number in range(documents))
    trial.note(f"python3: {documents} documents {{\"n\":…,\"pad\":\"100 x\"}} > in.ndjson")
    trial.run("import", database, "c", trial.write("in.ndjson", lines), expect=0)
    trial.run("index", "create", database, "c", "n", expect=0)
    direct_sqlite.checkpoint(database)
    os.remove(trial.path("in.ndjson"))
    return database


@check()
def reading_commands(trial: Trial) -> None:
    """Commands that only read create no files and modify no bytes."""
    database = source(trial, 5)
    trial.run("index", "text", database, "c", "pad", "--name", "w", expect=0)
    direct_sqlite.checkpoint(database)
    for name in trial.files():
        if name != b"s.db":
            os.remove(os.path.join(os.fsencode(trial.folder), name))
    with open(database, "rb") as file:
        before = file.read()
    commands = [*READING, ["search", "FILE", "c", "x*"], ["find", "FILE", "c", "[n] = 1"], ["get", "FILE", "c", "none"], ["find", "FILE", "none"]]
    for arguments in commands:
        trial.run(*filled(arguments, database))
        trial.require(trial.files() == [b"s.db"], f"{arguments[0]} leaves {trial.files()}")
        with open(database, "rb") as file:
            trial.require(file.read() == before, f"{arguments[0]} changes the file")
    for command in ("backup", "copy", "recover"):
        trial.run(command, database, trial.path("t.db"), expect=0)
        left = {name for name in trial.files() if not name.startswith(b"t.db")}
        trial.require(left == {b"s.db"}, f"{command} leaves {left}")
        for name in trial.files():
            if name.startswith(b"t.db"):
                trial.require(name == b"t.db", f"{command} leaves {name!r}")
                os.remove(os.path.join(os.fsencode(trial.folder), name))


@check()
def failed_first_writes(trial: Trial) -> None:
    """A put, import or configure that fails on a new database leaves no file."""
    new = trial.path("new.db")
    text = trial.write("bad.json", '{"a":1}\n{"a":')
    setup = trial.write("setup.json", '{"collections":{"c":{"indexes":5}}}')
    array = trial.write("array.json", "[1, 2]")
    cases: List[List[str]] = [
        ["put", new, "c", "k", "{bad"], ["put", new, "c", "k", "[1]"], ["put", new, "nano_x", "k", "{}"], ["put", new, "", "k", "{}"],
        ["put", new, "c", "k", '{"a":1,"a":2}'], ["import", new, "c", text], ["import", new, "c", array], ["import", new, "c", trial.path("missing.json")],
        ["import", new, "nano_x", trial.path("setup.json")], ["import", new, "c", trial.folder], ["configure", new, setup],
        ["configure", new, text], ["configure", new, trial.path("missing.json")], ["delete", new, "c", "--all"], ["compact", new],
        ["index", "create", new, "c", "a"], ["index", "policy", new, "c", "everything"], ["index", "rebuild", new, "c"], ["index", "drop", new, "c", "x"],
        ["import", new, "c", text, "--key", "a", "--max-record", "0"], ["sql", new, "CREATE TABLE t(x)", "--write"]]
    before = trial.files()
    problems = []
    for arguments in cases:
        result = trial.run(*arguments)
        shown = " ".join(arguments[:1] + arguments[2:])[:60]
        if result.status not in (1, 64):
            problems.append(f"{shown} exits with {result.status}")
        for name in set(trial.files()) - set(before):
            problems.append(f"{shown} leaves {name.decode()}")
            os.remove(os.path.join(os.fsencode(trial.folder), name))
    trial.require(not problems, "; ".join(problems))


def killed(trial: Trial, command: str, tries: int, documents: int) -> None:
    """Kills a command at random times; only documented files may remain, and the same command must then succeed."""
    database = source(trial, documents)
    expected = trial.run("export", database, "c", expect=0).out
    target = trial.path("target.db")
    began = time.monotonic()
    trial.run(command, database, target, expect=0)
    took = time.monotonic() - began
    for _ in range(tries):
        for name in trial.files():
            if name.startswith(b"target.db"):
                os.remove(os.path.join(os.fsencode(trial.folder), name))
        del trial.log[2:]
        process = trial.start(command, database, target)
        pause = took * trial.rng.choice([trial.rng.random(), trial.rng.uniform(0.85, 1.1)])
        time.sleep(pause)
        process.kill(signal.SIGKILL)
        trial.note(f"kill -9 after {pause * 1000:.1f} of {took * 1000:.0f} ms")
        ours = (b"s.db", b"s.db-wal", b"s.db-shm")  # SQLite keeps the last two files while the database is open
        strays = [name for name in trial.files() if name not in ours and not name.startswith(b"target.db")]
        beside = [name for name in trial.files() if name.startswith(b"target.db.") and not documented(name)]
        trial.require(not strays and not beside, f"a killed {command} leaves {strays + beside}")
        if command != "copy" and os.path.exists(target):
            found = trial.run("export", target, "c", expect=0).out
            trial.require(found == expected, f"a killed {command} leaves an incomplete destination")
            os.remove(target)
        result = trial.run(command, database, target)
        trial.require(result.status == 0, f"the same {command} again: {result.reason}")
        trial.require(trial.run("export", target, "c", expect=0).out == expected, f"{command} again produces different documents")
    trial.run("verify", target, expect=0)
    trial.run("verify", database, expect=0)


@check()
def killed_backup(trial: Trial) -> None:
    """A backup killed at any time is complete or does not exist, and succeeds when repeated."""
    killed(trial, "backup", 2 if trial.short else 15, 2000 if trial.short else 20000)


@check()
def killed_copy(trial: Trial) -> None:
    """A copy killed at any time resumes and succeeds when repeated."""
    killed(trial, "copy", 2 if trial.short else 15, 2000 if trial.short else 20000)


@check()
def killed_recover(trial: Trial) -> None:
    """A recover killed at any time leaves only documented files, and succeeds when repeated."""
    killed(trial, "recover", 2 if trial.short else 15, 2000 if trial.short else 20000)


@check()
def copy_killed_after_completion(trial: Trial) -> None:
    """A copy killed after it completes, but before its report is read, succeeds when repeated."""
    database, target = source(trial, 50), trial.path("target.db")
    for _ in range(2):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        try:
            while os.write(writing, b"x" * 65536):
                pass
        except BlockingIOError:
            pass
        os.set_blocking(writing, True)
        process = subprocess.Popen([trial.tool, "copy", database, target], stdout=writing, stderr=subprocess.DEVNULL)
        trial.note(f"nanostore copy {database} {target}, its output a full pipe; kill -9 once the target is complete")
        deadline = time.monotonic() + 300
        while process.poll() is None and time.monotonic() < deadline and not complete(target):
            time.sleep(0.05)
        time.sleep(0.3)
        process.kill()
        process.wait()
        os.close(reading)
        os.close(writing)
        trial.require(complete(target), "the copy does not complete while its output is full")
        result = trial.run("copy", database, target)
        trial.require(result.status == 0, f"the same copy again: {result.reason}")
        trial.run("copy", database, target, "--verify-only", expect=0)
        for name in trial.files():
            if name.startswith(b"target.db"):
                os.remove(os.path.join(os.fsencode(trial.folder), name))


def complete(target: str) -> bool:
    """Returns whether the target has all documents and no checkpoint of an unfinished copy."""
    try:
        if not os.path.exists(target) or direct_sqlite.rows(target, "SELECT count(*) FROM c") != [(50,)]:
            return False
        return direct_sqlite.rows(target, "SELECT 1 FROM nano_metadata WHERE name = 'nano_copy' AND value NOT LIKE '%omplete%'") == []
    except Exception:
        return False


@check()
def copy_onto_unrelated_target(trial: Trial) -> None:
    """copy rejects a target that contains anything other than its own copy."""
    database, target = source(trial, 20), trial.path("target.db")
    trial.run("put", target, "c", "mine", '{"mine":1}', expect=0)
    trial.run("copy", database, target, expect=1)
    trial.require(trial.run("count", target, "c", expect=0).out == b"1\n", "a refused copy changes the target")
    third = trial.path("third.db")
    trial.run("copy", database, third, expect=0)
    trial.run("put", third, "c", "mine", '{"mine":1}', expect=0)
    trial.run("copy", database, third, expect=1)
    trial.require(trial.run("count", third, "c", expect=0).out == b"21\n", "a refused copy removes what was added to its target")


