# SPDX-License-Identifier: MIT
"""CouchDB-Python, the package `couchdb` of PyPI, by its documented calls. Views, shows and lists need JavaScript, which the server does not run."""

import datetime
import decimal
import io
import os
import random
import subprocess
import sys
import threading
from typing import Any

from harness import GUEST, GUEST_PASSWORD, PASSWORD, PATIENCE, USER, Trial, check, equal, expect, raises, required


# CouchDB-Python, which not every machine has.
couchdb: Any = None


def load(trial: Trial) -> None:
    global couchdb
    folder = trial.shared.packages("python")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        import couchdb as package
        import couchdb.mapping
    except ImportError as error:
        raise required(f"CouchDB-Python cannot be imported ({error}); scripts/setup-foreign-clients installs it") from None
    couchdb = package


def connect(trial: Trial, url: str = "") -> Any:
    """Returns the client's handle of the check's server."""
    load(trial)
    return couchdb.Server(url or trial.server().url_with_login, session=couchdb.Session(timeout=PATIENCE))


def database(trial: Trial, name: str = "films") -> Any:
    return connect(trial).create(name)


@check
def server(trial: Trial) -> None:
    """The client recognizes the server, and receives its version, IDs and tasks."""
    server = connect(trial)
    expect(server, "the server is not recognized")
    expect(server.version_info()[0] >= 1, f"the version is {server.version()}")
    equal(len(set(server.uuids(10))), 10, "the number of IDs")
    equal(server.tasks(), [], "the tasks")


@check
def databases(trial: Trial) -> None:
    """Databases are created, listed, opened and deleted; for missing and existing ones, the client raises its own errors."""
    server, name = connect(trial), "films"
    equal(server.create(name).name, name, "the name")
    expect(name in server and name in list(server) and len(server) >= 1, "the database is not listed")
    equal(server[name].info()["db_name"], name, "the name of an opened database")
    raises(couchdb.PreconditionFailed, "creating it again", server.create, name)
    server.delete(name)
    expect(name not in server and name not in list(server), "the deleted database exists")
    raises(couchdb.ResourceNotFound, "opening a deleted database", lambda: server[name])
    raises(couchdb.ResourceNotFound, "deleting it again", server.delete, name)


@check
def database_names(trial: Trial) -> None:
    """Names of databases may contain slashes and signs, but no capitals."""
    server = connect(trial)
    for odd in ["films/sub", "films_$()+-1"]:
        server.create(odd)["x"] = {}
        equal(len(server[odd]), 1, f"the number of documents of {odd}")
        expect(odd in list(server), f"{odd} is not listed")
        del server[odd]
    raises(couchdb.HTTPError, "a name with a capital", server.create, "filmsUpper")


@check
def info(trial: Trial) -> None:
    """A database counts its documents, and can be compacted and committed."""
    db = database(trial)
    db.update([{"_id": "a"}, {"_id": "b"}])
    del db["b"]
    state = db.info()
    equal((state["doc_count"], state["doc_del_count"]), (1, 1), "the numbers of documents and of deleted ones")
    expect("update_seq" in state, f"update_seq is missing: {state}")
    expect(db.compact() and db.cleanup() and db.commit()["ok"], "compaction, cleanup or commit fails")


@check
def documents(trial: Trial) -> None:
    """Documents are saved, read, changed and deleted."""
    db = database(trial)
    id, first = db.save({"type": "Person", "name": "Jöhn 😀"})
    document = db[id]
    equal((document["name"], document.id, document.rev), ("Jöhn 😀", id, first), "the document")
    document["age"] = 42
    _, second = db.save(document)
    expect(second.startswith("2-") and document.rev == second, f"the second revision is {second}")
    equal(db[id]["age"], 42, "the changed field")
    equal(db.get("nothing", 7), 7, "the default for a missing document")
    raises(couchdb.ResourceNotFound, "a missing document", lambda: db["nothing"])
    db.delete(db[id])
    expect(id not in db, "the deleted document exists")
    raises(couchdb.ResourceNotFound, "deleting a missing document", db.__delitem__, "nothing")


