# SPDX-License-Identifier: MIT
"""A page that runs PouchDB in headless Chromium, of another origin than the server's."""

import glob
import http.server
import os
import sys
import tarfile
import tempfile
import threading
from typing import Any, Dict

from harness import PATIENCE, Failure, Server, Shared, Trial, required

HERE = os.path.dirname(os.path.abspath(__file__))

# The version in Python-PouchDB 0.4.1, the last one on PyPI.
VERSION = "2.2.3"

HTML = b"<!doctype html><meta charset=utf-8><title>PouchDB</title><script src=pouchdb.js></script><script src=page.js></script>"


def library(shared: Shared) -> bytes:
    """Returns PouchDB from the source package."""
    found = glob.glob(shared.packages("Python-PouchDB-*.tar.gz"))
    if not found:
        raise required("The source of Python-PouchDB is missing; scripts/setup-foreign-clients downloads it")
    with tarfile.open(found[0]) as package:
        member = next(member for member in package if member.name.endswith("/pouchdb/bundle.js"))
        file = package.extractfile(member)
        assert file is not None
        return file.read()


class PageServer:
    """Serves the page on a free port of this machine."""

    def __init__(self, files: Dict[str, bytes]) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                content = files.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Type", "text/html" if self.path == "/" else "text/javascript; charset=utf-8")
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_port

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Page:
    """The page, in a browser that all checks share."""

    def __init__(self, shared: Shared) -> None:
        # The browser of the inspector's tests.
        sys.path.append(os.path.join(HERE, "..", "Browser"))
        try:
            from browser import Browser, find_chromium
        except ImportError:
            raise required("Selenium is missing; scripts/setup-browser installs it") from None
        programs = find_chromium()
        if programs is None:
            raise required("Chromium or chromedriver is missing; scripts/setup-browser installs them")
        with open(os.path.join(HERE, "page.js"), "rb") as file:
            script = file.read()
        self.server = PageServer({"/": HTML, "/pouchdb.js": library(shared), "/page.js": script})
        self.browser = Browser(programs, tempfile.mkdtemp(dir=shared.folder))
        self.browser.driver.set_script_timeout(PATIENCE)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def open(self, origin: str = "") -> None:
        """Loads the page again, which ends what its scripts do."""
        self.browser.driver.get("about:blank")
        self.browser.driver.get((origin or self.origin) + "/")
        version = self.browser.script("return PouchDB.version")
        if version != VERSION:
            raise Failure(f"the version of PouchDB is {version}")

    def run(self, script: str, *arguments: Any) -> Any:
        """Runs the body of an asynchronous function, and returns its result. `given` has the arguments."""
        answer = self.browser.driver.execute_async_script(
            "const [given, done] = arguments; (async () => {" + script + "})().then((value) => done({ value }), (error) => done({ error: describe(error) }));", list(arguments))
        if "error" in answer:
            raise Failure(f"PouchDB: {answer['error']}")
        return answer.get("value")

    def close(self) -> None:
        self.browser.close()
        self.server.close()


def page(trial: Trial) -> "tuple[Page, Server]":
    """Returns the freshly loaded page, and a server that its origin may use."""
    found: Page = trial.shared.get("page", lambda: Page(trial.shared))
    server = trial.server("--origin", found.origin)
    found.open()
    return found, server
