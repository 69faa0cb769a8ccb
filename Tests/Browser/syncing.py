# SPDX-License-Identifier: MIT
"""The state of sync, and conflicts."""

import json
import os
import socket
import subprocess
import urllib.request
from typing import Any, Dict, List

from harness import Trial, check
from screens import at


def serve(trial: Trial, store: str) -> "tuple[subprocess.Popen[bytes], str]":
    """Starts a server for a file, and returns its URL."""
    program = os.path.join(os.path.dirname(trial.options.inspector), "nanostore-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([program, store, "--port", str(port), "--manage-databases"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    trial.processes.append(server)
    url = f"http://127.0.0.1:{port}"

    def is_up() -> bool:
        try:
            return urllib.request.urlopen(url + "/_up", timeout=5).status == 200
        except OSError:
            return False

    trial.wait("the server", is_up)
    return server, url


def call(url: str, method: str, body: Any = None) -> Any:
    request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    return json.loads(urllib.request.urlopen(request, timeout=300).read())


def revision(key: str, generation: int, digit: str, fields: Dict[str, Any], parents: List[str]) -> Dict[str, Any]:
    ids = [digit * 32, *parents]
    return {"_id": key, "_rev": f"{generation}-{ids[0]}", "_revisions": {"start": generation, "ids": ids}, **fields}


def conflicted(trial: Trial) -> str:
    """Creates a store with three documents, one of which was edited on two devices."""
    store = trial.path("synced.db")
    server, url = serve(trial, store)
    call(url + "/films", "PUT")
    root = "1" * 32
    alien = {"title": "Alien", "year": 1979, "seen": False, "director": "unknown"}
    documents = [
        revision("alien", 1, "1", alien, []),
        revision("alien", 2, "b", {**alien, "director": "Ridley Scott"}, [root]),
        revision("alien", 2, "a", {**alien, "seen": True}, [root]),
        revision("<b>ran</b>", 1, "1", {"title": "Ran"}, []),
    ]
    for document in documents:
        call(url + "/films/_bulk_docs", "POST", {"docs": [document], "new_edits": False})
    trial.expect(call(url + "/films/alien?conflicts=true", "GET")["_conflicts"] == ["2-" + "a" * 32], "the server has no conflict")
    call(url + "/films/_local/phone", "PUT", {"session_id": "s", "history": []})
    server.terminate()
    server.wait(300)
    return store


@check()
def nothing(trial: Trial) -> None:
    """Without sync, the screen says how it is set up."""
    page = trial.open(trial.inspect(trial.films()), "#/sync")
    trial.wait("the explanation", lambda: "No collection is synchronized" in page.text("main"))


@check()
def conflict(trial: Trial) -> None:
    """A conflict is listed with both versions; an inspector that only reads does not offer to resolve it, and changes nothing."""
    store = conflicted(trial)
    before = trial.tool("sql", store, "SELECT * FROM nano_sync_state")
    trial.tool("update", store, "films", "<b>ran</b>", '{"$set": {"year": 1985}}')
    page = trial.open(trial.inspect(store), "#/sync")
    trial.wait("the collection", lambda: "1 document" in page.text(".synced"))
    trial.expect("1 change" in page.text(".synced"), "the change without a revision is not counted")
    trial.expect("run by the other side (phone)" in page.text(".synced"), "the other side is missing")
    page.one(".conflicts a").click()
    trial.wait("the versions", lambda: "Ridley Scott" in page.text(".conflict .difference"))
    trial.expect("--write" in page.text(".conflict"), "the page does not say how to resolve conflicts")
    trial.image("sync")
    for width in (400, 2560):
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
        trial.expect(not page.overflow(), f"the screen is wider than {width} pixels")
    trial.expect(trial.tool("sql", store, "SELECT * FROM nano_sync_state") == before, "looking has written")


@check()
def resolving(trial: Trial) -> None:
    """Merging by field keeps both edits; a document that has changed since is not resolved."""
    store = conflicted(trial)
    page = trial.open(trial.inspect(store, "--write"), at("sync", in_="films", key="alien"))
    trial.wait("the versions", lambda: page.all(".conflict .difference"))
    trial.tool("update", store, "films", "alien", '{"$set": {"year": 1980}}')
    page.click("Take the losing version")
    trial.wait("the refusal", lambda: "changed in the meantime" in page.text(".conflict"))
    trial.expect(json.loads(trial.tool("get", store, "films", "alien"))["year"] == 1980, "the change is lost")
    page.click("Show it again")
    trial.wait("the versions", lambda: "1980" in page.text(".conflict .difference"))
    page.click("Merge by field")
    trial.wait("no conflict", lambda: "0 documents" in page.text(".synced"))
    film = json.loads(trial.tool("get", store, "films", "alien"))
    trial.expect(film["year"] == 1980 and film["seen"] is True and film["director"] == "Ridley Scott", f"an edit is lost: {film}")
