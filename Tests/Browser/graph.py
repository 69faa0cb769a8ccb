# SPDX-License-Identifier: MIT
"""The graph of a document and its references."""

from harness import Trial, check
from screens import at
from selenium.webdriver.common.keys import Keys


def family(trial: Trial) -> str:
    store = trial.path("graph.db")
    trial.documents(store, "people", [{"id": "scott", "name": "Ridley Scott"}, {"id": "weaver", "name": "Sigourney Weaver", "best": "alien"}], "--key", "id")
    trial.documents(store, "films", [{"id": "alien", "title": "Alien", "director": "scott", "cast": [{"actor": "weaver"}], "studioID": 1, "cover": 2}], "--key", "id")
    trial.documents(store, "studios", [{"name": "Brandywine"}, {"name": "Fox"}])
    return store


def nodes(trial: Trial) -> "list[str]":
    return trial.browser.script("return [...document.querySelectorAll('.graph a')].map((a) => a.getAttribute('aria-label'))")


def center(trial: Trial) -> str:
    return trial.browser.script("return document.querySelector('.graph .center')?.getAttribute('aria-label') ?? ''")


@check()
def walking(trial: Trial) -> None:
    """A document is shown with its references in both directions; a click or Enter goes on, arrow keys move, and the URL keeps the place."""
    inspector = trial.inspect(family(trial))
    page = trial.open(inspector, at("documents", in_="films", doc="1"))
    trial.wait("the tree", lambda: page.all(".tree"))
    page.click("Graph", ".panel")
    trial.wait("the diagram", lambda: len(nodes(trial)) == 5)
    trial.settled()
    shown = nodes(trial)
    trial.expect(center(trial).startswith("films: alien"), f"the center is {center(trial)}")
    for expected in ["people: weaver, refers to it in best", "people: scott, referred to in director", "people: weaver, referred to in cast[].actor", "studios: Brandywine, referred to in studioID"]:
        trial.expect(expected in shown, f"{expected} is missing in {shown}")
    trial.image("graph")
    page.script("document.querySelector('.graph .center').focus()")
    page.press(Keys.ARROW_RIGHT)
    page.press(Keys.ARROW_DOWN)
    trial.expect(page.script("return document.activeElement.dataset.node") == "out 1", "the arrow keys do not move")
    page.press(Keys.ARROW_LEFT)
    page.press(Keys.ARROW_LEFT)
    trial.expect(page.script("return document.activeElement.getAttribute('aria-label')") == "people: weaver, refers to it in best", "the arrow keys do not change the side")
    page.press(Keys.ENTER)
    trial.wait("the next center", lambda: center(trial).startswith("people: weaver") and len(nodes(trial)) == 3)
    trial.wait("the focus", lambda: page.script("return document.activeElement.dataset.node") == "center")
    fragment = page.driver.current_url.split("#")[1]
    page.driver.back()
    trial.wait("the center before", lambda: center(trial).startswith("films: alien"))
    trial.open(inspector, "#" + fragment)
    trial.wait("the bookmarked center", lambda: center(trial).startswith("people: weaver"))
    page.press(Keys.TAB)
    page.script("document.querySelector('.graph .center').focus()")
    page.press(Keys.ENTER)
    trial.wait("the table", lambda: "Sigourney Weaver" in page.text(".tree"))


@check()
def linking(trial: Trial) -> None:
    """A field of row IDs is made a reference on the page, a document is found by its key or row ID, and many references are shown in steps."""
    store = family(trial)
    trial.documents(store, "notes", [{"about": "alien", "n": number} for number in range(25)])
    page = trial.open(trial.inspect(store), at("graph", in_="films"))
    trial.wait("the first document", lambda: len(nodes(trial)) == 14)
    trial.wait("the number", lambda: "more than 10 documents" in page.text(".graph-statuses"))
    page.click("Show more: referred to by")
    trial.wait("all", lambda: len(nodes(trial)) == 30)
    page.click("Row IDs as references")
    page.script("const [field, target] = document.querySelectorAll('.graph-rules select'); field.value = 'cover'; target.value = 'studios'")
    page.click("Add", ".graph-rules")
    trial.wait("the reference", lambda: any(label.startswith("studios: Fox, referred to in cover") for label in nodes(trial)))
    page.one("[aria-label='Key or row ID of a document']").send_keys("nothing" + Keys.ENTER)
    trial.wait("the error", lambda: page.text(".problem"))
    page.one("[aria-label='Key or row ID of a document']").clear()
    trial.open(trial.inspectors[0], at("graph", in_="studios"))
    page.one("[aria-label='Key or row ID of a document']").send_keys("2" + Keys.ENTER)
    trial.wait("the document", lambda: center(trial).startswith("studios: Fox"))