@check
def conflicts(trial: Trial) -> None:
    """A write or a deletion of an old revision is a conflict, and changes nothing."""
    db = database(trial)
    db["a"] = {"x": 1}
    old = db["a"]
    db["a"] = dict(old, x=2)
    raises(couchdb.ResourceConflict, "a write without a revision", db.__setitem__, "a", {"x": 3})
    raises(couchdb.ResourceConflict, "a write of an old revision", db.save, {"_id": "a", "_rev": old.rev, "x": 3})
    raises(couchdb.ResourceConflict, "a deletion of an old revision", db.delete, {"_id": "a", "_rev": old.rev})
    equal(db["a"]["x"], 2, "the document after conflicts")


@check
def branches(trial: Trial) -> None:
    """Of two branches, which replication creates, the same one wins for everyone; the other one is listed and can be read and removed."""
    db = database(trial)
    for rev, x in [("1-aa", "loser"), ("1-bb", "winner")]:
        db.update([{"_id": "c", "_rev": rev, "x": x}], new_edits=False)
    document = db.get("c", conflicts=True)
    equal((document["x"], document["_conflicts"]), ("winner", ["1-aa"]), "the winner and the conflicts")
    equal(db.get("c", rev="1-aa")["x"], "loser", "the losing revision")
    db.delete({"_id": "c", "_rev": "1-aa"})
    expect("_conflicts" not in db.get("c", conflicts=True), "the removed branch is listed")
    equal(db["c"]["x"], "winner", "the winner after the removal")


@check
def document_ids(trial: Trial) -> None:
    """IDs of documents are any text, compared byte by byte."""
    db = database(trial)
    ids = ["a/b", "ü", "with space", "a+b", "q?x=1&y#z", "😀", "%2F", "'", "e\u0301", "\u00e9", "back\\slash", "A", "a"]
    for id in ids:
        db[id] = {"i": id}
    for id in ids:
        equal((db[id].id, db[id]["i"]), (id, id), f"the document {id!r}")
    equal(list(db), sorted(ids, key=lambda id: id.encode()), "the IDs")
    for id in ids:
        del db[id]
    equal(len(db), 0, "the number of documents")


@check
def values(trial: Trial) -> None:
    """JSON comes back as it was: types of numbers, escapes, empty names and nested values."""
    db = database(trial)
    fields = {"large": 9007199254740993, "double": 1.5, "whole": 2.0, "none": None, "true": True, "text": 'ä\u2028"\\\u0001', "list": [1, [], {}], "object": {"": {"$": 1}}}
    db["v"] = dict(fields)
    found = dict(db["v"])
    del found["_id"], found["_rev"]
    equal(found, fields, "the document")
    equal({name: type(value) for name, value in found.items()}, {name: type(value) for name, value in fields.items()}, "the types")


@check
def bulk_updates(trial: Trial) -> None:
    """A bulk update writes the documents that do not conflict, and reports each in order."""
    db = database(trial)
    results = db.update([{"_id": "u1", "n": 1}, {"_id": "u2", "n": 2}, couchdb.Document(_id="u3"), {"no": "id"}])
    expect(all(result[0] for result in results), f"the results are {results}")
    equal([result[1] for result in results[:3]], ["u1", "u2", "u3"], "the IDs")
    expect(results[3][1] in db, "the document without an ID is missing")
    results = db.update([{"_id": "u1", "n": 9}, dict(db["u2"], n=3), {"_id": "u4", "n": 4}])
    equal([result[0] for result in results], [False, True, True], "what succeeds")
    expect(isinstance(results[0][2], couchdb.ResourceConflict), f"the conflict is {results[0]}")
    equal([db[id].get("n") for id in ["u1", "u2", "u4"]], [1, 3, 4], "the documents")


@check
def revisions(trial: Trial) -> None:
    """Revisions of a document are listed, and recent ones can be read."""
    db = database(trial)
    db["r"] = {"n": 0}
    for n in [1, 2]:
        db.save(dict(db["r"], n=n))
    history = list(db.revisions("r"))
    equal([document["n"] for document in history], [2, 1, 0], "the revisions")
    equal(db.get("r", rev=history[1].rev)["n"], 1, "an old revision")
    equal(db.get("r", revs=True)["_revisions"]["start"], 3, "the number of the newest revision")


