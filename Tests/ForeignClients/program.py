# SPDX-License-Identifier: MIT
"""`nanostore serve` as a program: what it prints, how it ends, and encrypted connections, with the HTTP client of Python."""

import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.error
from typing import List, Tuple

from harness import GUEST, GUEST_PASSWORD, PASSWORD, PATIENCE, USER, Trial, check, equal, expect, raises, request, required


@check
def serve(trial: Trial) -> None:
    """nanostore serve, found by its name, becomes the server, which answers until SIGTERM or SIGINT ends it with the status 0."""
    folder = trial.path("bin")
    os.mkdir(folder)
    # As an installed program, which a link in a folder of the path leads to.
    os.symlink(os.path.abspath(trial.options.tool), os.path.join(folder, "nanostore"))
    program = shutil.which("nanostore", path=folder)
    for number in [signal.SIGTERM, signal.SIGINT]:
        server = trial.start([str(program), "serve", trial.path("served.db"), "--port", "0"])
        answer = request("GET", server.url + "_up")
        equal(answer["status"], "ok", "_up")
        if os.path.exists("/proc/self/exe"):
            equal(os.path.basename(os.readlink(f"/proc/{server.process.pid}/exe")), "nanostore-server", "the program of the process")
        equal(server.end(number), 0, f"the status after signal {number}")


@check
def listeners(trial: Trial) -> None:
    """SIGTERM ends the feed of a connected listener as a complete response, and then the server with the status 0."""
    server = trial.serve("served.db", "--manage-databases")
    request("PUT", server.url + "films")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        connection.request("GET", "/films/_changes?feed=continuous&since=0&heartbeat=60000")
        feed = connection.getresponse()
        request("PUT", server.url + "films/alien", {})
        # Empty lines keep the connection alive.
        line = next(line for line in iter(feed.readline, b"") if line.strip())
        equal(json.loads(line)["id"], "alien", "the change")
        equal(server.end(), 0, "the status")
        # A connection that is cut would raise IncompleteRead.
        rest = feed.read()
        expect(not rest.strip() or "last_seq" in json.loads(rest), f"the feed ends with {rest!r}")
    finally:
        connection.close()


@check
def restarts(trial: Trial) -> None:
    """What a client writes is read by nanostore while the server runs, and the other way around, and is there after a restart."""
    store = trial.path("stored.db")
    server = trial.serve("stored.db", "--manage-databases")
    request("PUT", server.url + "films")
    first = request("PUT", server.url + "films/alien", {"title": "Alien"})
    read = trial.tool("get", store, "films", "alien")
    expect(read.returncode == 0 and json.loads(read.stdout).get("title") == "Alien", f"nanostore get: {read.stdout}{read.stderr}")
    written = trial.tool("import", store, "films", "-", "--key", "title", input='{"title": "Brazil", "year": 1985}\n')
    expect(written.returncode == 0, f"nanostore import: {written.stderr}")
    equal(request("GET", server.url + "films/Brazil").get("year"), 1985, "the document of nanostore import")
    position = request("GET", server.url + "films/_changes")["last_seq"]
    equal(server.end(), 0, "the status")
    again = trial.serve("stored.db")
    document = request("GET", again.url + "films/alien")
    equal((document["title"], document["_rev"]), ("Alien", first["rev"]), "the document after a restart")
    equal(request("GET", f"{again.url}films/_changes?since={position}")["results"], [], "the changes since the position of the first server")


@check
def refusals(trial: Trial) -> None:
    """A store, port, file or option that cannot be used ends nanostore serve with a sentence that names it."""
    text = trial.write("text.db", "not a store\n" * 100)
    users, malformed, open_users = trial.write("users", "a:b\n"), trial.write("malformed", "a:b\nc\n"), trial.write("open", "a:b\n")
    os.chmod(open_users, 0o644)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        cases: List[Tuple[List[str], str]] = [
            ([text], text),
            ([os.path.join(text, "served.db")], text),
            ([trial.folder], trial.folder),
            ([trial.path("a.db"), "--port", port], f"127.0.0.1, port {port}: Address already in use"),
            ([trial.path("b.db"), "--port", "70000"], "--port is 0 to 65535"),
            ([trial.path("c.db"), "--host", "0.0.0.0"], "--users is required"),
            ([trial.path("d.db"), "--host", "203.0.113.1", "--users", users], "203.0.113.1"),
            ([trial.path("e.db"), "--users", trial.path("nobody")], "nobody"),
            ([trial.path("f.db"), "--users", malformed], "Line 2"),
            ([trial.path("g.db"), "--users", open_users], "chmod 600"),
            ([trial.path("h.db"), "--certificate", users], "--certificate and --key"),
            ([trial.path("i.db"), "--certificate", users, "--key", users], users),
            ([trial.path("k.db"), "--collection", "Films"], "Films"),
            ([trial.path("l.db"), "--origin", "https://app.example.com/"], "https://app.example.com/"),
            ([], "database"),
            ([trial.path("j.db"), "--prot", "1"], "--prot"),
        ]
        for arguments, named in cases:
            if "--port" not in arguments:
                arguments = [*arguments, "--port", "0"]
            result = trial.tool("serve", *arguments)
            expect(result.returncode in (1, 64), f"{arguments}: the status is {result.returncode}: {result.stdout}{result.stderr}")
            first = (result.stderr.splitlines() or [""])[0]
            expect(first.lower().startswith("error: ") and named in first, f"{arguments}: {result.stderr!r}")
            equal(result.stdout, "", f"{arguments}: the output")


