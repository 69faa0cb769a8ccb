# SPDX-License-Identifier: MIT
"""The main flows of every screen on the sample of `make demo`."""

from urllib.parse import quote

from harness import Trial, check
from keys import Keys


def at(screen: str, **parameters: str) -> str:
    pairs = "&".join(f"{name.rstrip('_')}={quote(value, safe='')}" for name, value in parameters.items())
    return f"#/{screen}?{pairs}"


def rows(trial: Trial) -> "list[str]":
    return trial.browser.texts(".documents-table tbody th.key")


@check()
def overview(trial: Trial) -> None:
    """The overview shows each collection with documents, bytes, indexes and the last insertion, and opens it."""
    page = trial.open(trial.inspect(trial.films()))
    trial.wait("bytes", lambda: "KB" in page.text(".card"))
    text = page.text(".card")
    trial.expect("42" in text and "documents" in text and "Last insertion" in text, "the card lacks facts")
    trial.expect("SQLite" in page.text(".store"), "the engine is missing")
    trial.expect("read-only" in page.text("header"), "the page does not say that it is read-only")
    trial.image("overview")
    page.click("films", ".card")
    trial.wait("documents", lambda: len(rows(trial)) == 42)


@check()
def table(trial: Trial) -> None:
    """The table shows nested fields, sorts by a click in both directions, and keeps the order in the URL."""
    page = trial.open(trial.inspect(trial.films()), at("documents", in_="films"))
    header = page.texts(".documents-table thead th")
    trial.expect("director.name" in header and "rating" in header, f"the columns are {header}")
    trial.wait("the fields", lambda: page.button("Sort by year"))
    page.click("Sort by year")
    trial.wait("ascending order", lambda: rows(trial)[0] == "Metropolis")
    page.click("Sort by year, now ascending")
    trial.wait("descending order", lambda: page.all('th[aria-sort="descending"]') and rows(trial)[0] != "Metropolis")
    first = rows(trial)[0]
    trial.expect("sort=" in page.driver.current_url, "the order is not in the URL")
    page.driver.refresh()
    trial.wait("the same order", lambda: rows(trial)[0] == first)


@check()
def pages(trial: Trial) -> None:
    """Pages go forward and back by position, and a page can be bookmarked."""
    store = trial.path("numbers.db")
    trial.documents(store, "numbers", [{"n": number} for number in range(120)])
    inspector = trial.inspect(store)
    page = trial.open(inspector, at("documents", in_="numbers", sort="[n]"))

    def numbers() -> "list[str]":
        return page.texts(".documents-table td.int")

    trial.wait("the first page", lambda: numbers()[:1] == ["0"] and len(numbers()) == 50)
    page.click("Next")
    trial.wait("the second page", lambda: numbers()[:1] == ["50"])
    page.click("Next")
    trial.wait("the last page", lambda: numbers()[:1] == ["100"] and len(numbers()) == 20)
    trial.expect(not page.button("Next").is_enabled(), "the last page has a next one")
    fragment = page.driver.current_url.split("#")[1]
    page.click("Previous")
    trial.wait("the second page again", lambda: numbers()[:1] == ["50"])
    trial.open(inspector, "#" + fragment)
    trial.wait("the bookmarked page", lambda: numbers()[:1] == ["100"])


@check()
def positions(trial: Trial) -> None:
    """A page of one query is not the previous page of another, and long values can be sorted by."""
    store = trial.path("numbers.db")
    trial.documents(store, "numbers", [{"n": number, "text": "x" * 20_000 + f"{number:03}"} for number in range(120)])
    page = trial.open(trial.inspect(store), at("documents", in_="numbers", sort="[text]"))

    def numbers() -> "list[str]":
        return page.texts(".documents-table td.int")

    trial.wait("the first page", lambda: numbers()[:1] == ["0"])
    page.click("Next")
    trial.wait("the second page", lambda: numbers()[:1] == ["50"])
    page.enter(".query-input", "[n] > 9")
    trial.wait("the other query", lambda: numbers()[:1] == ["10"])
    trial.settled()
    trial.expect(not page.button("Previous").is_enabled(), "the first page has a previous one")


