# SPDX-License-Identifier: MIT
"""Measures the inspector: time until it is ready, pages, facets, latency of commits, memory. Prints a Markdown table, and writes it to a
file with --markdown."""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import tempfile
import threading
import time
from typing import List, Optional
from urllib.parse import quote


class Report:
    """A Markdown table, printed while it is measured."""

    def __init__(self) -> None:
        self.lines: List[str] = []
        self.add("| figure | target | median (maximum) |\n| --- | ---: | ---: |")

    def add(self, line: str) -> None:
        self.lines.append(line)
        print(line, flush=True)

    def times(self, name: str, target: Optional[int], seconds: List[float]) -> None:
        """Adds the median and the maximum; the median is compared with the target, in milliseconds."""
        median, maximum = (round(value(seconds) * 1000) for value in (statistics.median, max))
        self.row(name, target, median, "ms", f" ({maximum})")

    def row(self, name: str, target: Optional[int], value: int, unit: str, more: str = "") -> None:
        missed = target is not None and value > target
        self.add(f"| {name} | {'' if target is None else f'{target} {unit}'} | {f'**{value} {unit}**' if missed else f'{value} {unit}'}{more}{' missed' if missed else ''} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--inspector", required=True)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--markdown", help="also write the table to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nanostore-bench-") as folder:
        report = Report()
        measure(options, os.path.join(folder, "bench.db"), report)
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write("\n".join(report.lines) + "\n")


def measure(options: argparse.Namespace, store: str, report: Report) -> None:
    lines = store + ".ndjson"
    with open(lines, "w") as file:
        for number in range(options.documents):
            file.write(json.dumps({"n": number, "city": f"city {number % 997}", "age": number % 90, "tags": [f"t{number % 7}"], "name": f"name {number}",
                                   "address": {"street": f"street {number % 5000}", "zip": number % 100_000}}) + "\n")
    subprocess.run([options.tool, "import", store, "people", lines], check=True, capture_output=True)
    os.remove(lines)
    subprocess.run([options.tool, "index", store, "people", "age"], check=True, capture_output=True)
    starts = []
    for _ in range(5):
        start = time.monotonic()
        process, port, path = begin(options, store)
        ask(port, path)
        starts.append(time.monotonic() - start)
        process.terminate()
        process.wait()
    report.times("start until the first page is served", 300, starts)

    process, port, path = begin(options, store)
    try:
        def call(name: str, target: Optional[int], request: str) -> None:
            times = []
            for _ in range(7):
                start = time.monotonic()
                answer = json.loads(ask(port, path + "api/" + request))
                times.append(time.monotonic() - start)
                assert "error" not in answer, answer
            report.times(name, target, times)

        call("first 50 documents", 100, "documents?in=people&size=50")
        call("first 50 documents, sorted by an index", 100, "documents?in=people&size=50&sort=" + quote("[age]"))
        position = quote(json.dumps({"values": [], "rowID": options.documents - 100}))
        call("50 documents at the end", 100, f"documents?in=people&size=50&after={position}")
        call("counting all documents", None, "count?in=people")
        call("overview of the collection", None, "summary?in=people")
        call("shape of all paths, from a labeled sample", 200, "shape?in=people")
        call("facet of one path, from a labeled sample", 200, "shape?in=people&path=city&values=100")
        report.times("a commit of another process until its event arrives", 200, latencies(options, store, port, path))
        with open(f"/proc/{process.pid}/status") as status:
            peak = int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1))  # type: ignore[union-attr]
        report.row("peak memory of the inspector", 100, round(peak * 1024 / 1_000_000), "MB")
    finally:
        process.terminate()
        process.wait()


def begin(options: argparse.Namespace, store: str) -> "tuple[subprocess.Popen[str], int, str]":
    process = subprocess.Popen([options.inspector, store], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:  # type: ignore[union-attr]
        found = re.search(r"http://127.0.0.1:(\d+)(/\S+)", line)
        if found:
            return process, int(found.group(1)), found.group(2)
    raise SystemExit("the inspector does not start")


def ask(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    body = connection.getresponse().read()
    connection.close()
    return body


def latencies(options: argparse.Namespace, store: str, port: int, path: str) -> List[float]:
    """Times from the end of a command that writes until the event arrives; an event that is earlier counts as 0."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path + "api/changes")
    response = connection.getresponse()
    arrived: List[float] = []

    def read() -> None:
        while line := response.readline():
            if line.startswith(b"event: commit"):
                arrived.append(time.monotonic())

    while not response.readline().startswith(b"event: ready"):
        pass
    threading.Thread(target=read, daemon=True).start()
    times = []
    for number in range(9):
        before = len(arrived)
        subprocess.run([options.tool, "put", store, "people", f"k{number}", '{"n": -1}'], check=True, capture_output=True)
        written = time.monotonic()
        while len(arrived) == before:
            assert time.monotonic() - written < 10, "no event arrives"
            time.sleep(0.001)
        times.append(max(0.0, arrived[before] - written))
        time.sleep(0.1)
    return times


if __name__ == "__main__":
    main()
