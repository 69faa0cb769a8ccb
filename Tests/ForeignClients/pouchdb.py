# SPDX-License-Identifier: MIT
"""PouchDB 2.2.3 in Chromium, on a page of another origin than the server's, which logs in with each request.

This version breaks IDs with a percent sign, pushes a removed branch as if it were not deleted, and omits changes from a push in several batches;
no check does that.
"""

import base64
import json
import random
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, List

from browser_page import Page, page
from harness import PASSWORD, PATIENCE, USER, Server, Trial, check, equal, expect, raises, wait

IDS = ["a/b", "ü", "with space", "a+b", "q?x=1&y#z", "😀", "e\u0301", "\u00e9", "it's", "A", "a", "0", ":@", "漢字", "back\\slash"]


def leaves(server: Server, database: str) -> Dict[str, List[str]]:
    rows = server.request("GET", f"{database}/_changes?style=all_docs")["results"]
    return {row["id"]: sorted(leaf["rev"] for leaf in row["changes"]) for row in rows}


def documents(server: Server, database: str) -> Dict[str, Any]:
    return {row["id"]: row["doc"] for row in server.request("GET", f"{database}/_all_docs?include_docs=true")["rows"]}


def write(server: Server, database: str, documents: List[Dict[str, Any]]) -> None:
    results = server.request("POST", f"{database}/_bulk_docs", {"docs": documents})
    expect(all(result.get("ok") for result in results), f"not written: {results}")


def same(browser: Page, name: str, server: Server, database: str = "films") -> None:
    """Expects the same documents with the same revisions in PouchDB and on the server."""
    equal(browser.run("return leaves(await open(given[0]))", name), leaves(server, database), "the leaves in PouchDB")
    equal(browser.run("return documents(await open(given[0]))", name), documents(server, database), "the documents in PouchDB")


@check
def remote(trial: Trial) -> None:
    """A page of an allowed origin uses a database of the server as if it were its own: creates it, writes, reads, lists, deletes."""
    browser, server = page(trial)
    found = browser.run("""
        const db = await open(given[0] + 'films');
        const first = await db.put({ _id: 'alien', title: 'Alien', tags: ['ä', { x: 1.5 }] });
        const conflict = await failure(db.put({ _id: 'alien', title: 'Aliens' }));
        const second = await change(db, 'alien', { year: 1979 });
        const posted = await db.post({ title: 'Ran' });
        await write(db, given[1].map((id) => ({ _id: id, is: id })));
        const odd = await Promise.all(given[1].map((id) => db.get(id)));
        const old = await db.get('alien', { rev: first.rev });
        const missing = await failure(db.get('nothing'));
        const listed = await db.allDocs({ include_docs: true, startkey: 'alien', endkey: 'alien' });
        await db.remove(await db.get(posted.id));
        const changes = await leaves(db);
        return { conflict, missing, old, changes, odd: odd.map((document) => document.is), revs: [first.rev, second.rev], listed: listed.rows.map((row) => row.doc),
                 count: (await db.info()).doc_count, posted: posted.id };""", server.url_with_login, IDS)
    equal((found["conflict"], found["missing"]), (409, 404), "the statuses of a conflict and of a missing document")
    equal(found["odd"], IDS, "the documents")
    equal((found["old"]["title"], "year" in found["old"]), ("Alien", False), "the old revision")
    equal(found["listed"], [{"_id": "alien", "_rev": found["revs"][1], "title": "Alien", "tags": ["ä", {"x": 1.5}], "year": 1979}], "the listed documents")
    equal(found["changes"], leaves(server, "films"), "the changes")
    equal(found["count"], len(IDS) + 1, "the number of documents")
    expect(found["posted"] not in documents(server, "films"), "the removed document is listed")
    equal(browser.run("return new Promise((done) => PouchDB.destroy(given[0] + 'films', (error) => done(error ?? null)))", server.url_with_login), None, "the error of a deletion")
    equal(server.request("GET", "_all_dbs"), [], "the databases after the deletion")


