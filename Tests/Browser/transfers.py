# SPDX-License-Identifier: MIT
"""Backups, exports, imports and attachments."""

import http.client
import json
import os
import re
import socket
import sqlite3
import time

from harness import FILMS, Inspector, Trial, check
from safety import ask
from screens import at


def downloads(trial: Trial) -> str:
    """Lets the browser save downloads in a folder, which is returned."""
    folder = trial.path("downloads")
    os.makedirs(folder, exist_ok=True)
    trial.browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})
    return folder


def saved(trial: Trial, folder: str) -> str:
    """Waits for the only download, and returns its path."""
    def complete() -> "list[str]":
        names = os.listdir(folder)
        return names if names and not any(name.endswith(".crdownload") or name.startswith(".") for name in names) else []
    names = trial.wait("the download", complete)
    return os.path.join(folder, names[0])


@check()
def backup(trial: Trial) -> None:
    """A backup is downloaded as a store with all documents, and leaves no file behind."""
    store = trial.films("my library.db")
    folder = downloads(trial)
    page = trial.open(trial.inspect(store), "#/maintenance")
    page.click("Download a backup")
    trial.wait("the end", lambda: "Sent" in page.text(".transfers"))
    path = saved(trial, folder)
    trial.expect(os.path.basename(path) == "Backup of my library.db", f"the file is {path}")
    trial.expect(trial.tool("count", path, "films").strip() == "42", "the backup lacks documents")
    trial.image("maintenance")


@check()
def exporting(trial: Trial) -> None:
    """The documents of a condition are exported from the table as JSON that can be imported, and as CSV."""
    store = trial.films()
    folder = downloads(trial)
    page = trial.open(trial.inspect(store), at("documents", in_="films", where="[year] < 1930"))
    page.click("Export all matching documents")
    trial.wait("the form", lambda: page.button("Export", "main"))
    page.click("Export", "main")
    trial.wait("the end", lambda: "Exported 1 document" in page.text(".transfers"))
    path = saved(trial, folder)
    trial.expect(os.path.basename(path) == "films.ndjson", f"the file is {path}")
    copy = trial.path("copy.db")
    trial.tool("import", copy, "films", path)
    trial.expect(json.loads(trial.tool("get", copy, "films", "Metropolis"))["year"] == 1927, "the export cannot be imported")
    os.remove(path)
    page.script("const s = document.querySelectorAll('[aria-label=Export] select')[1]; s.value = 'csv'")
    page.click("Export", "main")
    with open(saved(trial, folder), encoding="utf-8") as file:
        lines = file.read().splitlines()
    trial.expect(lines[0].startswith("__key__,title,year,genres,director.name") and lines[1].startswith("Metropolis,"), f"the table is {lines}")
    page.script("document.querySelector('[aria-label=Export] input').value = '[year] > >'")
    page.click("Export", "main")
    trial.wait("the error", lambda: page.text("[aria-label=Export] .problem"))


@check()
def importing(trial: Trial) -> None:
    """A file is imported into a new collection; an invalid record is reported with its line, and nothing is stored."""
    store = trial.films()
    page = trial.open(trial.inspect(store, "--write"), "#/maintenance")
    form = "[aria-label=Import]"
    page.one(f"{form} input[type=file]").send_keys(os.path.abspath(FILMS))
    trial.wait("the name", lambda: page.script(f"return document.querySelector('{form} input[list]').value") == "films")
    page.script(f"document.querySelector('{form} input[list]').value = 'more films'; document.querySelector('{form} input.mono').value = 'title'")
    page.click("Import", "main")
    trial.wait("the documents", lambda: "Imported 42 documents" in page.text(".transfers"))
    trial.wait("the collection", lambda: "more films" in page.text(".side"))
    trial.expect(json.loads(trial.tool("get", store, "more films", "Casablanca"))["year"] == 1942, "the import has other keys")

    broken = trial.path("broken.csv")
    with open(broken, "w") as file:
        file.write("a,b\n1,2\n3,4\n5,6,<b>7</b>\n")
    page.one(f"{form} input[type=file]").send_keys(broken)
    page.script(f"document.querySelector('{form} input[list]').value = 'broken'; document.querySelector('{form} input.mono').value = ''")
    page.click("Import", "main")
    trial.wait("the error", lambda: "Line 4" in page.text(".transfers .problem"))
    trial.expect("broken" not in trial.tool("collections", store), "the failed import has created a collection")
    page.script(f"document.querySelectorAll('{form} input[type=checkbox]')[1].checked = true")
    page.click("Import", "main")
    trial.wait("the report", lambda: "Imported 2 documents; skipped 1 invalid record" in page.text(".transfers"))
    trial.image("import")


