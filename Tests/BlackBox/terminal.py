# SPDX-License-Identifier: MIT
"""What documents contain does not control the terminal that the tool writes to."""

import json
import os
import pty
import subprocess
import threading
import unicodedata
from typing import Tuple

from harness import Trial, check
from tool import Command

NAME = "c\x1b[2J\x9b"
TEXT = "\x1b]0;owned\x07\x9b2J\x7f\u0085\u2028\u202e\ttab\r\nline"
DOCUMENT = {"f" + TEXT: TEXT, "n": 1, "é": "日本"}


def shown(trial: Trial, *arguments: str) -> Tuple[int, str]:
    """Runs the tool on a pseudo-terminal, and returns its exit status and what it writes there."""
    trial.note(Command(trial.tool, list(arguments)).text)
    master, slave = pty.openpty()
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no"}
    process = subprocess.Popen(
        [trial.tool, *arguments], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL, env=environment)
    os.close(slave)
    limit = threading.Timer(trial.timeout, process.kill)
    limit.start()
    output = b""
    try:
        while piece := os.read(master, 1 << 16):
            output += piece
    except OSError:
        pass  # how Linux reports the end
    finally:
        os.close(master)
        status = process.wait()
        limit.cancel()
    return status, output.decode().replace("\r\n", "\n")


@check()
def control_characters(trial: Trial) -> None:
    """No command sends the control characters of documents, fields and collections to a terminal, in any format."""
    database, source = trial.path("s.db"), trial.write("in.json", json.dumps(DOCUMENT))
    trial.run("import", database, NAME, source, expect=0)
    trial.run("index", "create", database, NAME, "n", expect=0)
    uses = [["export", database, NAME, *form] for form in ([], ["--json"], ["--no-header"], ["--plain"], ["--mongo"], ["--csv"], ["--tsv"])]
    uses += [["find", database, NAME, form] for form in ("--json", "--ndjson", "--csv", "--table")]
    uses += [["schema", database, NAME], ["collections", database], ["stats", database], ["stats", database, "--json"],
             ["explain", database, NAME, "[n] = 1"], ["explain", database, NAME, "[n] = 1", "--json"],
             ["index", "list", database], ["index", "export", database], ["import", database, NAME, source]]
    for arguments in uses:
        status, output = shown(trial, *arguments)
        trial.require(status == 0, f"exit {status}: {arguments}")
        trial.require(output != "", f"no output: {arguments}")
        active = [c for c in output if unicodedata.category(c) == "Cc" and c not in "\n\t" or c in "\u2028\u202e"]
        trial.require(not active, f"{arguments} sends {active!r}")


@check()
def exact_json(trial: Trial) -> None:
    """JSON on a terminal is the same document."""
    database, source = trial.path("s.db"), trial.write("in.json", json.dumps(DOCUMENT))
    trial.run("import", database, NAME, source, expect=0)
    for arguments in (["export", database, NAME, "--plain"], ["find", database, NAME, "--ndjson", "--plain"]):
        _, output = shown(trial, *arguments)
        trial.require(json.loads(output) == DOCUMENT, f"{arguments} prints {output!r}")
