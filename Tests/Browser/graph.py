# SPDX-License-Identifier: MIT
"""The graph of a document and its references."""

from harness import Trial, check
from keys import Keys
from screens import at


def family(trial: Trial) -> str:
    store = trial.path("library.db")
    trial.documents(store, "people", [{"id": "scott", "name": "Ridley Scott"}, {"id": "weaver", "name": "Sigourney Weaver", "best": "alien"}], "--key", "id")
    trial.documents(store, "films", [{"id": "alien", "title": "Alien", "director": "scott", "cast": [{"actor": "weaver"}], "studioID": 1, "cover": 2}], "--key", "id")
    trial.documents(store, "studios", [{"name": "Brandywine"}, {"name": "Fox"}])
    return store


def nodes(trial: Trial) -> "list[str]":
    return trial.browser.script("return [...document.querySelectorAll('.diagram a')].map((a) => a.getAttribute('aria-label'))")


def center(trial: Trial) -> str:
    return trial.browser.script("return document.querySelector('.diagram .center')?.getAttribute('aria-label') ?? ''")


def suspend_referrers(trial: Trial) -> None:
    """Searches for references do not end any more."""
    trial.browser.script("""
      const original = window.fetch;
      window.fetch = (...given) => (/api\\/referrers/.test(String(given[0]?.url ?? given[0])) ? new Promise(() => {}) : original(...given));""")


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
    page.script("document.querySelector('.diagram .center').focus()")
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
    page.script("document.querySelector('.diagram .center').focus()")
    page.press(Keys.ENTER)
    trial.wait("the table", lambda: "Sigourney Weaver" in page.text(".tree"))


@check()
def searching(trial: Trial) -> None:
    """While the references to a document are searched, the diagram does not show those to the document before."""
    store = trial.path("library.db")
    trial.documents(store, "people", [{"id": "scott", "likes": "alien"}], "--key", "id")
    trial.documents(store, "films", [{"id": "alien", "next": "aliens"}, {"id": "aliens"}], "--key", "id")
    page = trial.open(trial.inspect(store), at("graph", in_="films", row="1"))
    trial.wait("the diagram", lambda: len(nodes(trial)) == 3)
    trial.settled()
    suspend_referrers(trial)
    page.script("location.hash = arguments[0]", at("graph", in_="films", row="2"))
    trial.wait("the next center", lambda: center(trial).startswith("films: aliens"))
    trial.expect(len(nodes(trial)) == 1, f"the diagram shows {nodes(trial)}")


@check()
def unlinking(trial: Trial) -> None:
    """While references are searched after a rule was removed, the diagram does not show those by the rule."""
    page = trial.open(trial.inspect(family(trial)), at("graph", in_="studios", row="2", links='[["films","cover","studios"]]'))
    trial.wait("the reference", lambda: any(label.startswith("films: alien, refers to it in cover") for label in nodes(trial)))
    trial.settled()
    suspend_referrers(trial)
    page.click("Row IDs as references")
    page.click("Remove films cover studios")
    trial.wait("the diagram without the reference", lambda: len(nodes(trial)) == 1)


@check()
def sizes(trial: Trial) -> None:
    """The diagram has columns in a wide window and one column in a narrow one, and fits into both."""
    store = trial.path("library.db")
    people = ["Ridley Scott", "Sigourney Weaver", "John Hurt", "Ian Holm", "Dan O'Bannon"]
    trial.documents(store, "people", [{"name": name} for name in people], "--key", "name")
    trial.documents(store, "studios", [{"name": "Brandywine"}, {"name": "Fox"}], "--key", "name")
    trial.documents(store, "films", [{"title": "Alien", "director": people[0], "cast": [{"actor": actor} for actor in people[1:4]], "writers": [people[4]], "studios": ["Brandywine", "Fox"]}], "--key", "title")
    trial.documents(store, "reviews", [{"film": "Alien", "text": f"Review {number}", "stars": 5} for number in range(3)])
    trial.documents(store, "lists", [{"name": "Science fiction", "entries": ["Alien", "Blade Runner"]}, {"name": "Favorites", "entries": ["Alien"]}], "--key", "name")
    page = trial.open(trial.inspect(store), at("graph", in_="films", row="1"), 1280, 620)
    trial.wait("the diagram", lambda: len(nodes(trial)) == 13)
    trial.settled()
    trial.image("graph")
    for width in (400, 1600):
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
        trial.wait("the width", lambda: page.script("return document.querySelector('.reference-graph').getAttribute('width') == document.querySelector('.diagram').clientWidth"))
        columns = page.script("return new Set([...document.querySelectorAll('.diagram a > svg')].map((e) => e.getAttribute('x'))).size")
        trial.expect(columns == (2 if width == 400 else 3), f"the diagram has {columns} columns at {width} pixels")
        trial.expect(not page.overflow(), f"the diagram is wider than {width} pixels")
        trial.image(f"graph-{width}")


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
