# SPDX-License-Identifier: MIT
"""Checks, how they are registered, and what one of them may use while it runs."""

import os
import random
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass, field
from typing import Callable, List, NoReturn, Optional

from tool import Background, Command, Result, start, wait

OTHER_USER = 65534  # `nobody` on Linux and other systems


class Failure(Exception):
    """A claim that does not hold."""


class Skipped(Exception):
    """A claim that cannot be checked on this machine."""


@dataclass(frozen=True)
class Check:
    name: str
    claim: str
    run: Callable[["Trial"], None]
    short: bool


CHECKS: List[Check] = []


def check(short: bool = True) -> Callable[[Callable[["Trial"], None]], Callable[["Trial"], None]]:
    """Registers a function as a check. Its docstring is the claim."""

    def register(function: Callable[["Trial"], None]) -> Callable[["Trial"], None]:
        area = function.__module__.replace("_", "-")
        name = area + "." + function.__name__.replace("_", "-")
        claim = " ".join((function.__doc__ or function.__name__).split())
        CHECKS.append(Check(name, claim, function, short))
        return function

    return register


@dataclass
class Trial:
    """One run of a check: a folder, a seed, the tool, and the commands that ran."""

    tool: str
    seed: int
    short: bool
    folder: str
    rng: random.Random
    log: List[str] = field(default_factory=list)
    running: List[Background] = field(default_factory=list)
    timeout: float = 60.0

    @property
    def is_root(self) -> bool:
        return os.geteuid() == 0

    def need_root(self) -> None:
        if not self.is_root:
            raise Skipped("needs root, to act as another user")

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def write(self, name: str, content: "str | bytes") -> str:
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return path

    def note(self, line: str) -> None:
        """Adds a step, which is no command of the tool, to what a failure prints."""
        self.log.append(line)

    def run(self, *arguments: "str | bytes", expect: Optional[int] = None, **options: object) -> Result:
        """Runs the tool to its end. A signal, a hang or a raw error of the system is a failure."""
        command = Command(self.tool, list(arguments), **options)  # type: ignore[arg-type]
        self.log.append(command.text)
        result = wait(start(command), command.timeout or self.timeout)
        self.examine(result)
        if expect is not None and result.status != expect:
            self.fail(f"exit {result.status} instead of {expect}: {result.reason}")
        return result

    def start(self, *arguments: "str | bytes", **options: object) -> Background:
        """Starts the tool and lets it run. It is killed when the check ends."""
        command = Command(self.tool, list(arguments), **options)  # type: ignore[arg-type]
        self.log.append(command.text + " &")
        process = start(command)
        self.running.append(process)
        return process

    def finish(self, process: Background) -> Result:
        result = wait(process, self.timeout)
        self.examine(result)
        return result

    def examine(self, result: Result) -> None:
        if result.timed_out:
            self.fail(f"does not end within {result.limit:g} seconds: {result.command}")
        if result.status == 127 and b"shared librar" in result.err:
            return  # the loader found too few file descriptors, before the tool began
        if result.status not in (0, 1, 2, 64):
            self.fail(f"{result.reason_of_signal}: {result.command}: {result.reason}")
        if b"NSCocoaErrorDomain" in result.err or b"UserInfo=" in result.err:
            self.fail(f"prints an error of the system unprocessed: {result.reason}")
        if result.status == 1 and not result.err.strip() and not result.out.strip():
            self.fail(f"exit 1 without a reason: {result.command}")

    def fail(self, reason: str) -> NoReturn:
        raise Failure(reason)

    def require(self, holds: bool, reason: str) -> None:
        if not holds:
            self.fail(reason)

    def files(self, folder: Optional[str] = None) -> List[bytes]:
        return sorted(os.listdir(os.fsencode(folder or self.folder)))


def play(name: str, tool: str, seed: int, short: bool, root: str) -> "tuple[str, str]":
    """Runs one check in a folder of its own. Returns `passed`, `failed` or `skipped`, and why."""
    check = next(check for check in CHECKS if check.name == name)
    folder = tempfile.mkdtemp(dir=root)
    os.chmod(folder, 0o755)
    trial = Trial(tool, seed, short, folder, random.Random(f"{seed} {check.name}"))
    trial.timeout = 60.0 if short else 120.0
    began = time.monotonic()
    try:
        check.run(trial)
        return "passed", f"{time.monotonic() - began:.1f} s"
    except Skipped as reason:
        return "skipped", str(reason)
    except Failure as failure:
        return "failed", report(check, trial, str(failure))
    except Exception as error:  # an answer that does not parse is a failure of the tool, too
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{os.path.basename(place.tb_frame.f_code.co_filename)}:{place.tb_lineno}" if place else "?"
        return "failed", report(check, trial, f"{type(error).__name__} at {where}: {error}")
    finally:
        for process in trial.running:
            process.kill()
        remove(folder)


def report(check: Check, trial: Trial, reason: str) -> str:
    log = trial.log if len(trial.log) <= 16 else trial.log[:5] + ["…"] + trial.log[-10:]
    steps = "; ".join(step.replace(trial.folder, "$D").replace("\n", "\\n")[:1500] for step in log)
    reason = reason.replace(trial.folder, "$D").replace("\n", " ")
    return f"FAILED {check.name} (seed {trial.seed}): {check.claim} {reason[:600]} | D=folder; {steps}"


def remove(folder: str) -> None:
    def unlock(function: Callable[[str], object], path: str, _: object) -> None:
        for place in (os.path.dirname(path), path):
            if not os.path.islink(place) and os.path.exists(place):
                os.chmod(place, os.stat(place).st_mode | stat.S_IRWXU)
        function(path)

    shutil.rmtree(folder, onerror=unlock)