@check()
def cancelling(trial: Trial) -> None:
    """A running import is canceled from the page, on any screen, and nothing of it is stored; a client that leaves an export ends it."""
    store = trial.films()
    lines = trial.path("large.ndjson")
    with open(lines, "w") as file:
        for number in range(120_000):
            file.write('{"n": %d, "text": "lorem ipsum dolor sit amet", "a": {"b": [1, 2, {"c": "d"}]}}\n' % number)
    inspector = trial.inspect(store, "--write")
    page = trial.open(inspector, "#/maintenance")
    form = "[aria-label=Import]"
    page.one(f"{form} input[type=file]").send_keys(lines)
    page.click("Import", "main")
    trial.wait("progress", lambda: "Importing" in page.text(".transfers"))
    page.click("Overview", "header")
    trial.wait("the overview", lambda: page.all(".cards"))
    page.click("Maintenance", "header")
    trial.wait("the import", lambda: "Importing" in page.text(".transfers"))
    page.click("Cancel: Import of large.ndjson into large")
    trial.wait("the end", lambda: "Nothing was imported" in page.text(".transfers"))
    trial.expect("large" not in trial.tool("collections", store), "the canceled import has stored documents")

    trial.tool("import", store, "large", lines)
    connection = socket.create_connection(("127.0.0.1", inspector.port))
    connection.sendall(f"GET {inspector.path}api/export?in=large&id=left HTTP/1.1\r\nHost: 127.0.0.1:{inspector.port}\r\n\r\n".encode())
    connection.recv(1000)
    # Nothing is read, so the export waits.
    time.sleep(0.5)
    state = json.loads(ask(inspector, inspector.path + "api/transfer?id=left")[1])
    trial.expect(state["state"] == "running" and 0 < state["done"] < 120_000, f"the export does not wait for its client: {state}")
    connection.close()
    trial.wait("the end", lambda: json.loads(ask(inspector, inspector.path + "api/transfer?id=left")[1])["state"] == "canceled")

    request = http.client.HTTPConnection("127.0.0.1", inspector.port, timeout=300)
    request.request("GET", inspector.path + "api/export?in=large&id=stopped")
    response = request.getresponse()
    trial.expect(response.getheader("Content-Disposition", "").startswith("attachment"), "the browser would show the export")
    trial.expect(ask(inspector, inspector.path + "api/cancel?id=stopped", {"Content-Type": "application/json"}, "POST", "{}")[0] == 200, "the export cannot be canceled")
    try:
        response.read()
        trial.expect(False, "a canceled export looks complete")
    except http.client.IncompleteRead:
        pass


def status(process: int) -> "tuple[str, int]":
    """The state of a process, and the process that has started it."""
    try:
        with open(f"/proc/{process}/stat") as file:
            state, parent = file.read().rsplit(")", 1)[1].split()[:2]
        return state, int(parent)
    except OSError:
        return "none", 0


def is_running(process: int) -> bool:
    return status(process)[0] not in ("none", "Z")


def children(inspector: Inspector) -> "list[int]":
    """The running processes that the inspector has started."""
    processes = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [process for process in processes if is_running(process) and status(process)[1] == inspector.process.pid]


@check()
def maintaining(trial: Trial) -> None:
    """Verification and compaction show for how long they have been running, on any screen; canceling ends their process, and so does the end of the inspector."""
    store = trial.path("large.db")
    lines = trial.path("large.ndjson")
    with open(lines, "w") as file:
        for number in range(120_000):
            file.write('{"n": %d, "text": "lorem ipsum dolor sit amet", "a": {"b": [1, 2, {"c": "d"}]}}\n' % number)
    trial.tool("import", store, "large", lines)
    size = os.path.getsize(store)
    inspector = trial.inspect(store, "--write")
    page = trial.open(inspector, "#/maintenance")
    for start, title in (("Verify", "Verification of large.db"), ("Compact", "Compaction of large.db")):
        # A fast machine compacts the file before the click that cancels it. A writer makes the compaction wait.
        writer = sqlite3.connect(store, isolation_level=None)
        if start == "Compact":
            writer.execute("BEGIN IMMEDIATE")
        page.click(start, "main")
        trial.wait("the time", lambda: re.search(r"(Verifying|Compacting) for \d+ s", page.text(".transfers")))
        if start == "Verify":
            trial.expect(len(children(inspector)) == 1, "verification has no process")
            page.click("Overview", "header")
            trial.wait("the overview", lambda: page.all(".cards"))
            page.click("Maintenance", "header")
            trial.wait("the verification", lambda: re.search(r"Verifying for [1-9]", page.text(".transfers")))
            trial.image("verifying")
        page.click(f"Cancel: {title}")
        trial.wait("the end", lambda: "Canceled. The documents are unchanged." in page.text(".transfer"))
        trial.wait("the end of the process", lambda: not children(inspector))
        writer.close()
    page.click("Compact", "main")
    trial.wait("the outcome", lambda: "Compacted from" in page.text(".transfers"))
    trial.expect(trial.tool("count", store, "large").strip() == "120000" and os.path.getsize(store) <= size, "compaction has changed documents")
    trial.finish()
    trial.browser.leave()
    connection = socket.create_connection(("127.0.0.1", inspector.port))
    connection.sendall(f"GET {inspector.path}api/verify HTTP/1.1\r\nHost: 127.0.0.1:{inspector.port}\r\n\r\n".encode())
    child = trial.wait("the process", lambda: children(inspector))[0]
    inspector.process.kill()
    trial.wait("the end of the process", lambda: not is_running(child))
    connection.close()


@check()
def attachments(trial: Trial) -> None:
    """The attachments of a document are listed with type and size, and saved under their names, whatever these contain."""
    store = trial.films()
    content = bytes(range(256)) * 50
    with open(trial.path("content"), "wb") as file:
        file.write(content)
    name = "<b>poster</b> \u202e.html"
    trial.tool("attachment", "add", store, "films", "Casablanca", trial.path("content"), "--name", name, "--type", "text/html")
    trial.tool("expire", store, "films", "Casablanca", "--at", "2100-01-01T00:00:00Z")
    folder = downloads(trial)
    page = trial.open(trial.inspect(store), at("documents", in_="films"))
    page.click("Open Casablanca")
    trial.wait("the list", lambda: "<b>poster</b> \\u{202e}.html" in page.text(".attachments"))
    trial.expect("text/html" in page.text(".attachments") and "13 KB" in page.text(".attachments"), "the type or size is missing")
    trial.expect("2100-01-01" in page.text(".panel .facts"), "the expiration is missing")
    page.one(".attachments a").click()
    with open(saved(trial, folder), "rb") as file:
        trial.expect(file.read() == content, "the download has another content")
    trial.settled()
    trial.image("attachments")
