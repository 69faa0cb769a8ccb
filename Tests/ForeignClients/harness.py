# SPDX-License-Identifier: MIT
"""Registers checks, and provides running servers and expectations."""

import base64
import ctypes
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional

# The administrator of the servers.
USER, PASSWORD = "admin", "secret"
# A user without roles, whose name and password have to be escaped in a URL.
GUEST, GUEST_PASSWORD = "zoë@home", "50% of/ü"

# How long a condition may take to come true. Generous, because the machine may be busy; nothing waits that long if all is well.
PATIENCE = 600.0


class Failure(Exception):
    """Raised if a claim does not hold."""


class Skipped(Exception):
    """Raised if a claim cannot be checked on this machine."""


@dataclass(frozen=True)
class Check:
    name: str
    claim: str
    run: Callable[["Trial"], None]


CHECKS: List[Check] = []


def check(function: Callable[["Trial"], None]) -> Callable[["Trial"], None]:
    """Registers a function as a check; its docstring is the claim."""
    name = f"{function.__module__}.{function.__name__}".replace("_", "-")
    CHECKS.append(Check(name, " ".join((function.__doc__ or "").split()), function))
    return function


def expect(holds: Any, what: str) -> None:
    if not holds:
        raise Failure(what)


def equal(value: Any, expected: Any, what: str) -> None:
    if value != expected:
        raise Failure(f"{what} is {value!r:.500} instead of {expected!r:.500}")


def raises(kind: Any, what: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    try:
        value = call(*arguments, **options)
    except kind as error:
        return error
    raise Failure(f"{what}: no error but {value!r:.300}")


def wait(what: str, condition: Callable[[], Any]) -> Any:
    """Waits until a condition holds, and returns its value."""
    until = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise Failure(f"no {what} within {PATIENCE:g} seconds")
        time.sleep(0.02)


def required(reason: str) -> Exception:
    """Returns what to raise if a client is missing."""
    return (Failure if os.environ.get("NANOSTORE_REQUIRE_FOREIGN_CLIENTS") else Skipped)(reason)


def request(method: str, url: str, body: Any = None, *, user: str = "", context: Optional[ssl.SSLContext] = None) -> Any:
    """Sends a request with Python's HTTP client, and returns the decoded response. The user is `name:password`."""
    headers = {"Content-Type": "application/json"}
    if user:
        headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=PATIENCE, context=context) as response:
        return json.load(response)


def end_with_parent() -> None:
    """Lets the system kill a child process if these checks are killed, on Linux."""
    if sys.platform == "linux":
        # PR_SET_PDEATHSIG, which an exec keeps.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Server:
    """A running server."""

    def __init__(self, command: List[str], log: str) -> None:
        with open(log, "wb") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=end_with_parent)
        self.log = log
        try:
            self.url: str = wait("address of the server", self.address)
        except BaseException:
            self.stop()
            raise

    def output(self) -> str:
        with open(self.log, errors="replace") as file:
            return file.read()

    def address(self) -> Optional[str]:
        found = re.search(r"at (https?://\S+/)\n", self.output())
        if found:
            return found.group(1)
        if self.process.poll() is not None:
            raise Failure(f"the server does not start: {self.output()}")
        return None

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.url).group(1))  # type: ignore[union-attr]

    @property
    def url_with_login(self) -> str:
        return self.url.replace("://", f"://{USER}:{PASSWORD}@")

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Sends a request of the administrator."""
        return request(method, self.url + path, body, user=f"{USER}:{PASSWORD}")

    def end(self, number: int = signal.SIGTERM) -> int:
        """Asks the server to end, and returns its status."""
        self.process.send_signal(number)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failure(f"the server ignores signal {number}: {self.output()}") from None

    def stop(self) -> None:
        """Stops the server in any case."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Shared:
    """What all checks use: the packages, and the browser with its page."""

    def __init__(self, options: Any, folder: str) -> None:
        self.options = options
        self.folder = folder
        self.made: Dict[str, Any] = {}

    def packages(self, name: str) -> str:
        """Returns the path of a file or folder that scripts/setup-foreign-clients made."""
        return os.path.join(self.options.packages, name)

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        """Returns what `make` returned the first time. It is closed after the last check."""
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def close(self) -> None:
        for one in self.made.values():
            try:
                one.close()
            except Exception as error:
                print(f"closing: {error}", flush=True)


class Trial:
    """A run of a check, with a folder of its own."""

    def __init__(self, options: Any, shared: Shared, folder: str) -> None:
        self.options = options
        self.shared = shared
        self.folder = folder
        os.makedirs(folder)
        self.started: List[Server] = []
        self._server: Optional[Server] = None
        self.cleanups: List[Callable[[], None]] = []

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def write(self, name: str, text: str) -> str:
        """Writes a file that only its owner can read."""
        with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        return self.path(name)

    def start(self, command: List[str]) -> Server:
        server = Server(command, self.path(f"server-{len(self.started)}.log"))
        self.started.append(server)
        return server

    def serve(self, store: str, *options: str) -> Server:
        """Starts `nanostore serve` on a free port."""
        return self.start([self.options.tool, "serve", self.path(store), "--port", "0", *options])

    def server(self, *options: str) -> Server:
        """Returns the server of this check, which has users and lets administrators create databases."""
        if self._server is None:
            users = self.write("users", f"# name:password:roles\n{USER}:{PASSWORD}:_admin\n{GUEST}:{GUEST_PASSWORD}\n")
            self._server = self.serve("served.db", "--users", users, "--manage-databases", *options)
        return self._server

    def tool(self, *arguments: str, input: Optional[str] = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([self.options.tool, *arguments], input=input, capture_output=True, text=True, timeout=PATIENCE)

    def finish(self) -> None:
        """Checks what holds after every check: each server still runs, and ends properly."""
        for server in self.started:
            if server.process.poll() is None:
                equal(server.end(), 0, "the status of the server after SIGTERM")
            equal(server.process.returncode, 0, f"the status of the server, which prints {server.output()[-500:]!r},")

    def close(self) -> None:
        for cleanup in self.cleanups:
            cleanup()
        for server in self.started:
            server.stop()
