# SPDX-License-Identifier: MIT
"""The reverse proxy nginx, with the configuration in docs/SYNC-SERVER.md, between the server and Python's HTTP client."""

import base64
import glob
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import socket
import ssl
import subprocess
from typing import Any, Dict, Optional, Tuple

from harness import PASSWORD, PATIENCE, USER, Server, Trial, check, end_with_parent, equal, expect, required, wait
from program import certificate

HERE = os.path.dirname(os.path.abspath(__file__))


class Proxy:
    """A running nginx, in a folder of its own."""

    def __init__(self, trial: Trial, server: Server) -> None:
        found = shutil.which("nginx") or next(iter(glob.glob(trial.shared.packages("nginx/usr/sbin/nginx"))), None)
        if found is None:
            raise required("nginx is missing; scripts/setup-foreign-clients downloads it")
        file, key = certificate(trial)
        self.context = ssl.create_default_context(cafile=file)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        with open(os.path.join(HERE, "..", "..", "docs", "SYNC-SERVER.md"), encoding="utf-8") as article:
            block = re.search(r"^```\n(server \{\n.*?\n\})\n```$", article.read(), re.MULTILINE | re.DOTALL)
        expect(block, "docs/SYNC-SERVER.md has no configuration of nginx")
        text = block.group(1)  # type: ignore[union-attr]
        for pattern, value in [(r"listen 443 ssl;", f"listen 127.0.0.1:{self.port} ssl;"), (r"127\.0\.0\.1:5984", f"127.0.0.1:{server.port}"),
                               (r"ssl_certificate \S+;", f"ssl_certificate {file};"), (r"ssl_certificate_key \S+;", f"ssl_certificate_key {key};")]:
            text, count = re.subn(pattern, value, text)
            equal(count, 1, f"the number of {pattern} in the configuration")
        folder = trial.path("nginx")
        os.makedirs(os.path.join(folder, "logs"))
        paths = "".join(f"{name}_temp_path {folder}/{name};\n" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        main = "" if os.getuid() else "user root;\n"
        configuration = trial.write("nginx.conf", f"{main}daemon off;\nworker_processes 1;\npid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}{text}\n}}\n")
        self.log = os.path.join(folder, "log")
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen([found, "-p", folder, "-e", "stderr", "-c", configuration], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                            preexec_fn=end_with_parent)
        trial.cleanups.append(self.stop)
        wait("answer of nginx", self.answers)

    def answers(self) -> bool:
        if self.process.poll() is not None:
            with open(self.log) as file:
                expect(False, f"nginx does not start: {file.read()}")
        try:
            return self.request("GET", "/_up")[0] == 200
        except OSError:
            return False

    def connection(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("localhost", self.port, timeout=PATIENCE, context=self.context)

    def request(self, method: str, path: str, body: Any = None, headers: Optional[Dict[str, str]] = None) -> Tuple[int, bytes]:
        connection = self.connection()
        try:
            connection.request(method, path, body, dict(login(), **(headers or {})))
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def stop(self) -> None:
        # SIGTERM ends the workers, too.
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def login() -> Dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()}


@check
def documents(trial: Trial) -> None:
    """Through nginx, IDs and names of databases with escaped characters mean the same as without it, and cookies work."""
    server = trial.server()
    proxy = Proxy(trial, server)
    kind = {"Content-Type": "application/json"}
    for path in ["/films%2Fold", "/films%2Fold/a%2Fb", "/films%2Fold/%C3%BC%20%2B+%3F%25"]:
        status, answer = proxy.request("PUT", path, b"{}", kind)
        equal(status, 201, f"the status of {path}, {answer!r},")
    equal(sorted(row["id"] for row in server.request("GET", "films%2Fold/_all_docs")["rows"]), ["a/b", "ü ++?%"], "the IDs")
    connection = proxy.connection()
    try:
        connection.request("POST", "/_session", json.dumps({"name": USER, "password": PASSWORD}), kind)
        response = connection.getresponse()
        response.read()
        cookie = str(response.getheader("Set-Cookie")).split(";")[0]
        connection.request("GET", "/films%2Fold", headers={"Cookie": cookie})
        response = connection.getresponse()
        equal((response.status, json.load(response)["doc_count"]), (200, 2), "the answer to the cookie")
    finally:
        connection.close()


@check
def feeds(trial: Trial) -> None:
    """Through nginx, a feed delivers each change when it happens, and ends with the server."""
    server = trial.server()
    proxy = Proxy(trial, server)
    server.request("PUT", "films")
    connection = proxy.connection()
    try:
        connection.request("GET", "/films/_changes?feed=continuous&since=0&heartbeat=60000", headers=login())
        feed = connection.getresponse()
        lines = (line for line in iter(feed.readline, b"") if line.strip())
        # Each document is written only after the change before it has arrived.
        for n in range(3):
            server.request("PUT", f"films/d{n}", {})
            equal(json.loads(next(lines))["id"], f"d{n}", "the change")
        status, answer = proxy.request("GET", "/films/_changes?feed=longpoll&since=0")
        equal((status, len(json.loads(answer)["results"])), (200, 3), "the answer to a long poll")
        equal(server.end(), 0, "the status of the server")
        rest = feed.read()
        expect(not rest.strip() or b"last_seq" in rest, f"the feed ends with {rest!r}")
    finally:
        connection.close()


@check
def large_bodies(trial: Trial) -> None:
    """Through nginx, large attachments and documents are sent and received as without it."""
    server = trial.server()
    proxy = Proxy(trial, server)
    server.request("PUT", "films")
    data = random.Random(3).randbytes(1 << 20) * 32
    status, answer = proxy.request("PUT", "/films/a/data", data, {"Content-Type": "application/octet-stream"})
    equal(status, 201, f"the status of the attachment, {answer!r},")
    status, found = proxy.request("GET", "/films/a/data")
    equal((status, hashlib.sha256(found).digest()), (200, hashlib.sha256(data).digest()), "the attachment")
    status, found = proxy.request("GET", "/films/a/data", headers={"Range": "bytes=5000000-5000009"})
    equal((status, found), (206, data[5_000_000:5_000_010]), "a range of the attachment")
    # Sent in chunks, so that its length is not known before.
    documents = [json.dumps({"_id": f"d{n:02}", "text": "ä" * 100_000}, ensure_ascii=False).encode() for n in range(20)]
    chunks = [b'{"docs":[', *(part for document in documents for part in (document, b","))]
    chunks[-1] = b"]}"
    connection = proxy.connection()
    try:
        connection.request("POST", "/films/_bulk_docs", iter(chunks), dict(login(), **{"Content-Type": "application/json"}), encode_chunked=True)
        response = connection.getresponse()
        results = json.load(response)
    finally:
        connection.close()
    equal((response.status, [bool(result.get("ok")) for result in results]), (201, [True] * 20), "the results of the documents")
    status, found = proxy.request("GET", "/films/_all_docs?include_docs=true")
    equal((status, [len(row["doc"].get("text", "")) for row in json.loads(found)["rows"]]), (200, [0] + [100_000] * 20), "the documents")
