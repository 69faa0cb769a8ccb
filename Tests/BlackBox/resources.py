# SPDX-License-Identifier: MIT
"""Few file descriptors and limited memory: a result or an error, never a signal."""

import os
import time
from typing import List

from file_paths import READING, filled
from harness import Skipped, Trial, check

DOCUMENTS = 2_000_000
OTHERS: List[List[str]] = [
    ["put", "FILE", "c", "k2", "{}"], ["delete", "FILE", "c", "none"], ["backup", "FILE", "OUT", "--force"], ["copy", "FILE", "OUT", "--replace"],
    ["recover", "FILE", "OUT", "--force"], ["compact", "FILE"], ["index", "create", "FILE", "c", "a"], ["index", "rebuild", "FILE", "c"],
    ["import", "FILE", "i", "IN"], ["configure", "FILE", "IN"]]


@check()
def few_descriptors(trial: Trial) -> None:
    """With 3 to 20 file descriptors, every command exits with a result or an error."""
    database = trial.path("s.db")
    trial.run("put", database, "c", "k", '{"a":1}', expect=0)
    names = {"OUT": trial.path("out.db"), "IN": trial.write("in.json", '{"a":1}')}
    commands = READING + OTHERS
    watching = next(command for command in READING if command[0] == "watch")
    tries = [(command, count) for command in commands for count in range(3, 21)]
    if trial.short:
        tries = trial.rng.sample(tries, 15)
    tries += [(watching, count) for count in range(6, 13)]
    for command, count in tries:
        words = [names.get(word, word) if isinstance(word, str) else word for word in filled(command, database)]
        result = trial.run(*words, files=count, timeout=30.0)
        if command[0] in ("find", "get", "export") and result.status == 0:
            trial.require(b'"a":1' in result.out, f"exit 0 without the document: {result.command}")
    trial.require(trial.run("get", database, "c", "k", expect=0).out == b'{"a":1}\n', "the document changed")
    trial.run("verify", database, expect=0)


def anonymous_megabytes(pid: int) -> float:
    """Returns the current anonymous memory of a process."""
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


def peak(trial: Trial, *arguments: str) -> float:
    """Runs a command and returns its peak anonymous memory, as sampled."""
    process = trial.start(*arguments)
    maximum = 0.0
    until = time.monotonic() + 300
    while process.is_running and time.monotonic() < until:
        maximum = max(maximum, anonymous_megabytes(process.process.pid))
        time.sleep(0.01)
    result = trial.finish(process)
    trial.require(result.status == 0, f"exit {result.status}: {result.reason}")
    return maximum


@check(short=False)
def memory_of_many_documents(trial: Trial) -> None:
    """Sorting, grouping and deleting two million documents uses at most 200 MB."""
    if not os.path.exists("/proc/self/status"):
        raise Skipped("requires /proc")
    database = trial.path("s.db")
    source = trial.path("in.ndjson")
    trial.note(f"python3: {DOCUMENTS} documents {{\"n\":…,\"g\":…}} > in.ndjson")
    with open(source, "w") as file:
        file.writelines(f'{{"n":{number * 7919 % DOCUMENTS},"g":"group {number}"}}\n' for number in range(DOCUMENTS))
    over = []
    for what, arguments in (
        ("import", ["import", database, "c", source]), ("find --sort", ["find", database, "c", "--sort", "g:desc"]),
        ("aggregate --group", ["aggregate", database, "c", "--group", "g", "--count"]), ("count", ["count", database, "c", "[n] > 5"]),
        ("export", ["export", database, "c"]), ("index create", ["index", "create", database, "c", "n"]),
        ("copy", ["copy", database, trial.path("copy.db")]), ("verify", ["verify", database]),
        ("schema", ["schema", database, "c"]), ("delete --where", ["delete", database, "c", "--where", "[n] < 1000000"]),
        ("delete --all", ["delete", database, "c", "--all"]),
    ):
        used = peak(trial, *arguments)
        if used > 200:
            over.append(f"{what}: {used:.0f} MB")
        for name in trial.files():
            if name.startswith(b"copy.db"):
                os.remove(os.path.join(os.fsencode(trial.folder), name))
    trial.require(not over, "more than 200 MB: " + ", ".join(over))
