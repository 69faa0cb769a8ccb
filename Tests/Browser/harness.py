# SPDX-License-Identifier: MIT
"""Registers checks, and provides stores, running inspectors and expectations."""

import json
import os
import re
import shutil
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
FILMS = os.path.join(HERE, "..", "..", "Examples", "sample", "films.ndjson")


class Failure(Exception):
    """Raised if a claim does not hold."""


class Skipped(Exception):
    """Raised if a claim cannot be checked on this machine."""


@dataclass(frozen=True)
class Check:
    name: str
    claim: str
    run: Callable[["Trial"], None]
    long: bool


CHECKS: List[Check] = []


def check(long: bool = False) -> Callable[[Callable[["Trial"], None]], Callable[["Trial"], None]]:
    """Registers a function as a check; its docstring is the claim."""

    def register(function: Callable[["Trial"], None]) -> Callable[["Trial"], None]:
        name = f"{function.__module__}.{function.__name__}".replace("_", "-")
        CHECKS.append(Check(name, " ".join((function.__doc__ or "").split()), function, long))
        return function

    return register


class Inspector:
    """A running inspector."""

    def __init__(self, program: str, location: str, options: List[str]) -> None:
        start = time.monotonic()
        self.process = subprocess.Popen([program, location, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        # A watchdog, because reading a line has no timeout.
        watchdog = threading.Timer(300, self.process.kill)
        watchdog.start()
        self.url = ""
        for line in self.process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                self.url = found.group(0)
                break
        watchdog.cancel()
        self.ready_seconds = time.monotonic() - start
        if not self.url:
            raise Failure(f"the inspector does not start: {self.process.stderr.read() if self.process.stderr else ''}")

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.url).group(1))  # type: ignore[union-attr]

    @property
    def path(self) -> str:
        return re.sub(r"^http://[^/]+", "", self.url)

    def memory(self) -> int:
        """The peak memory of the process, in bytes."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) * 1024  # type: ignore[union-attr]

    def stop(self) -> int:
        self.process.terminate()
        try:
            return self.process.wait(300)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return -1


class Trial:
    """A run of a check."""

    def __init__(self, options: Any, browser: Any, folder: str) -> None:
        self.options = options
        self.browser = browser
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.inspectors: List[Inspector] = []
        self.processes: List["subprocess.Popen[bytes]"] = []
        self.cleanups: List[Callable[[], None]] = []

    # Stores

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def tool(self, *arguments: str, input: Optional[str] = None) -> str:
        result = subprocess.run([self.options.tool, *arguments], input=input, capture_output=True, text=True, timeout=120)
        if result.returncode != 0:
            raise Failure(f"nanostore {' '.join(arguments)} fails: {result.stderr}")
        return result.stdout

    def films(self, name: str = "library.db") -> str:
        """Creates the store of `make demo`."""
        store = self.path(name)
        self.tool("import", store, "films", FILMS, "--key", "title")
        return store

    def documents(self, store: str, collection: str, documents: List[Dict[str, Any]], *options: str) -> None:
        text = "\n".join(json.dumps(document) for document in documents)
        self.tool("import", store, collection, "-", *options, input=text)

    # Inspectors and the browser

    def inspect(self, location: str, *options: str) -> Inspector:
        pages = ["--pages", self.options.pages] if self.options.pages else []
        inspector = Inspector(self.options.inspector, location, [*options, *pages])
        self.inspectors.append(inspector)
        return inspector

    def open(self, inspector: Inspector, fragment: str = "#/", width: int = 1280, height: int = 900, dark: bool = False) -> Any:
        self.browser.open(inspector.url + fragment, width, height, dark)
        self.wait("the page", lambda: self.browser.all("main > *") and not self.browser.all("[aria-busy=true]"))
        return self.browser

    def wait(self, what: str, condition: Callable[[], Any], seconds: float = 300) -> Any:
        """Waits until a condition holds, and returns its value."""
        until = time.monotonic() + seconds
        error: Optional[Exception] = None
        while True:
            # A busy machine may let much time pass before the last look.
            is_last = time.monotonic() > until
            try:
                value = condition()
                if value:
                    return value
            except Exception as other:  # The page changes while it is examined.
                error = other
            if is_last:
                break
            time.sleep(0.03)
        raise Failure(f"no {what} within {seconds:g} seconds{f': {error}' if error else ''}; the page shows: {self.browser.text()[:1500]}")

    def expect(self, holds: Any, what: str) -> None:
        if not holds:
            raise Failure(f"{what}; the page shows: {self.browser.text()[:1500]}")

    def settled(self) -> None:
        self.wait("end of the work", lambda: not self.browser.all("[aria-busy=true]"))

    def image(self, name: str) -> None:
        if self.options.images:
            os.makedirs(self.options.images, exist_ok=True)
            self.browser.driver.save_screenshot(os.path.join(self.options.images, name + ".png"))

    # The end

    def finish(self) -> None:
        """Checks what holds for every page that was shown."""
        problems = self.browser.problems([inspector.port for inspector in self.inspectors])
        if problems:
            raise Failure("; ".join(problems))

    def close(self) -> None:
        for process in self.processes:
            process.kill()
        self.browser.leave()
        for inspector in self.inspectors:
            inspector.stop()
        for cleanup in self.cleanups:
            cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)
