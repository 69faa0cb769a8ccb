// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

// `nonisolated` because a module that isolates to the main actor by default would otherwise isolate the type, and a
// store decodes on its own threads.
nonisolated struct Film: Codable, Sendable { var title: String, year: Int, genres: [String] }

/// The first program of the README, in synchronous code.
func documents() throws {
  let store = try Store(.file("library.db"))
  let films = store["films"]
  try store.write {
    try films.save(["title": "Alien", "year": 1979, "genres": ["Horror", "SF"]], key: "alien")
    try films.save(["title": "Ran", "year": 1985, "director": ["name": "Kurosawa"]], key: "ran")
    try films.save(Film(title: "Brazil", year: 1985, genres: ["Comedy", "SF"]), key: "brazil")
  }
  try films.createIndex("year")

  let found = films.find(Field("genres") == "SF" && Field("year") < 1990).sorted(by: "-year")
  for film in try found.decoded(as: Film.self) { print(film.title, film.year) }

  print(try films.find("[director.name] = ? OR [year] < 1980", "Kurosawa").count(), "by text")
  print(try films.find().average("year") ?? 0, "on average")

  let report = try films.importDocuments(from: URL(filePath: "films.ndjson"))
  print(report.documents, report.skippedRecords.first?.localizedDescription ?? "")

  try films.update("ran", set: ["director.born": 1910])
  print(try films.get("ran")?["director.born"]?.int ?? 0)
  try store.close()
}

/// The same program in asynchronous code.
func documentsWithAwait() async throws {
  let store = try Store(.file("library.db"))
  let films = store["films"]
  try await store.write {
    try films.save(["title": "Alien", "year": 1979, "genres": ["Horror", "SF"]], key: "alien")
    try films.save(Film(title: "Brazil", year: 1985, genres: ["Comedy", "SF"]), key: "brazil")
  }
  try await films.createIndex("year")

  let found = films.find(Field("genres") == "SF" && Field("year") < 1990).sorted(by: "-year")
  for film in try await found.decoded(as: Film.self) { print(film.title, film.year) }

  print(try await films.find("[director.name] = ? OR [year] < 1980", "Kurosawa").count(), "by text")
  print(try await films.find().average("year") ?? 0, "on average")

  try await films.importDocuments(
    from: URL(filePath: "films.ndjson"),
    options: ImportOptions(keyField: "title", skipsInvalidRecords: true)
  ) { print($0.documents) }

  try await films.update("ran", set: ["director.born": 1910])
  print(try await films.get("ran")?["director.born"]?.int ?? 0)
  for try await films in films.find().updates() { print(films.count) }
  for try await commit in store.changes { print(commit.changes) }
}

/// The configuration of a store, and the details of an error.
func configuration() {
  var configuration = Store.Configuration()
  var engine = SQLiteConfiguration()
  engine.durability = .full
  engine.journalMode = .wal
  engine.isReadOnly = true
  configuration.indexTuning = .manual
  do {
    let store = try Store(.temporary, configuration: configuration, engine: engine)
    try store["films"].insert(["title": "Ran"], key: "ran")
  } catch let error as StoreError where error.code == .duplicateKey {
    print(error.localizedDescription)
  } catch {
    print(error)
  }
}