@check
def copies(trial: Trial) -> None:
    """A document is copied, onto another one only with its revision."""
    db = database(trial)
    db["source"] = {"x": 1}
    expect(db.copy("source", "target").startswith("1-"), "the copy is not the first revision")
    equal(db["target"]["x"], 1, "the copy")
    raises(couchdb.ResourceConflict, "a copy onto an existing document", db.copy, "source", "target")
    db["source"] = dict(db["source"], x=2)
    db.copy("source", db["target"])
    equal(db["target"]["x"], 2, "the second copy")


@check
def all_documents(trial: Trial) -> None:
    """_all_docs lists by range, by keys, backwards, in pages, and with documents."""
    db = database(trial)
    ids = [f"d{n}" for n in range(8)]
    db.update([{"_id": id, "n": n} for n, id in enumerate(ids)])
    equal(list(db), ids, "the IDs")
    equal(len(db), 8, "the number of documents")
    equal([row.id for row in db.view("_all_docs", startkey="d1", endkey="d3")], ["d1", "d2", "d3"], "a range")
    equal([row.id for row in db.view("_all_docs", startkey="d3", endkey="d1", descending=True, skip=1)], ["d2", "d1"], "a range backwards")
    equal([row.id for row in db.view("_all_docs", startkey="d1", endkey="d3", inclusive_end=False)], ["d1", "d2"], "a range without its end")
    equal([row.id for row in db.view("_all_docs", limit=2)], ["d0", "d1"], "the first two")
    equal([row.id for row in db.iterview("_all_docs", 3)], ids, "the pages")
    rows = list(db.view("_all_docs", include_docs=True, keys=["d5", "nothing"]))
    equal((rows[0].doc["n"], rows[1].error), (5, "not_found"), "the rows by keys")
    equal(db.view("_all_docs")["d4"].rows[0].id, "d4", "the row of a key")
    equal(db.view("_all_docs", limit=1).total_rows, 8, "total_rows")


@check
def attachments(trial: Trial) -> None:
    """Attachments are written, described, read and deleted, and stay when their document changes."""
    db = database(trial)
    db["a"] = {}
    document, data = db["a"], random.Random(7).randbytes(100_000)
    db.put_attachment(document, data, "file.bin", "application/octet-stream")
    db.put_attachment(document, io.BytesIO(b"text " * 1000), "dir/ä b.txt", "text/plain")
    equal(db.get_attachment("a", "file.bin").read(), data, "the content")
    stubs = db["a"]["_attachments"]
    equal((stubs["file.bin"]["length"], stubs["file.bin"]["stub"], stubs["dir/ä b.txt"]["content_type"]), (100_000, True, "text/plain"), "the descriptions")
    db.save(dict(db["a"], changed=True))
    equal(db.get_attachment("a", "dir/ä b.txt").read(), b"text " * 1000, "the text after a change")
    equal(db.get_attachment("a", "nothing", 5), 5, "the default for a missing attachment")
    document = db["a"]
    db.delete_attachment(document, "file.bin")
    equal(list(db["a"]["_attachments"]), ["dir/ä b.txt"], "the attachments after a deletion")
    raises(couchdb.ResourceConflict, "an attachment for an old revision", db.put_attachment, {"_id": "a", "_rev": "1-0"}, b"x", "x", "text/plain")


@check
def inline_attachments(trial: Trial) -> None:
    """Attachments inside a document are stored, and sent inside it on request."""
    db = database(trial)
    db["a"] = {"_attachments": {"f": {"content_type": "text/plain", "data": "aGFsbG8="}}}
    equal(db.get_attachment("a", "f").read(), b"hallo", "the content")
    equal(db.get("a", attachments=True)["_attachments"]["f"]["data"], "aGFsbG8=", "the content inside the document")
    db.save(dict(db["a"], changed=True))
    equal(db.get_attachment("a", "f").read(), b"hallo", "the content after a change")