@check()
def copying(trial: Trial) -> None:
    """A page is copied with whole values, also those that the table shows in part."""
    import json
    store = trial.path("long.db")
    trial.documents(store, "texts", [{"text": "x" * 1000 + "end"}, {"text": "short"}])
    page = trial.open(trial.inspect(store), at("documents", in_="texts"))
    page.script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.click("JSON")
    copied = trial.wait("the copy", lambda: page.script("return window.copied"))
    trial.expect([document["text"] for document in json.loads(copied)] == ["x" * 1000 + "end", "short"], "the copied values are cut")


@check()
def copying_exactly(trial: Trial) -> None:
    """A copy keeps the interval of a date and the base of a URL."""
    import json
    store = trial.path("exact.db")
    document = {"date": {"$date": "2001-01-01T00:00:00.123456789Z", "$interval": 0.12345678912345}, "url": {"$url": "a.png", "$base": "http://a.example/"}}
    trial.documents(store, "values", [document])
    page = trial.open(trial.inspect(store), at("documents", in_="values"))
    trial.expect("http://a.example/a.png" in page.text(".documents-table"), "the URL is not resolved")
    page.script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.click("JSON")
    copied = trial.wait("the copy", lambda: page.script("return window.copied"))
    trial.expect(json.loads(copied) == [document], f"the copy is {copied}")
    page.click("Swift")
    trial.wait("the copy", lambda: "Date(timeIntervalSinceReferenceDate: 0.12345678912345)" in page.script("return window.copied"))


@check()
def limited(trial: Trial) -> None:
    """The page says so if a condition is limited to more documents than a page has."""
    store = trial.path("many.db")
    trial.documents(store, "numbers", [{"n": number} for number in range(501)])
    page = trial.open(trial.inspect(store), at("documents", in_="numbers", where="TRUE LIMIT 1000"))
    trial.wait("the note", lambda: "limited to 1000, of which the first 500 are shown" in page.text(".tools"))


@check()
def copying_columns(trial: Trial) -> None:
    """A page is copied as CSV although other fields than its columns are too long to copy."""
    store = trial.path("long.db")
    trial.documents(store, "texts", [{"n": 1, "text": "x" * 300_000}])
    page = trial.open(trial.inspect(store), at("documents", in_="texts"))
    page.script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.click("CSV")
    trial.wait("the notice", lambda: "too long to copy" in page.text("#notices"))
    page.click("Columns")
    page.click("Remove column text", ".chooser")
    page.click("CSV")
    copied = trial.wait("the copy", lambda: page.script("return window.copied"))
    trial.expect(copied == "n\r\n1\r\n", f"the copy is {copied!r}")


@check()
def slow_fields(trial: Trial) -> None:
    """The table is drawn, and follows commits, while the fields are read, and uses them when they arrive."""
    store = trial.films()
    inspector = trial.inspect(store)
    page = trial.open(inspector)
    # The screen is opened after this script, which holds the requests for fields.
    page.script("""
      const original = window.fetch;
      window.pathReads = 0;
      const released = new Promise((resolve) => { window.release = resolve; });
      window.fetch = async (...given) => {
        if (/api\\/paths/.test(String(given[0]?.url ?? given[0]))) { window.pathReads += 1; await released; }
        return original(...given);
      };""")
    page.script("location.hash = arguments[0]", at("documents", in_="films", where="[title] = 'Casablanca'"))
    trial.wait("the table", lambda: rows(trial) == ["Casablanca"])
    trial.wait("the connection", lambda: page.all("#live-dot.on"))
    page.click("Open Casablanca")
    trial.wait("the tree", lambda: page.all(".tree"))
    for year in ("1943", "1944"):
        trial.tool("update", store, "films", "Casablanca", '{"$set": {"year": %s}}' % year)
        trial.wait("the new year", lambda: year in page.text(".documents-table") and year in page.text(".tree"))
    trial.expect(page.script("return window.pathReads") == 1, "the fields are read several times at once")
    trial.expect("Sort by year" not in page.script("return document.querySelector('.documents-table').outerHTML"), "the fields are known before they are read")
    page.script("window.release()")
    trial.wait("the fields", lambda: page.button("Sort by year") and page.button("Filter by year", ".tree"))


