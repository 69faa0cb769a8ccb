# SPDX-License-Identifier: MIT
"""Editing with --write."""

import json
import sqlite3

from harness import Trial, check
from keys import Keys
from screens import at, rows


def edit(trial: Trial, change: "tuple[str, str]") -> None:
    page = trial.browser
    page.click("Edit")
    page.script("const t = document.querySelector('.edit textarea'); t.value = t.value.replace(arguments[0], arguments[1])", *change)


@check()
def editing(trial: Trial) -> None:
    """A document is edited as JSON, and saved after its differences were shown."""
    store = trial.films()
    page = trial.open(trial.inspect(store, "--write"), at("documents", in_="films"))
    page.click("Open Casablanca")
    trial.wait("the tree", lambda: page.all(".tree"))
    trial.expect("may write" in page.text("header"), "the page does not say that it may write")
    edit(trial, ("1942", "1943.5"))
    page.click("Review changes")
    trial.wait("the differences", lambda: "1942" in page.text(".edit .difference") and "1943.5" in page.text(".edit .difference"))
    trial.expect(json.loads(trial.tool("get", store, "films", "Casablanca"))["year"] == 1942, "the review has saved")
    page.click("Save these changes")
    trial.wait("the saved document", lambda: "1943.5" in page.text(".tree"))
    trial.expect(json.loads(trial.tool("get", store, "films", "Casablanca"))["year"] == 1943.5, "nothing was saved")


@check()
def conflict(trial: Trial) -> None:
    """If another process has changed the document, nothing is saved, and both versions are shown."""
    store = trial.films()
    page = trial.open(trial.inspect(store, "--write"), at("documents", in_="films"))
    page.click("Open Casablanca")
    trial.wait("the tree", lambda: page.all(".tree"))
    edit(trial, ("1942", "1999"))
    trial.tool("update", store, "films", "Casablanca", '{"$set": {"year": 1950}}')
    page.click("Review changes")
    trial.wait("the conflict", lambda: "changed in the meantime" in page.text(".edit"))
    trial.expect("1942" in page.text(".edit .difference") and "1950" in page.text(".edit .difference"), "a version is missing")
    page.click("Compare my text with the stored version")
    trial.wait("my changes", lambda: "1999" in page.text(".edit .difference"))
    page.click("Save these changes")
    trial.wait("the saved document", lambda: "1999" in page.text(".tree"))


@check()
def foreign_conflict(trial: Trial) -> None:
    """An edit can be saved although a program without NanoStore has changed the document."""
    store = trial.films()
    page = trial.open(trial.inspect(store, "--write"), at("documents", in_="films"))
    page.click("Open Casablanca")
    trial.wait("the tree", lambda: page.all(".tree"))
    edit(trial, ("1942", "1999"))
    connection = sqlite3.connect(store)
    connection.execute("UPDATE films SET body = replace(body, '1942', '1950') WHERE key = 'Casablanca'")
    connection.commit()
    connection.close()
    page.click("Review changes")
    trial.wait("the conflict", lambda: "changed in the meantime" in page.text(".edit"))
    page.click("Compare my text with the stored version")
    trial.wait("my changes", lambda: "1950" in page.text(".edit .difference") and "1999" in page.text(".edit .difference"))
    page.click("Save these changes")
    trial.wait("the saved document", lambda: "1999" in page.text(".tree"))


@check()
def unsaved(trial: Trial) -> None:
    """A changed text is not discarded by opening another document or screen, and what is saved is what was reviewed."""
    store = trial.films()
    page = trial.open(trial.inspect(store, "--write"), at("documents", in_="films"))
    page.click("Open Casablanca")
    trial.wait("the tree", lambda: page.all(".tree"))
    edit(trial, ("1942", "1999"))
    fragment = page.script("return location.hash")
    ways = {
        "Back": page.driver.back,
        "another document": lambda: page.script("document.querySelector('.documents-table tbody tr:not(.selected) th button').click()"),
        "Close": lambda: page.click("Close the document"),
        "another tab": lambda: page.click("Explain", ".tabs"),
        "another screen": lambda: page.click("Overview", "header"),
        "Edit": lambda: page.click("Edit"),
        "Delete": lambda: page.click("Delete"),
    }
    for name, way in ways.items():
        page.script("document.getElementById('notices').replaceChildren()")
        way()
        trial.wait(f"the notice after {name}", lambda: "unsaved changes" in page.text("#notices"))
        trial.wait(f"the URL after {name}", lambda: page.script("return location.hash") == fragment)
        trial.expect("1999" in page.script("return document.querySelector('.edit textarea')?.value ?? ''"), f"{name} discards the text")
    page.click("Review changes")
    trial.wait("the differences", lambda: page.all(".edit .difference"))
    page.one(".edit textarea").send_keys(" ")
    trial.wait("no differences", lambda: not page.all(".edit .difference"))
    trial.expect("Save these changes" not in page.text(".edit"), "a text that was not reviewed can be saved")
    page.click("Discard")
    page.click("Overview", "header")
    trial.wait("the overview", lambda: page.all(".cards"))


