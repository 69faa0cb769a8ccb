# SPDX-License-Identifier: MIT
"""Everything works from the keyboard."""

from harness import Trial, check
from keys import Keys
from screens import at, rows


@check()
def shortcuts(trial: Trial) -> None:
    """Shortcuts focus the query bar, move through rows, open and close a document, and go to other screens."""
    page = trial.open(trial.inspect(trial.films()), at("documents", in_="films"))
    trial.wait("documents", lambda: len(rows(trial)) == 42)
    page.press_page("j")
    page.press("j")
    focused = page.script("return document.activeElement.closest('tr')?.rowIndex")
    trial.expect(focused == 2, f"the second row is not focused but {focused}")
    page.press(Keys.ENTER)
    trial.wait("the tree", lambda: page.all(".tree"))
    page.press(Keys.ESCAPE)
    trial.wait("the closed document", lambda: not page.one(".panel").is_displayed())
    page.press_page("/")
    trial.expect(page.script("return document.activeElement.className") == "query-input", "the query bar is not focused")
    page.press(Keys.ESCAPE)
    page.script("document.activeElement.blur()")
    page.press_page("gs")
    trial.wait("the shape", lambda: page.all(".path"))
    page.press_page("?")
    trial.wait("the help", lambda: page.all("dialog[open]"))
    page.press(Keys.ESCAPE)
    trial.wait("no help", lambda: not page.all("dialog[open]"))


@check()
def tabbing(trial: Trial) -> None:
    """Tab reaches every part of the page, and the focus is visible."""
    page = trial.open(trial.inspect(trial.films()), at("documents", in_="films"))
    page.script("document.activeElement.blur()")
    reached = set()
    for _ in range(45):
        page.press(Keys.TAB)
        reached.add(page.script("const e = document.activeElement; return e.closest('header') ? 'header' : e.closest('.side') ? 'side' : e.closest('.tabs') ? 'tabs' : e.closest('.query') ? 'query' : e.closest('.tools') ? 'tools' : e.closest('thead') ? 'thead' : e.closest('tbody') ? 'tbody' : 'other'"))
        outline = page.script("const s = getComputedStyle(document.activeElement); return s.outlineStyle")
        trial.expect(outline != "none", f"{page.script('return document.activeElement.outerHTML')[:200]} shows no focus")
    trial.expect(reached >= {"header", "side", "tabs", "query", "tools", "thead", "tbody"}, f"Tab reaches only {reached}")
