# SPDX-License-Identifier: MIT
"""A store with 1,000,000 documents, in the long form."""

import json

from harness import Trial, check
from screens import at


@check(long=True)
def million(trial: Trial) -> None:
    """With 1,000,000 documents, pages, sorting by an index, the shape and facets work within the default time limit."""
    store = trial.path("million.db")
    lines = trial.path("million.ndjson")
    with open(lines, "w") as file:
        for number in range(1_000_000):
            file.write(json.dumps({"n": number, "city": f"city {number % 997}", "age": number % 90, "tags": [f"t{number % 7}"], "name": f"name {number}"}) + "\n")
    trial.tool("import", store, "people", lines)
    trial.tool("index", store, "people", "age")
    inspector = trial.inspect(store)
    page = trial.open(inspector, at("documents", in_="people"))
    trial.wait("documents", lambda: len(page.all(".documents-table tbody tr")) == 50)
    trial.wait("the count", lambda: "1,000,000 in all" in page.text(".tools"))
    trial.wait("the fields", lambda: page.button("Sort by age"))
    page.click("Sort by age")
    trial.wait("the order", lambda: page.all("th[aria-sort=ascending]"))
    page.click("Next")
    trial.wait("the next page", lambda: "after=" in page.driver.current_url)
    trial.settled()
    trial.expect(not page.all(".problem"), "a page exceeds the time limit")
    trial.open(inspector, at("shape", in_="people"))
    trial.wait("the sample", lambda: "A sample of 2,000 documents" in page.text(".status"))
    page.click("Filter city is city 0" if page.all("[aria-label='Filter city is city 0']") else "Filter tags[] is t0")
    trial.settled()
    trial.expect(page.all(".documents-table tbody tr"), "the facet shows no documents")
    trial.expect(inspector.memory() < 200_000_000, f"the inspector uses {inspector.memory():,} bytes")
