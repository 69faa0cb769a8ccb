# SPDX-License-Identifier: MIT
"""Hostile strings as names and values appear as text and do nothing."""

import json
import os
import re

from harness import HERE, Trial, check
from screens import at, rows

MARKUP = ["<img src=x onerror=\"window.owned=1\">", "<script>window.owned=1</script>", "\"><svg onload=window.owned=1>", "javascript:window.owned=1",
          "{{constructor.constructor('window.owned=1')()}}", "' onmouseover='window.owned=1", "</style><script>window.owned=1</script>", "__proto__", "constructor", "toString"]


def strings() -> "list[str]":
    """Returns the strings of the Swift tests, and markup."""
    with open(os.path.join(HERE, "..", "Support", "HostileStrings.swift"), encoding="utf-8") as file:
        source = file.read()
    found = []
    for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', source[source.index("= ["):]):
        text = re.sub(r"\\u\{([0-9A-Fa-f]+)\}", lambda match: chr(int(match.group(1), 16)), literal)
        found.append(re.sub(r"\\(.)", lambda match: {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}.get(match.group(1), match.group(1)), text))
    assert len(found) > 100, len(found)
    return found + MARKUP


@check()
def values(trial: Trial) -> None:
    """Hostile names and values of fields appear in the table, the tree, the shape and charts, and are filtered by."""
    store = trial.path("hostile.db")
    texts = strings()
    documents = [{"n": number, "text": text, "x" + text: number, "inner": {text or "empty": {"deep": text}}, "list": [text, {"a": text}]} for number, text in enumerate(texts)
                 if not text.startswith("$")]
    trial.documents(store, "things", documents)
    inspector = trial.inspect(store)
    page = trial.open(inspector, at("documents", in_="things"))
    trial.expect(len(page.all(".documents-table tbody tr")) == 50, "the page lacks documents")
    page.enter(".query-input", f"[n] >= {len(texts) - len(MARKUP)}")
    trial.wait("markup", lambda: len(page.all(".documents-table tbody tr")) == len(MARKUP))
    shown = page.text(".documents-table")
    for text in MARKUP:
        trial.expect(text in shown, f"{text} is not shown as text")
    page.one(".documents-table tbody th button").click()
    trial.wait("the tree", lambda: MARKUP[0] in page.text(".tree"))
    trial.settled()
    page.script("for (const b of document.querySelectorAll('.tree button')) if (b.getAttribute('aria-label') === 'Filter by text') { b.click(); break; }")
    trial.wait("the filtered document", lambda: len(page.all(".documents-table tbody tr")) == 1)
    trial.open(inspector, at("shape", in_="things"))
    trial.wait("the shape", lambda: len(page.all(".path")) > 100)
    trial.expect(page.text(".paths").count("<script>") > 0, "markup is missing in the shape")
    trial.open(inspector, at("chart", in_="things", by="[text]"))
    trial.wait("the chart", lambda: page.all(".bars li"))
    trial.open(inspector, at("documents", in_="things", where="[text] = '<script>'"))
    trial.settled()
    references = [{"id": text, "to": texts, "x" + text: text} for text in MARKUP]
    trial.documents(store, "<b>keys</b>", references, "--key", "id")
    for row in (1, 2, 6):
        trial.open(inspector, at("graph", in_="<b>keys</b>", row=str(row)))
        trial.settled()
        labels = page.script("return [...document.querySelectorAll('.diagram a')].map((a) => a.getAttribute('aria-label'))")
        trial.expect(any(MARKUP[1] in label for label in labels) and all(label.startswith(("<b>keys</b>: ", "things: ")) for label in labels), f"the diagram shows {labels}")
    trial.open(inspector, "#/maintenance")
    trial.expect("<b>keys</b>" in page.text("[aria-label=Export]"), "the collection cannot be exported")
    trial.expect(page.script("return window.owned") is None, "a value was executed")
    trial.expect(not page.all("main script, main img"), "a value became an element")


@check()
def invisible(trial: Trial) -> None:
    """Characters that no font shows are escapes, so that two keys never look the same."""
    store = trial.path("invisible.db")
    characters = "\u034f\u115f\u17b4\u180b\u200b\u202e\u2800\u3164\ufe0f\uffa0\U0001d173\U000e0041\U000e0100\U000f0000"
    trial.documents(store, "users", [{"id": "admin" + character} for character in characters], "--key", "id")
    trial.open(trial.inspect(store), at("documents", in_="users"))
    trial.wait("the table", lambda: rows(trial))
    expected = [f"admin\\u{{{ord(character):x}}}" for character in characters]
    trial.expect(rows(trial) == expected, f"the keys are {rows(trial)}")


