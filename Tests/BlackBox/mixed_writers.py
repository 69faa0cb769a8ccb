# SPDX-License-Identifier: MIT
"""The tool and another program alternately write to a collection; results match those of a model."""

from typing import Any, Dict, List, Tuple

import direct_sqlite
import foreign_rows
import json_variants
from harness import Trial, check
from values import stored

Model = Dict[int, Tuple[str, Dict[str, Any]]]


class Writers:
    """A store with random indexes, and a model of its documents by row ID."""

    def __init__(self, trial: Trial):
        self.trial, self.model, self.next = trial, {}, 1
        self.database = trial.path("s.db")
        kind = trial.rng.choice(["none", "fields", "elements", "everything", "words"])
        foreign_rows.indexed(trial, self.database, kind)
        self.model: Model = {1: ("ours", {"ours": True})}
        self.next = 2

    def body(self) -> "tuple[Dict[str, Any], str]":
        document = json_variants.document(self.trial.rng)
        return document, json_variants.VariantWriter(self.trial.rng).write(document)

    def random_row(self) -> int:
        return self.trial.rng.choice(sorted(self.model))

    def step(self) -> None:
        rng, database, trial = self.trial.rng, self.database, self.trial
        kind = rng.choice(["put", "put", "insert", "insert", "update", "update", "delete", "remove", "upsert", "key", "rebuild", "policy", "compact"])
        document, text = self.body()
        if kind == "put" or not self.model:
            key = rng.choice([f"p{rng.randrange(8)}"] + [key for key, _ in self.model.values()])
            trial.run("put", database, "c", key, "-", input=stored(document), expect=0)
            self.record(key, document)
        elif kind == "insert":
            key = f"i{trial.rng.randrange(10**9)}"
            direct_sqlite.insert(trial, database, "c", [(key, text)])
            self.record(key, document)
        elif kind == "update":
            row = self.random_row()
            direct_sqlite.execute(trial, database, "UPDATE c SET body = ? WHERE id = ?", [text, row])
            self.model[row] = (self.model[row][0], document)
        elif kind == "delete":
            row = self.random_row()
            direct_sqlite.execute(trial, database, "DELETE FROM c WHERE id = ?", [row])
            del self.model[row]
        elif kind == "remove":
            row = self.random_row()
            trial.run("delete", database, "c", self.model.pop(row)[0], expect=0)
        elif kind == "upsert":
            row = self.random_row()
            key = self.model[row][0]
            direct_sqlite.execute(trial, database, "INSERT INTO c(key, body) VALUES (?, ?) ON CONFLICT(key) WHERE key IS NOT NULL "
                            "DO UPDATE SET body = excluded.body", [key, text])
            self.model[row] = (key, document)
        elif kind == "key":
            row = self.random_row()
            key = f"n{trial.rng.randrange(10**9)}"
            direct_sqlite.execute(trial, database, "UPDATE c SET key = ? WHERE id = ?", [key, row])
            self.model[row] = (key, self.model[row][1])
        elif kind == "policy":
            trial.run("index", "policy", database, "c", rng.choice(["everything", "declared"]), expect=0)
        else:
            trial.run(*(["compact", database] if kind == "compact" else ["index", "rebuild", database, "c"]), expect=0)

    def record(self, key: str, document: Dict[str, Any]) -> None:
        """Records a written document under the row with its key, or under the newest row ID in the file."""
        for row, (other, _) in self.model.items():
            if other == key:
                self.model[row] = (key, document)
                return
        found = direct_sqlite.rows(self.database, "SELECT max(id) FROM c")
        self.model[found[0][0]] = (key, document)

    def documents(self) -> List[Tuple[str, Dict[str, Any]]]:
        return [self.model[row] for row in sorted(self.model)]


@check()
def alternating_writers(trial: Trial) -> None:
    """Queries return the results of the model, regardless of which program wrote last and which indexes exist."""
    writers = Writers(trial)
    for _ in range(12 if trial.short else 60):
        writers.step()
        documents = writers.documents()
        foreign_rows.check_queries(trial, writers.database, documents, foreign_rows.random_queries(trial, documents, 1 if trial.short else 3), "after a write")
    foreign_rows.check_order(trial, writers.database, writers.documents(), "after all writes")
    foreign_rows.check_contents(trial, writers.database, writers.documents(), "after all writes")
    trial.run("verify", writers.database, expect=0)
