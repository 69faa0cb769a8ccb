# SPDX-License-Identifier: MIT
"""Runs the command line tool as a process with resource limits."""

import os
import resource
import shlex
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from typing import IO, Dict, List, Optional


@dataclass
class Command:
    """An invocation of the tool, with its user, limits and input."""

    tool: str
    arguments: List["str | bytes"]
    input: "str | bytes | None" = None
    user: Optional[int] = None
    files: Optional[int] = None
    megabytes: Optional[int] = None
    file_size: Optional[int] = None
    timeout: Optional[float] = None
    folder: Optional[str] = None
    pipe: bool = False
    environment: Dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The command in shell syntax."""
        words = ["nanostore"] + [self.shown(argument) for argument in self.arguments]
        text = " ".join(words)
        if self.user is not None:
            text = f"setpriv --reuid={self.user} --regid={self.user} --clear-groups {text}"
        if self.files is not None:
            text = f"(ulimit -n {self.files}; {text})"
        if self.megabytes is not None:
            text = f"(ulimit -d {self.megabytes * 1024}; {text})"
        if self.file_size is not None:
            text = f"(ulimit -f {self.file_size // 1024}; {text})"
        if self.folder is not None:
            text = f"(cd {shlex.quote(self.folder)}; {text})"
        if self.input is not None:
            content = self.input if isinstance(self.input, str) else self.input.decode(errors="backslashreplace")
            text += " <<< " + shlex.quote(content if len(content) < 500 else content[:500] + "…")
        return text

    @staticmethod
    def shown(argument: "str | bytes") -> str:
        if isinstance(argument, bytes):
            return "$'" + "".join(chr(b) if 32 < b < 127 and b not in b"'\\" else f"\\x{b:02x}" for b in argument) + "'"
        return shlex.quote(argument if len(argument) < 800 else argument[:800] + "…")

    def limit(self) -> None:
        """Sets the limits in the child process, before it executes the tool."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if self.files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.files, self.files))
        if self.megabytes is not None:
            size = self.megabytes << 20
            resource.setrlimit(resource.RLIMIT_DATA, (size, size))
        if self.file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.file_size, self.file_size))


@dataclass
class Result:
    command: str
    status: int
    out: bytes
    err: bytes
    timed_out: bool
    limit: float
    seconds: float

    @property
    def lines(self) -> List[bytes]:
        """The lines of the output, separated by line feeds only."""
        return self.out.split(b"\n")[:-1] if self.out.endswith(b"\n") else self.out.split(b"\n") if self.out else []

    @property
    def reason(self) -> str:
        text = (self.err or self.out[-300:]).decode(errors="backslashreplace").strip()
        return text if len(text) < 400 else text[:200] + " … " + text[-200:]

    @property
    def reason_of_signal(self) -> str:
        if self.status < 0:
            return f"terminated by {signal.Signals(-self.status).name}"
        return f"exit {self.status}, which is undocumented"


@dataclass
class Background:
    command: str
    process: "subprocess.Popen[bytes]"
    out: IO[bytes]
    err: IO[bytes]
    began: float
    piped: bool = False

    def kill(self, number: int = signal.SIGKILL) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def written(self) -> bytes:
        """Returns the output that the process has written so far."""
        # Not with seek: the process writes at the same offset of the file, and would write over its own output.
        return os.pread(self.out.fileno(), os.fstat(self.out.fileno()).st_size, 0)

    def wait_for(self, enough: "object", seconds: float) -> bool:
        """Waits until `enough(output)` is true, the process exits or the time is up."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if enough(self.written()):  # type: ignore[operator]
                return True
            if not self.is_running:
                return bool(enough(self.written()))  # type: ignore[operator]
            time.sleep(0.02)
        # A busy machine may let much time pass before the last look.
        return bool(enough(self.written()))  # type: ignore[operator]


def start(command: Command) -> Background:
    out = tempfile.TemporaryFile()
    err = tempfile.TemporaryFile()
    source: "IO[bytes] | int" = subprocess.DEVNULL
    if command.input is not None:
        source = tempfile.TemporaryFile()
        source.write(command.input.encode() if isinstance(command.input, str) else command.input)
        source.seek(0)
    permissions = {}
    if command.user is not None:
        permissions = {"user": command.user, "group": command.user, "extra_groups": []}
    process = subprocess.Popen(
        [command.tool, *command.arguments],
        stdin=source,
        stdout=subprocess.PIPE if command.pipe else out,
        stderr=err,
        cwd=command.folder,
        env={**os.environ, "LC_ALL": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no", **command.environment},
        bufsize=0,
        preexec_fn=command.limit,
        **permissions,  # type: ignore[call-overload]
    )
    if command.input is not None:
        source.close()  # type: ignore[union-attr]
    return Background(command.text, process, out, err, time.monotonic(), command.pipe)


def wait(background: Background, limit: float) -> Result:
    process = background.process
    timed_out = False
    rest: Optional[bytes] = None
    try:
        if background.piped:
            rest, _ = process.communicate(timeout=limit)
        else:
            process.wait(timeout=limit)
    except subprocess.TimeoutExpired:
        timed_out = True
        process.kill()
        process.wait()
    background.err.seek(0)
    out = rest if rest is not None else b"" if background.piped else background.written()
    return Result(
        background.command, process.returncode, out, background.err.read(), timed_out, limit,
        time.monotonic() - background.began)