@check
def push(trial: Trial) -> None:
    """A push brings documents, changes and deletions to the server with the same revisions; a second one writes nothing."""
    browser, server = page(trial)
    first, second = browser.run("""
        const db = await open('push');
        await write(db, given[1].map((id) => ({ _id: id, is: id })));
        await write(db, Array.from({ length: 250 }, (_, n) => ({ _id: 'd' + n, n, text: 'ä😀', half: n / 2, nested: { a: [1, null, true] } })));
        for (const n of [1, 2, 3]) await change(db, 'd' + n, { changed: true });
        for (const n of [4, 5, 6]) await db.remove(await db.get('d' + n));
        await db.put({ _id: '_design/d', filters: { f: 'function (document) { return true; }' } });
        const first = await replicate(db, await open(given[0] + 'films'), { batch_size: 500 });
        return [first, await replicate(db, await open(given[0] + 'films'), { batch_size: 500 })];""", server.url_with_login, IDS)
    equal((first["ok"], first["docs_written"], first["doc_write_failures"]), (True, 251 + len(IDS), 0), "the result of the push")
    equal((second["ok"], second["docs_written"]), (True, 0), "the result of the second push")
    same(browser, "push", server)
    stored = documents(server, "films")
    equal(set(stored), {*IDS, "_design/d", *(f"d{n}" for n in range(250) if n not in (4, 5, 6))}, "the IDs on the server")
    read = trial.tool("get", trial.path("served.db"), "films", "d1")
    document = json.loads(read.stdout)
    equal((document.get("n"), document.get("changed"), document.get("text")), (1, True, "ä😀"), f"the document of nanostore get {read.stderr}")


@check
def pull(trial: Trial) -> None:
    """A pull in several batches brings documents, changes and deletions, also those of other programs; another one continues where it ended."""
    browser, server = page(trial)
    server.request("PUT", "films")
    write(server, "films", [{"_id": id, "is": id} for id in IDS])
    write(server, "films", [{"_id": f"d{n}", "n": n, "half": n / 2, "text": "ä😀"} for n in range(250)])
    stored = documents(server, "films")
    write(server, "films", [dict(stored[f"d{n}"], changed=True) for n in [1, 2, 3]] + [dict(stored[f"d{n}"], _deleted=True) for n in [4, 5, 6]])
    script = "return replicate(await open(given[0] + 'films'), await open('pull'))"
    result = browser.run(script, server.url_with_login)
    equal((result["ok"], result["docs_written"], result["doc_write_failures"]), (True, 250 + len(IDS), 0), "the result of the pull")
    same(browser, "pull", server)
    imported = trial.tool("import", trial.path("served.db"), "films", "-", "--key", "title", input='{"title": "Brazil", "year": 1985}\n')
    expect(imported.returncode == 0, f"nanostore import: {imported.stderr}")
    result = browser.run(script, server.url_with_login)
    equal((result["ok"], result["docs_read"], result["docs_written"]), (True, 1, 1), "the result of the second pull")
    same(browser, "pull", server)
    equal(browser.run("return (await open('pull')).get('Brazil')")["year"], 1985, "the document of nanostore import")


