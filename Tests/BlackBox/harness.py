# SPDX-License-Identifier: MIT
"""Registers and runs checks, and provides their helpers."""

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
    """Raised if a claim does not hold."""


class Skipped(Exception):
    """Raised if a claim cannot be checked on this machine."""


@dataclass(frozen=True)
class Check:
    name: str
    claim: str
    run: Callable[["Trial"], None]
    short: bool


CHECKS: List[Check] = []


def check(short: bool = True) -> Callable[[Callable[["Trial"], None]], Callable[["Trial"], None]]:
    """Registers a function as a check; its docstring is the claim."""

    def register(function: Callable[["Trial"], None]) -> Callable[["Trial"], None]:
        area = function.__module__.replace("_", "-")
        name = area + "." + function.__name__.replace("_", "-")
        claim = " ".join((function.__doc__ or function.__name__).split())
        CHECKS.append(Check(name, claim, function, short))
        return function

    return register


@dataclass
class Trial:
    """A run of a check, with a folder, a seed, the tool and a log of the commands."""

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
            raise Skipped("requires root to run as another user")

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def write(self, name: str, content: "str | bytes") -> str:
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return path

    def note(self, line: str) -> None:
        """Adds a step that is not a command of the tool to the log that a failure prints."""
        self.log.append(line)

    def run(self, *arguments: "str | bytes", expect: Optional[int] = None, **options: object) -> Result:
        """Runs the tool until it exits. A signal, a hang or an unprocessed system error is a failure."""
        command = Command(self.tool, list(arguments), **options)  # type: ignore[arg-type]
        self.log.append(command.text)
        result = wait(start(command), max(command.timeout or 0, self.timeout) if self.short else command.timeout or self.timeout)
        self.examine(result)
        if expect is not None and result.status != expect:
            self.fail(f"exit {result.status} instead of {expect}: {result.reason}")
        return result

    def start(self, *arguments: "str | bytes", **options: object) -> Background:
        """Starts the tool in the background. It is killed when the check ends."""
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
            self.fail(f"does not exit within {result.limit:g} seconds: {result.command}")
        if result.status == 127 and b"shared librar" in result.err:
            return  # the dynamic loader ran out of file descriptors before the tool started
        if result.status not in (0, 1, 2, 64):
            self.fail(f"{result.reason_of_signal}: {result.command}: {result.reason}")
        if b"NSCocoaErrorDomain" in result.err or b"UserInfo=" in result.err:
            self.fail(f"prints an unprocessed system error: {result.reason}")
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
    """Runs one check in a new folder. Returns `passed`, `failed` or `skipped`, and the reason."""
    check = next(check for check in CHECKS if check.name == name)
    folder = tempfile.mkdtemp(dir=root)
    os.chmod(folder, 0o755)
    trial = Trial(tool, seed, short, folder, random.Random(f"{seed} {check.name}"))
    trial.timeout = 600.0 if short else 120.0
    began = time.monotonic()
    try:
        check.run(trial)
        return "passed", f"{time.monotonic() - began:.1f} s"
    except Skipped as reason:
        return "skipped", str(reason)
    except Failure as failure:
        return "failed", report(check, trial, str(failure))
    except Exception as error:  # output that does not parse is also a failure of the tool
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        where = f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}" if frame else "?"
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
        for target in (os.path.dirname(path), path):
            if not os.path.islink(target) and os.path.exists(target):
                os.chmod(target, os.stat(target).st_mode | stat.S_IRWXU)
        function(path)

    shutil.rmtree(folder, onerror=unlock)