@check()
def columns(trial: Trial) -> None:
    """Columns are added, moved and removed, and remembered."""
    page = trial.open(trial.inspect(trial.films()), at("documents", in_="films"))
    page.click("Columns")
    trial.wait("the fields", lambda: page.button("Sort by year"))
    page.click("Remove column year", ".chooser")
    page.click("Move director.name left", ".chooser")
    page.click("Add column __rowid__" if page.all("[aria-label='Add column __rowid__']") else "Add column row ID", ".chooser")
    header = trial.wait("new columns", lambda: page.texts(".documents-table thead th"))
    trial.expect("year" not in header and header[-1] == "row ID", f"the columns are {header}")
    page.driver.refresh()
    trial.wait("the same columns", lambda: page.texts(".documents-table thead th") == header)


@check()
def document(trial: Trial) -> None:
    """A document opens as a tree beside the table, with types and readable dates, and filters by a value."""
    page = trial.open(trial.inspect(trial.films()), at("documents", in_="films"))
    page.click("Open Casablanca")
    trial.wait("the tree", lambda: page.all(".tree"))
    tree = page.text(".tree")
    trial.expect("int" in tree and "1942" in tree and "date" in tree and "2024-01-19 21:00" in tree, "the tree lacks types or dates")
    trial.expect("Michael Curtiz" in tree, "the nested object is closed")
    trial.expect("doc=" in page.driver.current_url, "the document is not in the URL")
    trial.settled()
    trial.image("document")
    trial.wait("the fields", lambda: page.button("Filter by year", ".tree"))
    page.script("document.querySelector('.tree button[aria-label=\"Filter by year\"]').click()")
    trial.wait("the filter", lambda: rows(trial) == ["Casablanca"])
    page.click("Close the document")
    trial.wait("the closed panel", lambda: not page.one(".panel").is_displayed())


@check()
def references(trial: Trial) -> None:
    """A value that is the key of another document is a link to it, and references to a document are found."""
    store = trial.path("refs.db")
    trial.documents(store, "people", [{"id": "ada", "name": "Ada"}], "--key", "id")
    trial.documents(store, "notes", [{"id": "n1", "author": "ada"}, {"id": "n2", "tags": ["x", "ada"]}], "--key", "id")
    page = trial.open(trial.inspect(store), at("documents", in_="notes"))
    page.click("Open n1")
    trial.wait("a link to the document", lambda: page.all(".reference a"))
    page.one(".reference a").click()
    trial.wait("the other document", lambda: "Ada" in page.text(".panel .tree"))
    page.click("Find references")
    trial.wait("both references", lambda: "notes: n1" in page.text(".references") and "notes: n2" in page.text(".references"))
    keys = ["\u0436" * 150 + str(number) for number in range(60)]
    trial.documents(store, "names", [{"id": key} for key in keys], "--key", "id")
    trial.documents(store, "lists", [{f"field{number}": key for number, key in enumerate(keys)}])
    page = trial.open(trial.inspectors[0], at("documents", in_="lists", doc="1"))
    trial.wait("links to documents with long keys", lambda: len(page.all(".reference a")) == len(keys))


@check()
def query(trial: Trial) -> None:
    """A condition filters, counts, is kept in the URL and the history, and is shown as Swift and as a command that works."""
    page = trial.open(trial.inspect(trial.films()), at("documents", in_="films"))
    page.enter(".query-input", "[genres] = 'Western' OR [year] < 1930")
    trial.wait("the matches", lambda: "Metropolis" in rows(trial) and len(rows(trial)) < 10)
    number = len(rows(trial))
    trial.wait("the count", lambda: f"{number} match" in page.text(".tools"))
    page.click("As code")
    code = page.texts(".popover pre")
    trial.expect("store[\"films\"].find(\"[genres] = 'Western' OR [year] < 1930\")" in code[0], f"the Swift code is {code[0]}")
    import shlex
    import subprocess
    words = shlex.split(code[1])
    lines = subprocess.run([trial.options.tool, *words[1:]], capture_output=True, text=True, check=True).stdout.splitlines()
    trial.expect(len(lines) == number, f"the command {code[1]} prints {len(lines)} documents")
    page.click("As code")
    page.click("Clear")
    trial.wait("all documents", lambda: len(rows(trial)) == 42)
    page.click("History")
    page.click("[genres] = 'Western' OR [year] < 1930", ".popover")
    trial.wait("the matches again", lambda: len(rows(trial)) == number)
    page.click("History")
    page.click("Save this query", ".popover")
    trial.wait("the saved query", lambda: page.all(".popover [aria-label^='Remove ']"))


