# SPDX-License-Identifier: MIT
"""An app writes while the inspector shows the store."""

import hashlib
import json
import os
import threading

from harness import Trial, check
from safety import ask
from screens import at


def content(path: str) -> "tuple[str, float]":
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest(), os.stat(path).st_mtime_ns


@check()
def live(trial: Trial) -> None:
    """Commits of another process appear with the documents, a tracked update with before and after, and can be paused and filtered."""
    store = trial.films()
    trial.tool("configure", store, "films", "--track-changes", "on") if "track" in trial.tool("configure", "--help") else None
    page = trial.open(trial.inspect(store), "#/live")
    trial.wait("the connection", lambda: "Listening" in page.text(".status"))
    trial.tool("put", store, "films", "New Film", '{"title": "New Film", "year": 2025}')
    trial.wait("the insertion", lambda: "New Film" in page.text(".commits"))
    trial.expect("inserted" in page.text(".commits"), "the kind of the change is missing")
    page.click("Pause")
    trial.tool("put", store, "films", "Other Film", '{"title": "Other Film", "year": 2026}')
    trial.wait("the paused commit", lambda: "1 commit since" in page.text(".status"))
    trial.expect("Other Film" not in page.text(".commits"), "the paused list changed")
    page.click("Resume")
    trial.wait("the commit", lambda: "Other Film" in page.text(".commits"))
    trial.image("live")


@check()
def following(trial: Trial) -> None:
    """The table and the open document follow changes of another process, mark them, and keep their history."""
    store = trial.films()
    page = trial.open(trial.inspect(store), at("documents", in_="films", where="[title] = 'Casablanca'"))
    page.click("Open Casablanca")
    trial.wait("the tree", lambda: "1942" in page.text(".tree"))
    trial.wait("the connection", lambda: page.all("#live-dot.on"))
    trial.tool("update", store, "films", "Casablanca", '{"$set": {"year": 1943}}')
    trial.wait("the new year in the table", lambda: "1943" in page.text(".documents-table"))
    trial.expect(page.all("td.changed"), "the change is not marked")
    trial.wait("the history", lambda: "1942" in page.text(".history") and "1943" in page.text(".history"))


@check()
def hidden(trial: Trial) -> None:
    """A hidden page holds no connection; when it is shown again, it reads what it has missed."""
    def show(is_shown: bool) -> None:
        page.script("Object.defineProperty(document, 'hidden', { value: !arguments[0], configurable: true }); document.dispatchEvent(new Event('visibilitychange'))", is_shown)

    store = trial.films()
    page = trial.open(trial.inspect(store), at("documents", in_="films", where="[title] = 'Casablanca'"))
    trial.wait("the connection", lambda: page.all("#live-dot.on"))
    show(False)
    trial.wait("no connection", lambda: not page.all("#live-dot.on"))
    trial.tool("update", store, "films", "Casablanca", '{"$set": {"year": 1943}}')
    show(True)
    trial.wait("the new year", lambda: "1943" in page.text(".documents-table"))
    page.click("Live", "header")
    trial.wait("the gap", lambda: "may be missing" in page.text(".commits"))


@check()
def long_history(trial: Trial) -> None:
    """The history of a document shows what has changed, and no difference between a part of a value and the whole."""
    store = trial.path("long.db")
    trial.documents(store, "texts", [{"id": "a", "text": "x" * 1000, "n": 1}], "--key", "id")
    page = trial.open(trial.inspect(store), at("documents", in_="texts"))
    trial.wait("the connection", lambda: page.all("#live-dot.on"))
    page.click("Open a")
    trial.wait("the tree", lambda: page.all(".tree"))
    trial.expect(not page.all(".history"), "opening the document is a change")
    trial.tool("update", store, "texts", "a", '{"$set": {"n": 2}}')
    trial.wait("the history", lambda: page.all(".history"))
    trial.settled()
    trial.expect(page.texts(".history tbody th") == ["n"], f"the changed fields are {page.texts('.history tbody th')}")


