// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting
import Testing

/// A store with every kind of data that a copy includes.
struct CopySource {
  let scratch = try! Scratch()
  let store: Store
  static let films = 50

  init() throws {
    store = try Store.file(scratch.file("source.db"))
    let films = store["films"]
    for number in 0..<Int64(Self.films) {
      let text: DocumentValue = number % 7 == 0 ? "gin and tonic" : "water"
      try films.insert([
        "n": .int(number), "title": .string("Film \(number)"), "tags": [.int(number % 5), "x"],
        "text": text,
      ])
    }
    try films.delete(rowID: 3)
    // The last row; its row ID is not reused.
    try films.delete(rowID: Int64(Self.films))
    try films.save(["n": 1_000], key: "brazil")
    try films.delete(rowID: Int64(Self.films) + 1)
    try films.save(["n": 1_000, "title": "Brazil"], key: "brazil")
    try films.createIndex("n", unique: true)
    try films.createIndex("tags")
    try films.createFullTextIndex("text")
    try films.setDefaults(["rating": 5])
    try films.setAliases(["number": "[n]"])
    try films.addQueryableFields("[title]")
    try store.createCollection("log", identity: .rowID)
    for number in 0..<5 { try store["log"].insert(["line": .int(Int64(number))]) }
    try store["log"].setIndexing(.everything)
    try store.createCollection("nothing")
    let bag = try store.bag(named: "favourites")
    for document in try [films.get("brazil"), store["log"].get(rowID: 2)].compactMap(\.self) {
      try bag.add(document)
    }
    try bag.save()
    try store.setMetadata(["a": [1, .double(.nan)]], "setting")
  }

  var rowIDs: [Int64] { get throws { try store["films"].fetch().compactMap(\.rowID) } }
}

extension Store {
  static func reference() throws -> Store {
    let engine = ReferenceEngine()
    return try Store(opening: { engine })
  }

  /// Returns the contents of every collection, including internal ones.
  func checksums() throws -> [String: CopyReport.Contents] {
    let empty = try Store.reference()
    return Dictionary(
      uniqueKeysWithValues: try compare(with: empty).collections.map { ($0.name, $0.source) })
  }

  func hasCopyCheckpoint() throws -> Bool { try metadata("nano_copy") != nil }
}

/// An error that a test throws from a progress closure to stop a copy.
struct Stop: Error {}
