# SPDX-License-Identifier: MIT
"""Files and folders that cannot be opened are reported with the true reason, and no files are created."""

import os
from typing import List

import direct_sqlite
from harness import OTHER_USER, Trial, check

READING: List[List[str]] = [
    ["find", "FILE", "c"], ["count", "FILE", "c"], ["export", "FILE", "c"], ["get", "FILE", "c", "k"],
    ["aggregate", "FILE", "c", "--count"], ["collections", "FILE"], ["schema", "FILE", "c"], ["index", "list", "FILE", "c"],
    ["index", "export", "FILE"], ["explain", "FILE", "c"], ["sql", "FILE", "SELECT 1"], ["verify", "FILE"], ["stats", "FILE"],
    ["watch", "FILE", "c", "--count", "1"], ["index", "advise", "FILE"], ["search", "FILE", "c", "x"],
]


def filled(arguments: List[str], path: "str | bytes") -> "List[str | bytes]":
    return [path if word == "FILE" else word for word in arguments]


def some(trial: Trial) -> List[List[str]]:
    """Returns all reading commands, or a few in the short form."""
    return [READING[0], *trial.rng.sample(READING[1:], 3)] if trial.short else READING


def require_error(trial: Trial, path: str, words: List[str], never: List[str], user: "int | None" = None) -> None:
    for arguments in some(trial):
        result = trial.run(*filled(arguments, path), user=user)
        text = result.err.decode(errors="replace").lower()
        trial.require(result.status == 1, f"exit {result.status} instead of 1: {result.command}: {result.reason}")
        trial.require(any(word in text for word in words), f"the error contains none of {words}: {result.reason}")
        trial.require(not any(word in text for word in never), f"the error is misleading: {result.reason}")


@check()
def folder_without_search_permission(trial: Trial) -> None:
    """A database in an inaccessible folder is rejected for the missing permission, not reported as missing."""
    trial.need_root()
    os.mkdir(trial.path("closed"), 0o755)
    database = trial.path("closed/s.db")
    trial.run("put", database, "c", "k", '{"a":1}', expect=0)
    os.chmod(trial.path("closed"), 0o644)
    trial.note("chmod 644 closed")
    require_error(trial, database, ["permission", "may not", "permit", "not allowed", "right"],
         ["there is no database", "damage"], user=OTHER_USER)


@check()
def file_without_read_permission(trial: Trial) -> None:
    """A database without read permission is rejected for that reason."""
    trial.need_root()
    database = trial.path("s.db")
    trial.run("put", database, "c", "k", '{"a":1}', expect=0)
    os.chmod(database, 0o600)
    trial.note("chmod 600 s.db")
    require_error(trial, database, ["permission", "may not", "permit", "not allowed", "right"],
         ["there is no database", "damage"], user=OTHER_USER)


@check()
def read_only_file(trial: Trial) -> None:
    """A read-only file in a writable folder is read or rejected with a reason, and never modified."""
    trial.need_root()
    os.mkdir(trial.path("open"), 0o777)
    os.chmod(trial.path("open"), 0o777)
    database = trial.path("open/s.db")
    trial.run("put", database, "c", "k", '{"a":1}', expect=0)
    direct_sqlite.checkpoint(database)
    os.chmod(database, 0o444)
    before = open(database, "rb").read()
    result = trial.run("find", database, "c", user=OTHER_USER)
    if result.status == 0:
        trial.require(result.out == b'{"a":1}\n', f"find prints {result.out!r}")
    else:
        trial.require(b"damage" not in result.err, f"an intact file is reported as damaged: {result.reason}")
    trial.run("put", database, "c", "k", '{"a":2}', user=OTHER_USER, expect=1)
    trial.require(open(database, "rb").read() == before, "a read-only file was changed")