@check()
def longer_history(trial: Trial) -> None:
    """The history keeps the longer values of an opened document, and says so if no difference can be shown."""
    store = trial.path("long.db")
    texts = ["x" * 300_000, "x" * 1000 + "y" + "x" * 298_999, "x" * 1000 + "y" + "x" * 298_998 + "y"]

    def put(text: str) -> None:
        trial.tool("put", store, "texts", "a", input=json.dumps({"text": text}))

    put(texts[0])
    trial.tool("put", store, "texts", "b", '{"n": 1}')
    page = trial.open(trial.inspect(store), at("documents", in_="texts"))
    trial.wait("the connection", lambda: page.all("#live-dot.on"))
    page.click("Open a")
    trial.wait("the tree", lambda: page.all(".tree"))
    page.click("Close the document")
    trial.tool("update", store, "texts", "b", '{"$set": {"n": 2}}')
    trial.wait("the new number", lambda: "2" in page.texts(".documents-table td.int"))
    put(texts[1])
    page.click("Open a")
    trial.wait("the history", lambda: page.all(".history"))
    trial.expect(page.texts(".history tbody th") == ["text"], f"the changed fields are {page.texts('.history tbody th')}")
    put(texts[2])
    trial.wait("the second change", lambda: "too long to show" in page.text(".history"))
    trial.settled()
    trial.expect(len(page.all(".history .difference")) == 1, "a difference is empty")


@check()
def busy(trial: Trial) -> None:
    """While a program writes all the time, pages answer, no document is shown twice, and the writer never waits for a lock."""
    store = trial.path("busy.db")
    trial.documents(store, "events", [{"n": number} for number in range(3000)])
    inspector = trial.inspect(store)
    ended = threading.Event()
    errors = []

    def write() -> None:
        number = 3000
        while not ended.is_set():
            try:
                trial.documents(store, "events", [{"n": number + step} for step in range(50)])
            except Exception as error:
                errors.append(str(error))
            number += 50

    writer = threading.Thread(target=write)
    writer.start()
    try:
        page = trial.open(inspector, at("documents", in_="events", sort="[n]"))
        seen = []
        for _ in range(8):
            numbers = trial.wait("numbers", lambda: page.texts(".documents-table td.int"))
            seen += numbers
            position = page.driver.current_url
            page.click("Next")
            trial.wait("the next page", lambda: page.driver.current_url != position and page.texts(".documents-table td.int")[0] != numbers[0])
            trial.settled()
        trial.expect(seen == [str(number) for number in range(400)], "the pages repeat or skip documents")
        trial.open(inspector, at("shape", in_="events"))
        trial.wait("the shape", lambda: page.all(".path"))
    finally:
        ended.set()
        writer.join()
    trial.expect(not errors, f"the writer failed: {errors}")


@check()
def untouched(trial: Trial) -> None:
    """Visiting every screen changes no byte of the file and leaves no file behind."""
    store = trial.films()
    # A file without a write-ahead log and one with it.
    before = content(store)
    files = set(os.listdir(trial.folder)) | {"library.db-wal", "library.db-shm"}
    inspector = trial.inspect(store)
    for screen in ["#/", "#/live", "#/maintenance", at("documents", in_="films", where="[year] > 1950", sort="[rating] DESC"), at("explain", in_="films"), at("shape", in_="films"), at("indexes", in_="films"), at("chart", in_="films"), at("graph", in_="films", row="3")]:
        trial.open(inspector, screen)
        trial.settled()
    # Downloads read only.
    for call in ["backup", "export?in=films&format=csv"]:
        trial.expect(ask(inspector, inspector.path + f"api/{call}")[0] == 200, f"{call} fails")
    trial.browser.leave()
    trial.expect(inspector.stop() == 0, "the inspector does not end in order")
    trial.expect(content(store) == before, "the file has changed")
    trial.expect(set(os.listdir(trial.folder)) <= files, f"there are new files: {os.listdir(trial.folder)}")