@check()
def completion(trial: Trial) -> None:
    """The query bar completes paths and values from the keyboard."""
    page = trial.open(trial.inspect(trial.films()), at("documents", in_="films"))
    page.enter(".query-input", "[dir", submit=False)
    trial.wait("paths", lambda: "director.name" in page.text(".completion"))
    page.press(Keys.ARROW_DOWN)
    trial.wait("a selection", lambda: page.all(".completion [aria-selected=true]"))
    while "director.name" not in page.text(".completion [aria-selected=true]"):
        page.press(Keys.ARROW_DOWN)
    page.press(Keys.ENTER)
    trial.expect(page.script("return document.querySelector('.query-input').value") == "[director.name]", "the path is not completed")
    page.press(" = 'Aki")
    trial.wait("values", lambda: "Akira Kurosawa" in page.text(".completion"))
    page.press(Keys.TAB)
    trial.expect(page.script("return document.querySelector('.query-input').value") == "[director.name] = 'Akira Kurosawa'", "the value is not completed")
    page.press(Keys.ENTER)
    trial.wait("the matches", lambda: "Seven Samurai" in rows(trial))
    page.click("Clear")
    trial.wait("the connection", lambda: page.all("#live-dot.on"))
    trial.tool("put", trial.path("library.db"), "films", "New", '{"newField": 1}')
    trial.wait("the new document", lambda: "New" in rows(trial))
    page.enter(".query-input", "[newF", submit=False)
    trial.wait("the new path", lambda: "newField" in page.text(".completion"))


@check()
def errors(trial: Trial) -> None:
    """An error of the condition is explained and underlined where it is."""
    page = trial.open(trial.inspect(trial.films()), at("documents", in_="films"))
    page.enter(".query-input", "[year] > > 1950")
    trial.wait("the error", lambda: page.text(".query-error"))
    trial.expect(page.one(".query-input").get_attribute("aria-invalid") == "true", "the field is not marked as invalid")
    before = page.script("return document.querySelector('.query-marks').firstChild.textContent")
    trial.expect(before == "[year] > ", f"the underline begins after {before!r}")
    page.enter(".query-input", "[year] > 1950")
    trial.wait("no error", lambda: rows(trial) and not page.text(".query-error"))


@check()
def explain(trial: Trial) -> None:
    """Explain says which index finds the documents, what is checked, and how many are examined."""
    store = trial.films()
    inspector = trial.inspect(store)
    page = trial.open(inspector, at("explain", in_="films", where="[director.name] = 'Akira Kurosawa'"))
    trial.wait("words", lambda: "Uses no index" in page.text(".words"))
    trial.expect("index on" in page.text(".explanation"), "no index is suggested")
    trial.tool("index", store, "films", "director.name")
    page.driver.refresh()
    trial.wait("the index", lambda: "Finds documents with the index" in page.text(".words"))
    trial.expect("SELECT" in page.script("return document.querySelector('.explanation').textContent"), "the statement is missing")
    trial.image("explain")
    page.enter(".query-input", "[directr.name] = 'x'")
    trial.wait("the unknown field", lambda: "did you mean" in page.text(".words"))