@check
def changes(trial: Trial) -> None:
    """Changes are listed since a position, with deletions, documents and limits, and backwards."""
    db = database(trial)
    db.update([{"_id": "a"}, {"_id": "b"}])
    first = db.changes()
    equal([row["id"] for row in first["results"]], ["a", "b"], "the changes")
    equal(db.changes(since=first["last_seq"])["results"], [], "the changes since the end")
    db["c"] = {"n": 1}
    second = db.changes(since=first["last_seq"], include_docs=True)
    equal([(row["id"], row["doc"]["n"]) for row in second["results"]], [("c", 1)], "the next change with its document")
    equal([row["id"] for row in db.changes(limit=2)["results"]], ["a", "b"], "the first two")
    equal([row["id"] for row in db.changes(descending=True, limit=1)["results"]], ["c"], "the last one")
    del db["c"]
    row = db.changes(since=second["last_seq"])["results"][0]
    equal((row["id"], row.get("deleted")), ("c", True), "the deletion")


@check
def continuous_changes(trial: Trial) -> None:
    """A continuous feed delivers each change when it happens, and ends after its timeout."""
    db = database(trial)
    writer = connect(trial)[db.name]
    db["first"] = {}
    found = []
    for row in db.changes(feed="continuous", since=0, heartbeat=500):
        found.append(row["id"])
        if len(found) == 3:
            break
        # Only now, so that the feed has to wait for it.
        writer[["second", "third"][len(found) - 1]] = {}
    equal(found, ["first", "second", "third"], "the changes")
    rows = list(db.changes(feed="continuous", since=writer.changes()["last_seq"], timeout=500))
    expect(len(rows) == 1 and "last_seq" in rows[0], f"the feed that ends has {rows}")


@check
def longpoll_changes(trial: Trial) -> None:
    """A long poll answers with the first change, and without one after its timeout."""
    db = database(trial)
    writer = connect(trial)[db.name]
    equal(db.changes(feed="longpoll", since=0, timeout=500)["results"], [], "the changes of an empty database")
    later = threading.Timer(0.3, lambda: writer.save({"_id": "later"}))
    later.start()
    found = db.changes(feed="longpoll", since=0, timeout=50_000)
    later.join()
    equal([row["id"] for row in found["results"]], ["later"], "the change")


@check
def filtered_changes(trial: Trial) -> None:
    """Changes are filtered by IDs and by selectors, and list all leaves on request."""
    db = database(trial)
    db.update([{"_id": f"d{n}", "n": n} for n in range(6)])
    rows = db.changes(filter="_doc_ids", doc_ids='["d4","d1","nothing"]')["results"]
    equal(sorted(row["id"] for row in rows), ["d1", "d4"], "the changes of the IDs")
    rows = db.changes(filter="_selector", _selector={"selector": {"n": {"$gt": 3}}})["results"]
    equal([row["id"] for row in rows], ["d4", "d5"], "the changes that match")
    for rev in ["1-aa", "1-bb"]:
        db.update([{"_id": "c", "_rev": rev}], new_edits=False)
    row = db.changes(style="all_docs", filter="_doc_ids", doc_ids='["c"]')["results"][0]
    equal(sorted(leaf["rev"] for leaf in row["changes"]), ["1-aa", "1-bb"], "the leaves")


@check
def find(trial: Trial) -> None:
    """_find answers selectors, in order, in part and in pages."""
    db = database(trial)
    db.update([{"_id": f"d{n}", "n": n, "tags": ["even"] if n % 2 == 0 else [], "o": {"s": "ä" * n}} for n in range(6)])
    rows = db.find({"selector": {"n": {"$gte": 1, "$lt": 4}}, "fields": ["n"], "sort": [{"n": "desc"}]})
    equal([dict(row) for row in rows], [{"n": 3}, {"n": 2}, {"n": 1}], "the fields in order")
    for selector, ids in [({"tags": {"$elemMatch": {"$eq": "even"}}}, ["d0", "d2", "d4"]), ({"o.s": "ää"}, ["d2"]), ({"o": {"s": {"$regex": "^ä{4,}$"}}}, ["d4", "d5"]),
                          ({"$or": [{"_id": "d0"}, {"n": {"$in": [5, 9]}}]}, ["d0", "d5"]), ({"n": {"$not": {"$gt": 0}}}, ["d0"]), ({"missing": {"$exists": True}}, [])]:
        equal([row.id for row in db.find({"selector": selector})], ids, f"the documents for {selector}")
    equal([row.id for row in db.find({"selector": {}, "limit": 2, "skip": 3})], ["d3", "d4"], "the fourth and fifth document")
    raises(couchdb.HTTPError, "an unknown operator", db.find, {"selector": {"n": {"$near": 1}}})