@check()
def empty_file(trial: Trial) -> None:
    """An empty file is rejected as empty or as not a store, and remains empty."""
    database = trial.write("empty.db", b"")
    require_error(trial, database, ["empty", "no store", "not a store", "no database", "not a database", "no nanostore", "not a nanostore"],
         ["only be read", "read-only", "damage"])
    trial.require(os.path.getsize(database) == 0, "a reading command wrote to an empty file")
    trial.require(trial.files() == [b"empty.db"], f"leaves {trial.files()}")


@check()
def not_a_store(trial: Trial) -> None:
    """One byte, text, a folder, a foreign database and a missing file are rejected, and no files are created."""
    foreign = trial.path("foreign.db")
    direct_sqlite.execute(trial, foreign, "CREATE TABLE t(x)")
    os.mkdir(trial.path("folder"))
    trial.write("byte.db", b"x")
    trial.write("text.db", b"this is a text and no database at all\n" * 200)
    before = trial.files()
    for name in ("byte.db", "text.db", "folder", "foreign.db", "missing.db", "no/such/folder/x.db"):
        for arguments in some(trial)[: 2 if trial.short else None]:
            result = trial.run(*filled(arguments, trial.path(name)))
            trial.require(result.status == 1, f"exit {result.status} instead of 1: {result.command}")
            trial.require(b"only be read" not in result.err, f"the error is misleading: {result.reason}")
            shown = os.fsencode(name)
            trial.require(shown in result.err, f"the error does not name {name}: {result.reason}")
        trial.require(trial.files() == before, f"leaves {trial.files()}")


@check()
def invalid_utf8(trial: Trial) -> None:
    """A path that is not valid UTF-8 is used byte for byte or rejected; no file with a different name is created."""
    folder = os.fsencode(trial.path("bytes"))
    os.mkdir(folder)
    source = trial.path("source.db")
    trial.run("put", source, "c", "k", '{"a":1}', expect=0)
    for number, name in enumerate([b"\xff.db", b"a\xc3.db", b"\xed\xa0\x80.db", b"\xc3\x28.db"]):
        path = os.path.join(folder, name)
        for words in trial.rng.sample([["put", path, "c", "k", "{}"], ["backup", source, path], ["copy", source, path], ["recover", source, path],
                      ["import", path, "c", trial.write("in", "{}")]], 2 if trial.short else 5):
            try:
                result = trial.run(*words)
            except OSError:
                continue  # the file system does not support such names
            created = os.listdir(folder)
            stem = {name, name + b"-wal", name + b"-shm", name + b"-journal"}
            trial.require(set(created) <= stem, f"{words[0]} creates {created} for {name!r}")
            trial.require((name in created) == (result.status == 0), f"{words[0]} of {name!r}: exit {result.status}, files {created}")
            for file in created:
                os.remove(os.path.join(folder, file))


@check()
def special_characters(trial: Trial) -> None:
    """Paths may contain %, ?, #, :, spaces and quotes; no file with a different name is created."""
    names = ["a?mode=ro.db", "a%20b.db", "a#b.db", "file:x.db", "a b'.db", "-dash.db", ":memory:", "été.db", "e\u0301.db", "a\nb.db"]
    for name in trial.rng.sample(names, 4) if trial.short else names:
        folder = trial.path(f"names{len(trial.files())}")
        os.mkdir(folder)
        path = name if name.startswith(("file:", ":")) else os.path.join(folder, name)
        trial.run("put", path, "c", "k", '{"a":1}', folder=folder, expect=0)
        created = [os.fsdecode(file) for file in trial.files(folder)]
        trial.require(name in created, f"put into {name!r} creates {created}")
        result = trial.run("get", path, "c", "k", folder=folder, expect=0)
        trial.require(result.out == b'{"a":1}\n', f"get from {name!r} prints {result.out!r}")
        trial.run("backup", path, path + "2", folder=folder, expect=0)
        left = {os.fsdecode(file) for file in trial.files(folder)} - {name, name + "2"}
        trial.require(not {file for file in left if not file.endswith(("-wal", "-shm"))}, f"leaves {left}")