@check()
def back(trial: Trial) -> None:
    """After Back was refused because of a changed text, Back still leads to the screen before."""
    inspector = trial.inspect(trial.films(), "--write")
    document = at("documents", in_="films", doc="1")
    for before in ("#/", at("documents", in_="films")):
        page = trial.open(inspector, before)
        page.script("location.hash = arguments[0]", document)
        trial.wait("the tree", lambda: page.all(".tree"))
        edit(trial, ("{", "{ "))
        page.driver.back()
        trial.wait("the notice", lambda: "unsaved changes" in page.text("#notices"))
        trial.wait("the URL", lambda: page.script("return location.hash") == document)
        page.click("Discard")
        page.driver.back()
        trial.wait(f"{before} again", lambda: page.script("return location.hash") == before)


@check()
def escaping(trial: Trial) -> None:
    """Escape closes a document, but not while its text has unsaved changes."""
    store = trial.films()
    page = trial.open(trial.inspect(store, "--write"), at("documents", in_="films"))
    page.click("Open Casablanca")
    trial.wait("the tree", lambda: page.all(".tree"))
    edit(trial, ("1942", "1999"))
    page.one(".edit textarea").send_keys(Keys.ESCAPE)
    trial.wait("the notice", lambda: "unsaved changes" in page.text("#notices"))
    trial.expect("1999" in page.script("return document.querySelector('.edit textarea').value"), "the text is discarded")
    page.click("Discard")
    page.click("Edit")
    page.one(".edit textarea").send_keys(Keys.ESCAPE)
    trial.wait("the closed document", lambda: not page.one(".panel").is_displayed())


@check()
def long_values(trial: Trial) -> None:
    """A change behind the part of a value that is shown is found and saved, and a field may have any name."""
    store = trial.path("long.db")
    trial.documents(store, "texts", [{"text": "x" * 300_000 + "end", "": 1}])
    page = trial.open(trial.inspect(store, "--write"), at("documents", in_="texts", doc="1"))
    trial.wait("the tree", lambda: page.all(".tree"))
    trial.wait("the connection", lambda: page.all("#live-dot.on"))
    page.click("Copy Swift")
    trial.wait("the notice", lambda: "too long to copy" in page.text("#notices"))
    page.click("Edit")
    page.click("Review changes")
    trial.wait("no changes", lambda: "Nothing has changed" in page.text(".edit"))
    page.script("const t = document.querySelector('.edit textarea'); t.value = t.value.replace('xend', 'xEND')")
    page.click("Review changes")
    trial.wait("the changes", lambda: "too long to show" in page.text(".edit"))
    facts = page.text(".panel .facts")
    page.click("Save these changes")
    trial.wait("the saved document", lambda: json.loads(trial.tool("find", store, "texts"))["text"].endswith("END"))
    trial.wait("the new revision", lambda: page.text(".panel .facts") not in ("", facts))
    page.click("Edit")
    page.script("const t = document.querySelector('.edit textarea'); t.value = t.value.replace('\"\": 1', '\"\": 2')")
    page.click("Review changes")
    trial.wait("the changes", lambda: page.all(".edit .difference"))
    page.click("Save these changes")
    trial.wait("the saved document", lambda: json.loads(trial.tool("find", store, "texts"))[""] == 2)


@check()
def deleting(trial: Trial) -> None:
    """A document is deleted after a confirmation."""
    store = trial.films()
    page = trial.open(trial.inspect(store, "--write"), at("documents", in_="films", where="[title] = 'Casablanca'"))
    page.click("Open Casablanca")
    trial.wait("the tree", lambda: page.all(".tree"))
    page.click("Delete")
    page.click("Delete it")
    trial.wait("no document", lambda: "No document" in page.text(".table"))
    trial.expect(trial.tool("count", store, "films").strip() == "41", "the document is still there")


@check()
def indexing(trial: Trial) -> None:
    """Indexes are created and dropped."""
    store = trial.films()
    page = trial.open(trial.inspect(store, "--write"), at("indexes", in_="films"))
    trial.wait("the form", lambda: page.all("[aria-label='Fields of the new index']"))
    page.one("[aria-label='Fields of the new index']").send_keys("[year] DESC")
    page.click("Create")
    trial.wait("the index", lambda: "[year] DESC" in page.text("table"))
    page.one("td button.danger").click()
    page.click("Drop it")
    trial.wait("no index", lambda: "has no indexes" in page.text("main"))
    page.click("Maintenance", "header")
    trial.wait("the button", lambda: page.button("Compact"))
    page.click("Compact")
    trial.wait("the outcome", lambda: "Compacted from" in page.text("main"))
    trial.expect(len(rows(trial)) == 0, "another screen is shown")
