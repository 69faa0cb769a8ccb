# SPDX-License-Identifier: MIT
"""The tool and another program write to one collection in turn; answers stay those of a model."""

from typing import Any, Dict, List, Tuple

import spelling
import spellings
import witness
from harness import Trial, check
from values import stored

Model = Dict[int, Tuple[str, Dict[str, Any]]]


class Writers:
    """A store with random indexes, and the documents by row id that it must hold."""

    def __init__(self, trial: Trial):
        self.trial, self.model, self.next = trial, {}, 1
        self.database = trial.path("s.db")
        kind = trial.rng.choice(["none", "fields", "elements", "everything", "words"])
        spellings.indexed(trial, self.database, kind)
        self.model: Model = {1: ("ours", {"ours": True})}
        self.next = 2

    def body(self) -> "tuple[Dict[str, Any], str]":
        document = spelling.document(self.trial.rng)
        return document, spelling.Speller(self.trial.rng).write(document)

    def known(self) -> int:
        return self.trial.rng.choice(sorted(self.model))

    def step(self) -> None:
        rng, database, trial = self.trial.rng, self.database, self.trial
        kind = rng.choice(["put", "put", "insert", "insert", "update", "update", "delete", "remove", "upsert", "key", "rebuild", "policy", "compact"])
        document, text = self.body()
        if kind == "put" or not self.model:
            key = rng.choice([f"p{rng.randrange(8)}"] + [key for key, _ in self.model.values()])
            trial.run("put", database, "c", key, "-", input=stored(document), expect=0)
            self.place(key, document)
        elif kind == "insert":
            key = f"i{trial.rng.randrange(10**9)}"
            witness.insert(trial, database, "c", [(key, text)])
            self.place(key, document)
        elif kind == "update":
            row = self.known()
            witness.execute(trial, database, "UPDATE c SET body = ? WHERE id = ?", [text, row])
            self.model[row] = (self.model[row][0], document)
        elif kind == "delete":
            row = self.known()
            witness.execute(trial, database, "DELETE FROM c WHERE id = ?", [row])
            del self.model[row]
        elif kind == "remove":
            row = self.known()
            trial.run("delete", database, "c", self.model.pop(row)[0], expect=0)
        elif kind == "upsert":
            row = self.known()
            key = self.model[row][0]
            witness.execute(trial, database, "INSERT INTO c(key, body) VALUES (?, ?) ON CONFLICT(key) WHERE key IS NOT NULL "
                            "DO UPDATE SET body = excluded.body", [key, text])
            self.model[row] = (key, document)
        elif kind == "key":
            row = self.known()
            key = f"n{trial.rng.randrange(10**9)}"
            witness.execute(trial, database, "UPDATE c SET key = ? WHERE id = ?", [key, row])
            self.model[row] = (key, self.model[row][1])
        elif kind == "policy":
            trial.run("index", "policy", database, "c", rng.choice(["everything", "declared"]), expect=0)
        else:
            trial.run(*(["compact", database] if kind == "compact" else ["index", "rebuild", database, "c"]), expect=0)

    def place(self, key: str, document: Dict[str, Any]) -> None:
        """Where a document of a key goes: the row that has the key, or the row id that the file says is new."""
        for row, (other, _) in self.model.items():
            if other == key:
                self.model[row] = (key, document)
                return
        found = witness.rows(self.database, "SELECT max(id) FROM c")
        self.model[found[0][0]] = (key, document)

    def documents(self) -> List[Tuple[str, Dict[str, Any]]]:
        return [self.model[row] for row in sorted(self.model)]


@check()
def in_turn(trial: Trial) -> None:
    """Whichever program wrote last, and with any indexes, queries find what a model of the documents finds."""
    writers = Writers(trial)
    for _ in range(12 if trial.short else 60):
        writers.step()
        documents = writers.documents()
        spellings.ask(trial, writers.database, documents, spellings.questions(trial, documents, 1 if trial.short else 3), "in turn")
    spellings.sort(trial, writers.database, writers.documents(), "in the end")
    spellings.contents(trial, writers.database, writers.documents(), "in the end")
    trial.run("verify", writers.database, expect=0)
