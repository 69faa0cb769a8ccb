# SPDX-License-Identifier: MIT
"""A store on PostgreSQL."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile

from harness import FILMS, Skipped, Trial, check
from graph import nodes
from screens import at, rows
from transfers import downloads, saved


def start_server(trial: Trial) -> str:
    """Starts a server for this check and returns a URL of its database."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True) + [os.path.realpath(shutil.which("initdb") or "")]
    initdb = next((path for path in found if os.path.isfile(path)), None)
    if initdb is None:
        if os.environ.get("NANOSTORE_REQUIRE_POSTGRES"):
            trial.expect(False, "PostgreSQL is missing; scripts/setup-server installs it")
        raise Skipped("PostgreSQL is missing; scripts/setup-server installs it")
    programs = os.path.dirname(initdb)
    folder = tempfile.mkdtemp(prefix="nanostore-pg-")
    options = {}
    if os.geteuid() == 0:
        # The server refuses to run as root.
        user = pwd.getpwnam("postgres" if any(entry.pw_name == "postgres" for entry in pwd.getpwall()) else "nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)
        options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = os.path.join(folder, "data")
    subprocess.run([initdb, "-D", data, "-U", "inspector", "-A", "trust", "--no-sync", "-E", "UTF8"], check=True, capture_output=True, cwd="/", **options)
    server = subprocess.Popen([os.path.join(programs, "postgres"), "-D", data, "-p", str(port), "-k", folder, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **options)

    def stop() -> None:
        server.send_signal(3)  # immediate shutdown
        server.wait(20)
        shutil.rmtree(folder, ignore_errors=True)

    trial.cleanups.append(stop)
    trial.wait("server", lambda: subprocess.run([os.path.join(programs, "pg_isready"), "-h", "127.0.0.1", "-p", str(port)], capture_output=True).returncode == 0)
    return f"postgresql://inspector:secret@127.0.0.1:{port}/postgres"


@check()
def postgres(trial: Trial) -> None:
    """All screens work with a store on PostgreSQL, whose password the page does not show."""
    url = start_server(trial)
    trial.tool("import", url, "films", FILMS, "--key", "title")
    inspector = trial.inspect(url)
    page = trial.open(inspector)
    trial.expect("PostgreSQL" in page.text(".store") and "secret" not in page.script("return document.documentElement.innerHTML"), "the engine is missing or the password is shown")
    trial.open(inspector, at("documents", in_="films", where="[year] > 1950", sort="[rating] DESC"))
    trial.wait("documents", lambda: rows(trial))
    first = rows(trial)[0]
    page.click(f"Open {first}")
    trial.wait("the tree", lambda: page.all(".tree"))
    trial.open(inspector, at("explain", in_="films", where="[director.name] = 'Akira Kurosawa'"))
    trial.wait("words", lambda: "index" in page.text(".words"))
    trial.open(inspector, at("shape", in_="films"))
    trial.wait("the shape", lambda: len(page.all(".path")) >= 8)
    trial.open(inspector, at("chart", in_="films", by="[genres]"))
    trial.wait("the chart", lambda: page.all(".bars li"))
    trial.open(inspector, at("chart", in_="films", by="[added]", bucket="quarter"))
    trial.wait("periods", lambda: "2024 Q1" in page.script("return document.querySelector('.columns')?.textContent ?? ''"))
    trial.tool("index", url, "films", "year")
    trial.open(inspector, at("indexes", in_="films"))
    trial.wait("the size", lambda: "KB" in page.text("td.size"))
    trial.documents(url, "notes", [{"film": "Casablanca"}])
    trial.open(inspector, at("graph", in_="notes"))
    trial.wait("the film", lambda: any("films: Casablanca" in label for label in nodes(trial)))
    page.script("document.querySelector('.diagram a:not(.center)').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))")
    trial.wait("the note", lambda: any("refers to it in film" in label for label in nodes(trial)))
    folder = downloads(trial)
    trial.open(inspector, "#/maintenance")
    trial.expect("pg_dump" in page.text("[aria-label=Backup]"), "the page offers a backup")
    page.click("Verify", "main")
    trial.wait("the verification", lambda: "No problems" in page.text(".transfers"))
    page.click("Export", "main")
    trial.wait("the export", lambda: "Exported 42 documents" in page.text(".transfers"))
    with open(saved(trial, folder), encoding="utf-8") as file:
        trial.expect(len(file.read().splitlines()) >= 42, "the export lacks documents")
    trial.open(inspector, "#/live")
    trial.wait("the connection", lambda: "Listening" in page.text(".status"))
    trial.tool("put", url, "films", "New Film", '{"title": "New Film", "year": 2025}')
    trial.wait("the commit", lambda: "New Film" in page.text(".commits"))