@check()
def shape(trial: Trial) -> None:
    """The shape shows types, shares, extremes, frequent values and a histogram, and a click filters."""
    page = trial.open(trial.inspect(trial.films()), at("shape", in_="films"))
    trial.wait("paths", lambda: len(page.all(".path")) >= 8)
    text = page.text("[aria-label='genres[]']")
    trial.expect("Drama" in text and "100 %" in text, f"the path is shown as {text}")
    trial.expect("1927" in page.text(".path[aria-label=year]"), "the smallest year is missing")
    trial.expect(page.all(".path[aria-label=year] .histogram a"), "the histogram has no bars")
    trial.expect("All 42 documents" in page.text(".status"), "the page does not say how many documents were examined")
    trial.image("shape")
    page.click("Filter genres[] is Drama")
    trial.wait("the filter", lambda: 0 < len(rows(trial)) < 42)
    trial.open(trial.inspectors[0], at("shape", in_="films", where="[year] > 1950 ORDER BY [year] LIMIT 30"))
    trial.wait("paths", lambda: page.all(".path"))
    page.click("Filter genres[] is Drama")
    trial.wait("the filter", lambda: "([year] > 1950) AND " in page.script("return document.querySelector('.query-input').value") and len(rows(trial)) > 0)


@check()
def indexes(trial: Trial) -> None:
    """Indexes are listed with origin, kind and uses, and cannot be changed without --write."""
    store = trial.films()
    trial.tool("index", store, "films", "year:desc", "title")
    page = trial.open(trial.inspect(store), at("indexes", in_="films"))
    trial.wait("the index", lambda: "declared" in page.text("table"))
    trial.expect("[year] DESC, [title]" in page.text("table"), "the fields are missing")
    trial.wait("the size", lambda: "KB" in page.text("td.size"))
    trial.expect(not page.texts("main button"), "the read-only page has buttons that change something")


@check()
def search(trial: Trial) -> None:
    """Full-text search shows ranked results with marked matches, the tokens, and why a document matched."""
    store = trial.films()
    page = trial.open(trial.inspect(store), at("search", in_="films"))
    trial.wait("the explanation", lambda: "no full-text index" in page.text("main"))
    trial.tool("index", "text", store, "films", "title", "director.name")
    page.driver.refresh()
    trial.wait("the field", lambda: page.all(".search-input"))
    page.one(".search-input").send_keys("akira samur*")
    trial.wait("the result", lambda: "Seven Samurai" in page.text(".hits"))
    trial.expect(set(page.texts(".hits mark")) >= {"Akira", "Samurai"}, f"the marks are {page.texts('.hits mark')}")
    trial.expect("Matched in" in page.text(".hits") and "prefix" in page.text(".status"), "the reasons are missing")
    trial.image("search")


@check()
def chart(trial: Trial) -> None:
    """A chart shows a count or an average for each group, and per period of a date."""
    inspector = trial.inspect(trial.films())
    page = trial.open(inspector, at("chart", in_="films", by="[genres]", aggregate="average", value="[rating]"))
    trial.wait("bars", lambda: page.all(".bars li"))
    trial.expect("Average of rating by genres" in page.text("figcaption"), "the title is wrong")
    trial.image("chart")
    page = trial.open(inspector, at("chart", in_="films", by="[added]", bucket="month"))
    trial.wait("columns", lambda: "2024-01" in page.script("return document.querySelector('.columns').textContent"))
    total = page.script("return [...document.querySelectorAll('.chart-area td.number')].reduce((sum, cell) => sum + Number(cell.textContent), 0)")
    trial.expect(total == 42, f"the columns count {total} documents")
    store = trial.path("dates.db")
    trial.documents(store, "days", [{"on": [{"$date": f"{1500 + number}-03-05T10:00:00Z"}, {"$date": f"{1500 + number}-03-06T10:00:00Z"}]} for number in range(520)] + [{"on": "never"}])
    inspector = trial.inspect(store)
    page = trial.open(inspector, at("chart", in_="days", by="[on]", bucket="month"))
    trial.wait("columns", lambda: page.all(".columns"))
    trial.expect("520 periods, the latest 200 shown" in page.text("figcaption"), "the page does not say that periods are left out")
    trial.expect("the latest 500 of 520 periods" in page.text("details summary") and "1 document without a date" in page.text(".undated"), "the page does not say what the table lacks")
    trial.documents(store, "numbers", [{"g": "small", "x": 0.0042}, {"g": "large", "x": 9007199254740993}])
    last = page.script("return [...document.querySelectorAll('.chart-area tbody tr')].at(-1).textContent")
    trial.expect(last == "2019-031", f"the last month is {last}, not 2019-03 with one document")
    trial.open(inspector, at("chart", in_="days", by="[on]", bucket="month", where="[__rowid__] = 1"))
    trial.wait("the first month", lambda: "1500-03" in page.script("return document.querySelector('.columns')?.textContent ?? ''"))
    trial.open(inspector, at("chart", in_="numbers", by="[g]", aggregate="max", value="[x]"))
    trial.wait("every digit", lambda: page.texts(".bar-value") == ["9,007,199,254,740,993", "0.0042"])