@check
def purge(trial: Trial) -> None:
    """A purged revision is gone, without a deletion."""
    db = database(trial)
    db["a"] = {}
    document = db["a"]
    equal(db.purge([document])["purged"], {"a": [document.rev]}, "what was purged")
    expect("a" not in db and not db.changes()["results"], "the document is not gone")


@check
def logins(trial: Trial) -> None:
    """Without a login nothing is read or written; a session begins with the right password, and ends."""
    name = database(trial).name
    stranger = connect(trial, trial.server().url)
    raises(couchdb.Unauthorized, "reading without a login", lambda: stranger[name].info())
    raises(couchdb.Unauthorized, "writing without a login", stranger.create, "songs")
    raises(couchdb.Unauthorized, "a wrong password", stranger.login, USER, "wrong")
    for user, password in [(USER, PASSWORD), (GUEST, GUEST_PASSWORD)]:
        expect(stranger.login(user, password), f"the login of {user} fails")
    # `login` returns the first header instead of the cookie.
    headers = [stranger.resource.post_json("_session", {"name": user, "password": password})[1] for user, password in [(USER, PASSWORD), (GUEST, GUEST_PASSWORD)]]
    token, other = [header.get("Set-Cookie").split(";")[0].split("=", 1)[1] for header in headers]
    expect(stranger.verify_token(token) and stranger.verify_token(other), "a token is not verified")
    for cookie, status in [(token, 200), (other, 200), (token.split(".")[0] + "." + other.split(".")[1], 401)]:
        try:
            found = stranger.resource(name).get_json(headers={"Cookie": f"AuthSession={cookie}"})[0]
        except couchdb.Unauthorized:
            found = 401
        equal(found, status, "the status with a token, or with one that has the signature of another one")
    expect(stranger.logout(token), "the logout fails")
    guest = connect(trial)
    guest.resource.credentials = (GUEST, GUEST_PASSWORD)
    guest[name]["a"] = {"by": "a guest"}
    equal(guest[name]["a"]["by"], "a guest", "the document of a user without roles")
    raises((couchdb.Unauthorized, couchdb.http.Forbidden), "a new database of a user without roles", guest.create, "songs")


@check
def security(trial: Trial) -> None:
    """A database with members refuses other users."""
    db = database(trial)
    db.security = {"admins": {"names": ["x"], "roles": []}, "members": {"names": ["y"], "roles": ["z"]}}
    equal((db.security["members"], db.security["admins"]["names"]), ({"names": ["y"], "roles": ["z"]}, ["x"]), "the members and administrators")
    guest = connect(trial)
    guest.resource.credentials = (GUEST, GUEST_PASSWORD)
    raises((couchdb.Unauthorized, couchdb.http.Forbidden), "reading by a user who is no member", lambda: guest[db.name].info())
    db.security = {"admins": {}, "members": {"names": [GUEST]}}
    equal(guest[db.name].info()["doc_count"], 0, "the number of documents that a member sees")