@check
def live(trial: Trial) -> None:
    """Live replication in both directions transfers each change when it happens, and nothing after it is canceled."""
    browser, server = page(trial)
    server.request("PUT", "films")
    browser.run("""
        window.db = await open('live');
        const remote = await open(given[0] + 'films');
        window.handles = [live(db, remote), live(remote, db)];""", server.url_with_login)
    for n in range(3):
        server.request("PUT", f"films/server{n}", {"n": n})
        browser.run("await until('document of the server', () => db.get('server' + given[0]))", n)
        browser.run("await db.put({ _id: 'page' + given[0], n: given[0] })", n)
        wait("document of the page", lambda: f"page{n}" in documents(server, "films"))
    imported = trial.tool("import", trial.path("served.db"), "films", "-", "--key", "title", input='{"title": "Brazil"}\n')
    expect(imported.returncode == 0, f"nanostore import: {imported.stderr}")
    browser.run("await until('document of another program', () => db.get('Brazil'))")
    browser.run("await change(db, 'server0', { changed: true }); await db.remove(await db.get('server1'));")
    wait("change of the page", lambda: documents(server, "films")["server0"].get("changed"))
    wait("deletion of the page", lambda: "server1" not in documents(server, "films"))
    server.request("DELETE", f"films/page1?rev={documents(server, 'films')['page1']['_rev']}")
    browser.run("await until('deletion of the server', async () => await failure(db.get('page1')) === 404)")
    browser.run("handles.forEach((handle) => handle.cancel())")
    server.request("PUT", "films/late", {})
    # A new replication, which has the change at its end, shows that there was time to transfer it.
    browser.run("await replicate(await open(given[0] + 'films'), await open('another')); await (await open('another')).get('late');", server.url_with_login)
    equal(browser.run("return failure(db.get('late'))"), 404, "the status of a document that is written after the cancellation")


@check
def restart(trial: Trial) -> None:
    """After a restart of the server, replication continues from its checkpoint."""
    browser, server = page(trial)
    server.request("PUT", "films")
    write(server, "films", [{"_id": f"d{n}"} for n in range(50)])
    browser.run("await replicate(await open(given[0] + 'films'), await open('restart'))", server.url_with_login)
    equal(server.end(), 0, "the status of the server")
    options = ["--users", trial.path("users"), "--manage-databases", "--origin", browser.origin]
    again = trial.start([trial.options.tool, "serve", trial.path("served.db"), "--port", str(server.port), *options])
    again.request("PUT", "films/after", {})
    result = browser.run("return replicate(await open(given[0] + 'films'), await open('restart'))", again.url_with_login)
    equal((result["ok"], result["docs_read"], result["docs_written"]), (True, 1, 1), "the result of the pull after the restart")
    same(browser, "restart", again)


@check
def conflict(trial: Trial) -> None:
    """Edits of one document in two browsers and on the server are a conflict that all see alike, until it is resolved."""
    browser, server = page(trial)
    server.request("PUT", "films")
    server.request("PUT", "films/alien", {"by": "all"})
    script = """
        const [url, names] = given;
        for (const name of names) await replicate(await open(url + 'films'), await open(name));
        for (const name of names) await replicate(await open(name), await open(url + 'films'));
        for (const name of names) await replicate(await open(url + 'films'), await open(name));
        return Promise.all(names.map(async (name) => (await open(name)).get('alien', { conflicts: true })));"""
    names = ["conflict-a", "conflict-b"]
    equal([found["by"] for found in browser.run(script, server.url_with_login, names)], ["all", "all"], "the document")
    browser.run("await change(await open('conflict-a'), 'alien', { by: 'a' });")
    browser.run("await change(await open('conflict-b'), 'alien', { by: 'b' }); await change(await open('conflict-b'), 'alien', { by: 'b, twice' });")
    server.request("PUT", "films/alien", dict(server.request("GET", "films/alien"), by="the server"))
    found = browser.run(script, server.url_with_login, names)
    served = server.request("GET", "films/alien?conflicts=true")
    equal((served["by"], len(served["_conflicts"])), ("b, twice", 2), "the winner, and the number of conflicts")
    for document in found:
        equal((document["_rev"], document["by"], sorted(document["_conflicts"])), (served["_rev"], served["by"], sorted(served["_conflicts"])), "the conflict in a browser")
    losers = [server.request("GET", f"films/alien?rev={rev}")["by"] for rev in served["_conflicts"]]
    equal(sorted(losers), ["a", "the server"], "the losers")
    equal(sorted(browser.run("const db = await open('conflict-a'); return Promise.all(given[0].map(async (rev) => (await db.get('alien', { rev })).by));", served["_conflicts"])),
          ["a", "the server"], "the losers in a browser")
    read = trial.tool("get", trial.path("served.db"), "films", "alien")
    equal(json.loads(read.stdout).get("by"), "b, twice", "the document of nanostore get")
    for rev in served["_conflicts"]:
        server.request("DELETE", f"films/alien?rev={rev}")
    for document in [*browser.run(script, server.url_with_login, names), server.request("GET", "films/alien?conflicts=true")]:
        equal((document["by"], document.get("_conflicts", [])), ("b, twice", []), "the document after the resolution")