@check()
def maintenance(trial: Trial) -> None:
    """Verification reads the store and reports that it has no problems."""
    page = trial.open(trial.inspect(trial.films()), "#/maintenance")
    page.click("Verify")
    trial.wait("the outcome", lambda: "No problems" in page.text("main"))


@check()
def names(trial: Trial) -> None:
    """Every control of every screen has a name, and no screen is wider than the window, from 400 to 2,560 pixels, light and dark."""
    store = trial.films()
    trial.tool("index", "text", store, "films", "title")
    inspector = trial.inspect(store)
    screens = ["#/", "#/live", "#/maintenance", at("documents", in_="films", doc="3"), at("explain", in_="films", where="[year] > 1950"), at("shape", in_="films"),
               at("indexes", in_="films"), at("search", in_="films", text="the"), at("chart", in_="films", by="[genres]"),
               at("graph", in_="films", row="3"), "#/sync"]
    for number, fragment in enumerate(screens):
        page = trial.open(inspector, fragment, 1280, 900)
        trial.settled()
        nameless = page.nameless()
        trial.expect(not nameless, f"{fragment} has controls without a name: {nameless}")
        for width in (400, 2560):
            page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
            trial.expect(not page.overflow(), f"{fragment} is wider than {width} pixels")
            trial.image(f"narrow-{number}" if width == 400 else f"wide-{number}")
        if number in (0, 3, 5):
            trial.open(inspector, fragment, 1280, 900, dark=True)
            trial.image(f"dark-{number}")


@check()
def narrow(trial: Trial) -> None:
    """In a window of 400 pixels, the tab of the screen is visible, and so is a document that is opened from any row; closing it returns to the row."""
    def is_visible(selector: str) -> bool:
        return bool(page.script("const b = document.querySelector(arguments[0])?.getBoundingClientRect(); return Boolean(b) && b.top >= 0 && b.left >= 0 && b.top < innerHeight && b.right <= innerWidth", selector))

    inspector = trial.inspect(trial.films())
    page = trial.open(inspector, at("chart", in_="films", by="[genres]"), 400, 900)
    trial.settled()
    trial.expect(is_visible(".tabs [aria-current]"), "the tab is outside of the window")
    trial.open(inspector, at("documents", in_="films"), 400, 900)
    trial.settled()
    page.script("[...document.querySelectorAll('.documents-table .key button')].at(-1).click()")
    trial.wait("the document", lambda: page.all(".tree"))
    trial.expect(is_visible(".panel h2"), "the document is outside of the window")
    page.click("Close")
    trial.wait("the table", lambda: not page.all(".panel h2"))
    trial.expect(is_visible(".documents-table tbody tr:last-child .key button"), "the row is outside of the window")


@check()
def histograms(trial: Trial) -> None:
    """The first and the last bar of a histogram are above its ends."""
    page = trial.open(trial.inspect(trial.films()), at("shape", in_="films"))
    trial.settled()
    edges = page.script("const box = (e) => e.getBoundingClientRect(); const f = document.querySelector('figure:has(.histogram)'); "
                        "const b = [...f.querySelectorAll('a .bar')]; return [box(b[0]).left - box(f).left, box(f).right - box(b.at(-1)).right]")
    trial.expect(all(edge < 3 for edge in edges), f"the histogram is {edges} pixels inside of its ends")