@check()
def round_trip(trial: Trial) -> None:
    """Every hostile value is found again by the filter that the shape makes of it."""
    store = trial.path("filters.db")
    texts = [text for text in strings() if text]
    trial.documents(store, "texts", [{"n": number, "text": text} for number, text in enumerate(texts)])
    inspector = trial.inspect(store)
    trial.open(inspector, "#/")
    script = """
      const [done, path] = [arguments[arguments.length - 1], arguments[0]];
      (async () => {
        const read = async (call) => (await fetch(path + 'api/' + call)).json();
        const shape = await read('shape?in=texts&path=text&values=200');
        const wrong = [];
        for (const entry of shape.paths[0].frequent) {
          const page = await read('documents?in=texts&where=' + encodeURIComponent(entry.condition));
          if (!page.documents || page.documents.length !== entry.count || page.documents.some((d) => d.value.text !== entry.value)) wrong.push([entry.value, entry.condition, page]);
        }
        return [shape.paths[0].frequent.length, wrong];
      })().then(done, (error) => done([0, String(error)]));"""
    number, wrong = trial.browser.driver.execute_async_script(script, inspector.path)
    trial.expect(number == len(set(texts)), f"the shape lists {number} of {len(set(texts))} values")
    trial.expect(not wrong, f"filters find other documents: {json.dumps(wrong)[:800]}")


@check()
def collections(trial: Trial) -> None:
    """Collections with hostile names open, and their screens work."""
    store = trial.path("names.db")
    names = []
    for name in strings():
        if not name or "\0" in name or name.startswith("-"):
            continue
        import subprocess
        made = subprocess.run([trial.options.tool, "import", store, name, "-"], input='{"a": 1}', capture_output=True, text=True)
        if made.returncode == 0:
            names.append(name)
    # Names that a store refuses are its own matter.
    trial.expect(len(names) > 30, f"only {len(names)} collections could be created")
    inspector = trial.inspect(store)
    page = trial.open(inspector)
    links = page.script("return [...document.querySelectorAll('.side > ul a')].map((a) => a.getAttribute('href'))")
    for link in links[::3] + [link for link in links if "..%" in link or link.endswith("..") or link.endswith("in=.")]:
        page.script("location.hash = arguments[0]", link)
        trial.wait(f"documents of {link}", lambda: page.text(".documents-table td.int") == "1")
    trial.expect(page.script("return window.owned") is None, "a name was executed")


@check()
def numbers(trial: Trial) -> None:
    """Numbers keep every digit and their type, and large documents are cut with a note."""
    store = trial.path("numbers.db")
    lines = ['{"big": 9007199254740993, "min": -9223372036854775808, "whole": 1.0, "small": 0.1, "zero": -0.0, "date": {"$date": "2024-02-29T12:34:56.789Z"}, '
             '"data": {"$binary": "AAEC/w==", "$type": "00"}, "nothing": null, "2": "two", "1": "one"}',
             json.dumps({"long": "x" * 500_000, "many": list(range(20_000))})]
    trial.tool("import", store, "values", "-", input="\n".join(lines))
    page = trial.open(trial.inspect(store), at("documents", in_="values"))
    text = page.text(".documents-table")
    for expected in ["9007199254740993", "-9223372036854775808", "1.0", "0.1", "-0.0", "2024-02-29 12:34:56.789", "4 bytes", "null"]:
        trial.expect(expected in text, f"{expected} is missing")
    page.all(".documents-table tbody th button")[0].click()
    trial.wait("the tree", lambda: "00 01 02 ff" in page.text(".tree"))
    names = page.texts(".tree > li > .name")
    trial.expect(names[-2:] == ["2", "1"], f"the order of fields is {names}")
    page.all(".documents-table tbody th button")[1].click()
    trial.wait("the note", lambda: "500,000 characters" in page.text(".tree"))
    trial.expect("20000 elements" in page.text(".tree"), "the size of the array is missing")
    trial.expect(len(rows(trial)) == 2, "the table lacks a document")