@check
def deletions(trial: Trial) -> None:
    """A document that is deleted and created again is so everywhere; a deletion loses against an edit."""
    browser, server = page(trial)
    script = """
        const [url, change] = given, a = await open('deletions-a'), b = await open('deletions-b'), remote = await open(url + 'films');
        if (change === 'create') await a.put({ _id: 'd', n: 1 });
        if (change === 'delete') await a.remove(await a.get('d'));
        if (change === 'again') await a.put({ _id: 'd', n: 2 });
        if (change === 'both') { await b.remove(await b.get('d')); await a.put(Object.assign(await a.get('d'), { n: 3 })); }
        for (const db of [a, b]) await replicate(db, remote);
        for (const db of [a, b]) await replicate(remote, db);
        return Promise.all([a, b].map((db) => db.get('d').then((document) => document.n, (error) => error.status)));"""
    for change, expected in [("create", 1), ("delete", 404), ("again", 2), ("both", 3)]:
        equal(browser.run(script, server.url_with_login, change), [expected, expected], f"the document in the browsers after {change}")
        if expected == 404:
            equal(raises(urllib.error.HTTPError, "the deleted document", server.request, "GET", "films/d").code, 404, "the status of the deleted document")
        else:
            equal(server.request("GET", "films/d")["n"], expected, f"the document after {change}")


@check
def attachments(trial: Trial) -> None:
    """Attachments are pushed and pulled byte by byte, stay when their document changes, and are deleted."""
    browser, server = page(trial)
    binary, text = random.Random(11).randbytes(300_000), "Grüße, ".encode() * 2_000
    contents = {"bin.dat": binary, "dir/ä b.txt": text, "empty": b""}
    encoded = {name: base64.b64encode(content).decode() for name, content in contents.items()}

    def expect_contents(where: str, names: List[str]) -> None:
        stored = server.request("GET", "films/a")
        equal(sorted(stored.get("_attachments", {})), sorted(names), f"the attachments on the server {where}")
        for name in names:
            equal(download(server, "films/a/" + urllib.parse.quote(name)), contents[name], f"{name} on the server {where}")
        for database in ["attachments-a", "attachments-b"]:
            found = browser.run("""
                const db = await open(given[0]), names = Object.keys((await db.get('a'))._attachments ?? {});
                return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await base64(await db.getAttachment('a', name))])));""", database)
            equal(sorted(found), sorted(names), f"the attachments in {database} {where}")
            for name in names:
                expect(found[name] == encoded[name], f"{name} in {database} {where} differs")

    synchronize = """
        const [url, order] = given, remote = await open(url + 'films');
        for (const name of order) { await replicate(await open(name), remote); await replicate(remote, await open(name)); }"""
    order = ["attachments-a", "attachments-b"]
    # Each change is pushed before the next one: this version sends older attachments as stubs of a revision that was never pushed.
    for name, type in [("bin.dat", "application/octet-stream"), ("dir/ä b.txt", "text/plain"), ("empty", "text/plain")]:
        browser.run("""
            const [name, type, content] = given, db = await open('attachments-a'), known = await db.get('a').catch(() => null);
            await db.putAttachment('a', name, known?._rev, blob(content, type), type);""", name, type, encoded[name])
        browser.run(synchronize, server.url_with_login, order)
    expect_contents("after the push", list(contents))
    browser.run("await change(await open('attachments-b'), 'a', { changed: true });")
    browser.run(synchronize, server.url_with_login, order[::-1])
    equal(server.request("GET", "films/a").get("changed"), True, "the changed field")
    expect_contents("after a change in another browser", list(contents))
    server.request("PUT", "films/a", dict(server.request("GET", "films/a"), again=True))
    rev = server.request("GET", "films/a")["_rev"]
    server.request("DELETE", f"films/a/bin.dat?rev={rev}")
    browser.run(synchronize, server.url_with_login, order)
    expect_contents("after a deletion on the server", ["dir/ä b.txt", "empty"])