@check
def mapping(trial: Trial) -> None:
    """Mapped classes are stored and loaded with each of their types."""
    db = database(trial)
    fields = couchdb.mapping

    class Post(fields.Document):  # type: ignore[name-defined, misc]
        title = fields.TextField()
        count = fields.IntegerField(default=3)
        score = fields.FloatField()
        when = fields.DateTimeField()
        price = fields.DecimalField()
        tags = fields.ListField(fields.TextField())
        author = fields.DictField(fields.Mapping.build(name=fields.TextField()))

    when = datetime.datetime(2024, 2, 29, 12, 30)
    post = Post(title="T", score=1.5, when=when, price=decimal.Decimal("1.20"), tags=["x"], author={"name": "N"})
    post.store(db)
    found = Post.load(db, post.id)
    equal((found.title, found.count, found.score, found.when, found.price, found.author.name), ("T", 3, 1.5, when, decimal.Decimal("1.20"), "N"), "the fields")
    found.tags.append("y")
    found.store(db)
    equal(list(Post.load(db, post.id).tags), ["x", "y"], "the list after a change")


@check
def dump_and_load(trial: Trial) -> None:
    """The programs that dump and load a database keep documents and attachments."""
    source, target = database(trial, "source"), database(trial, "target")
    source["x"] = {"v": "ä"}
    source.put_attachment(source["x"], b"\x00\xff" * 50, "f", "application/octet-stream")
    source["y"] = {}
    url, file = trial.server().url_with_login, trial.path("dump")
    environment = dict(os.environ, PYTHONPATH=trial.shared.packages("python"))
    for program, database_name, options in [("dump", source.name, []), ("load", target.name, ["--input", file])]:
        command = [sys.executable, "-W", "ignore", "-m", f"couchdb.tools.{program}", *options, url + database_name]
        with open(file if program == "dump" else os.devnull, "wb") as output:
            result = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, env=environment, timeout=PATIENCE)
        expect(result.returncode == 0, f"{program} fails: {result.stderr.decode()[-500:]}")
    equal((list(target), target["x"]["v"]), (["x", "y"], "ä"), "the documents")
    equal(target.get_attachment("x", "f").read(), b"\x00\xff" * 50, "the attachment")


@check
def functions(trial: Trial) -> None:
    """Functions of design documents are stored; running one is an error that says so, at once."""
    db = database(trial)
    db["_design/d"] = {"views": {"v": {"map": "function (d) { emit(d._id); }"}}, "filters": {"f": "function (d) { return true; }"}}
    equal(list(db["_design/d"]["views"]), ["v"], "the views")
    equal(raises(couchdb.ServerError, "a view", lambda: list(db.view("d/v"))).args[0][0], 501, "the status of a view")
    raises(couchdb.ResourceNotFound, "a filter function", db.changes, filter="d/f")


@check
def replication(trial: Trial) -> None:
    """Documents with their branches and attachments are replicated through the client, call by call, and keep their revisions."""
    source, target = database(trial, "source"), database(trial, "target")
    for n in range(5):
        source[f"d{n}"] = {"n": n}
    source["d0"] = dict(source["d0"], n=10)
    del source["d1"]
    source.put_attachment(source["d2"], b"text", "f", "text/plain")
    source.update([{"_id": "d3", "_rev": "1-ff", "n": "branch"}], new_edits=False)
    for _ in range(2):
        changes = source.changes(style="all_docs")["results"]
        asked = {row["id"]: [leaf["rev"] for leaf in row["changes"]] for row in changes}
        missing = target.resource.post_json("_revs_diff", asked)[2]
        documents = [source.get(id, rev=rev, revs=True, attachments=True) for id, entry in missing.items() for rev in entry["missing"]]
        expect(all(result[0] for result in target.update(documents, new_edits=False)), "a document is not written")
    equal(missing, {}, "what is missing after the replication")
    leaves = [{row["id"]: sorted(leaf["rev"] for leaf in row["changes"]) for row in db.changes(style="all_docs")["results"]} for db in [source, target]]
    equal(leaves[1], leaves[0], "the leaves of the target")
    equal(target.get_attachment("d2", "f").read(), b"text", "the attachment")
    equal(target.get("d3", conflicts=True), source.get("d3", conflicts=True), "the document with two branches")
    equal(target.info()["doc_count"], source.info()["doc_count"], "the number of documents")
    raises(couchdb.ResourceNotFound, "_replicate", connect(trial).replicate, source.name, target.name)