@check
def alone(trial: Trial) -> None:
    """Without the server's program beside it, nanostore serve says what is missing and how to build it."""
    copy = shutil.copy(trial.options.tool, trial.path("nanostore"))
    result = subprocess.run([copy, "serve", trial.path("served.db")], capture_output=True, text=True, timeout=PATIENCE)
    expect(result.returncode == 1 and "--product nanostore-server" in result.stderr, f"status {result.returncode}: {result.stderr}")


@check
def logins(trial: Trial) -> None:
    """A server with users answers those with the right password, also with names and passwords of any characters."""
    server = trial.server()
    equal(request("GET", server.url + "_up")["status"], "ok", "_up without a login")
    session = request("GET", server.url + "_session", user=f"{GUEST}:{GUEST_PASSWORD}")["userCtx"]
    equal((session["name"], session["roles"]), (GUEST, []), "the user")
    equal(request("GET", server.url + "_session", user=f"{USER}:{PASSWORD}")["userCtx"]["roles"], ["_admin"], "the roles of the administrator")
    for user in ["", f"{GUEST}:{PASSWORD}", f"{GUEST}:", f"nobody:{PASSWORD}", "*:"]:
        error = raises(urllib.error.HTTPError, f"the login {user!r}", request, "GET", server.url + "_all_dbs", user=user)
        equal(error.code, 401, f"the status of the login {user!r}")
    error = raises(urllib.error.HTTPError, "a new database of a user", request, "PUT", server.url + "films", user=f"{GUEST}:{GUEST_PASSWORD}")
    expect(error.code in (401, 403), f"the status of a new database of a user is {error.code}")


@check
def refused_bodies(trial: Trial) -> None:
    """A request that is refused gets its answer, also if the client sends its whole large body before it reads."""
    server = trial.server()
    # Python's client does so, and asks the server to close the connection. Larger than what connections buffer.
    body = {"docs": [{"text": "a" * 20_000_000}]}
    error = raises(urllib.error.HTTPError, "a database that does not exist", server.request, "POST", "nothing/_bulk_docs", body)
    equal(error.code, 404, "the status without the database")
    error = raises(urllib.error.HTTPError, "a wrong password", request, "POST", server.url + "nothing/_bulk_docs", body, user=f"{USER}:wrong")
    equal(error.code, 401, "the status with a wrong password")
    server.request("PUT", "films")
    error = raises(urllib.error.HTTPError, "a document that is too large", server.request, "POST", "films/_bulk_docs", body)
    equal(error.code, 413, "the status of a document that is too large")


@check
def encrypted(trial: Trial) -> None:
    """A server with a certificate answers clients that trust it over https, with TLS 1.2 or later, and neither other clients nor plain requests."""
    file, key = certificate(trial)
    server = trial.serve("encrypted.db", "--certificate", file, "--key", key, "--manage-databases")
    expect(server.url.startswith("https://"), f"the server prints {server.url}")
    trusting = ssl.create_default_context(cafile=file)
    equal(request("GET", server.url + "_up", context=trusting)["status"], "ok", "_up")
    request("PUT", server.url + "films", context=trusting)
    # Several records of TLS in both directions.
    text = "ä" * 1_000_000
    request("PUT", server.url + "films/large", {"text": text}, context=trusting)
    equal(request("GET", server.url + "films/large", context=trusting)["text"], text, "a large document")
    error = raises(urllib.error.URLError, "a client without the certificate", request, "GET", server.url + "_up", context=ssl.create_default_context())
    expect("CERTIFICATE_VERIFY_FAILED" in str(error), f"a client without the certificate: {error}")
    raises((http.client.HTTPException, OSError), "a plain request", request, "GET", f"http://127.0.0.1:{server.port}/_up")
    raises((ssl.SSLError, OSError), "an old version of TLS", old_connection, server.port)
    _, other = certificate(trial, "other")
    result = trial.tool("serve", trial.path("other.db"), "--port", "0", "--certificate", file, "--key", other)
    expect(result.returncode == 1 and other in result.stderr and "used together" in result.stderr, f"the key of another certificate: {result.stderr!r}")


def old_connection(port: int) -> str:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    # OpenSSL offers TLS 1.1 only at the level 0.
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain, context.wrap_socket(plain) as connection:
        return str(connection.version())


def certificate(trial: Trial, name: str = "server") -> Tuple[str, str]:
    """Makes a certificate of this machine, and returns the paths of it and of its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        raise required("openssl is missing; scripts/setup-foreign-clients installs it")
    file, key = trial.path(f"{name}-certificate.pem"), trial.path(f"{name}-key.pem")
    subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", file], check=True, capture_output=True, timeout=PATIENCE)
    return file, key