def download(server: Server, path: str) -> bytes:
    token = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    message = urllib.request.Request(server.url + path, headers={"Authorization": f"Basic {token}"})
    with urllib.request.urlopen(message, timeout=PATIENCE) as response:
        content: bytes = response.read()
        return content


@check
def filters(trial: Trial) -> None:
    """A pull is limited to IDs, or to what a function of the page accepts; a function of a design document is an error that says that it is unknown."""
    browser, server = page(trial)
    server.request("PUT", "films")
    write(server, "films", [{"_id": f"d{n}", "n": n} for n in range(10)] + [{"_id": "_design/d", "filters": {"f": "function (d) { return true; }"}}])
    script = "await replicate(await open(given[0] + 'films'), await open(given[1]), %s); return Object.keys(await leaves(await open(given[1]))).sort();"
    equal(browser.run(script % "{ doc_ids: ['d3', 'd7', 'nothing'] }", server.url_with_login, "filters-ids"), ["d3", "d7"], "the documents by ID")
    equal(browser.run(script % "{ filter: (document) => document.n >= 8 }", server.url_with_login, "filters-function"), ["d8", "d9"], "the documents that a function of the page accepts")
    status = browser.run("return failure(replicate(await open(given[0] + 'films'), await open('filters-design'), { filter: 'd/f' }))", server.url_with_login)
    equal(status, 404, "the status of a function of a design document")


@check
def sessions(trial: Trial) -> None:
    """After a login of the page, its cookie identifies it in requests of PouchDB, until it logs out."""
    browser, server = page(trial)
    server.request("PUT", "films")
    server.request("PUT", "films/alien", {})
    session = "return (await fetch(given[0] + '_session', { credentials: 'include', method: given[1], headers: { 'Content-Type': 'application/json' }, body: given[2] })).status;"
    read = "return failure(open(given[0] + 'films').then((db) => db.get('alien')))"
    equal(browser.run(read, server.url), 401, "the status without a login")
    equal(browser.run(session, server.url, "POST", json.dumps({"name": USER, "password": "wrong"})), 401, "the status of a wrong password")
    equal(browser.run(session, server.url, "POST", json.dumps({"name": USER, "password": PASSWORD})), 200, "the status of the login")
    result = browser.run("const db = await open('sessions'); await db.put({ _id: 'ran' }); await replicate(db, await open(given[0] + 'films')); "
                         "return replicate(await open(given[0] + 'films'), db);", server.url)
    equal((result["ok"], result["docs_written"]), (True, 1), "the result of the pull")
    expect("ran" in documents(server, "films"), "the pushed document is missing")
    equal(browser.run(session, server.url, "DELETE", None), 200, "the status of the logout")
    equal(browser.run(read, server.url), 401, "the status after the logout")


@check
def origins(trial: Trial) -> None:
    """A page of another origin than the allowed one reads and writes nothing, even with the right password."""
    browser, server = page(trial)
    server.request("PUT", "films")
    write = "return failure((async () => { const db = await open(given[0] + 'films'); await db.put({ _id: given[1] }); })())"
    equal(browser.run(write, server.url_with_login, "allowed"), 0, "the status on the allowed page")
    # The same page under another name is another origin.
    browser.open(f"http://localhost:{browser.server.port}")
    expect(browser.run(write, server.url_with_login, "refused") != 0, "the page of another origin writes")
    answer = browser.run("return fetch(given[0] + '_up', { credentials: 'include' }).then((response) => response.text(), (error) => error.name)", server.url)
    equal(answer, "TypeError", "what the page of another origin reads")
    equal(list(documents(server, "films")), ["allowed"], "the documents")
