// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting

/// Stores that use every feature. Each is a folder with `store.db` and its journal or log.
struct DamageSamples {
  /// The storage layouts, and the features that are in one sample only. Each has its own sample.
  enum Kind: String, CaseIterable {
    /// All contents are in the database file.
    case plain
    /// The newest commits are in a write-ahead log.
    case logged
    /// Text is encoded as UTF-16.
    case wide
    /// Pages are small, so that B-trees are deep. There is no log.
    case deep
    /// There is a hot rollback journal: changes of an uncommitted transaction are in the file.
    case journal
    /// There are values and objects of model classes, of two versions of a class, with relationships.
    case models
    /// There are indexes that the store created automatically, and their statistics.
    case tuned
    /// There are change feeds, and a synchronized collection with attachments, kept bodies and a conflict.
    case synced
    /// Everything is encrypted.
    case encrypted
  }

  let folder: URL
  private static let name = "store.db"

  func file(_ kind: Kind) -> URL {
    folder.appending(path: kind.rawValue).appending(path: Self.name)
  }

  /// The store with which the sample ``Kind/synced`` was synchronized.
  var peer: URL { folder.appending(path: Kind.synced.rawValue).appending(path: "peer.db") }

  static let suffixes = ["", "-wal", "-journal"]

  func make() throws {
    for kind in Kind.allCases { try make(kind) }
  }

  private func make(_ kind: Kind) throws {
    let place = folder.appending(path: kind.rawValue)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let building = place.appending(path: "building.db").path
    let store = try kind.create(building)
    try Self.fill(store, kind)
    switch kind {
    case .plain, .wide, .deep, .journal: break
    case .logged:
      // Otherwise all contents would be in the log, and the file would be empty.
      try store.compact()
      try Self.fillMore(store)
      try Self.copy(building, to: file(kind).path)
    case .models: try DamageGraph.fill(store)
    case .tuned: try DamageTuning.fill(store)
    case .synced: try DamageSync.fill(store, other: peer.path)
    case .encrypted: try DamageEncryption.fill(store)
    }
    try store.close()
    if kind == .journal {
      try DamageJournal(building).copy(to: file(kind).path)
    } else if kind != .logged {
      try Self.copy(building, to: file(kind).path)
    }
    for suffix in Self.suffixes + ["-shm"] { unlink(building + suffix) }
  }

  static func copy(_ source: String, to target: String) throws {
    for suffix in suffixes {
      unlink(target + suffix)
      guard FileManager.default.fileExists(atPath: source + suffix) else { continue }
      try FileManager.default.copyItem(atPath: source + suffix, toPath: target + suffix)
    }
    unlink(target + "-shm")
  }
}

extension DamageSamples {
  static let collections = ["people", "films", "notes", "Ünïcode \"x\"", "events"]

  /// An encrypted store has neither full-text indexes nor the policy `everything` (docs/ENCRYPTION.md).
  private static func fill(_ store: Store, _ kind: Kind) throws {
    try fillPeople(store["people"])
    if kind != .encrypted {
      try store["films"].createFullTextIndex("title", "plot")
      try store["films"].createFullTextIndex("title", tokens: .substrings)
      try store["notes"].setIndexing(.everything)
    }
    try fillFilms(store["films"])
    try fillNotes(store)
    try fillOthers(store)
  }

  private static func fillPeople(_ people: DocumentCollection) throws {
    try people.createIndex("email", unique: true)
    try people.createIndex("last", "first")
    try people.createIndex("age")
    try people.setDefaults(["active": true])
    try people.setAliases(["l": "[last]"])
    for number in 0..<60 {
      try people.insert(
        [
          "first": .string("F\(number % 7)"), "last": .string("L\(number % 11)"),
          "email": .string("p\(number)@example.org"), "age": .int(Int64(18 + number % 50)),
          "tags": .array([.string("t\(number % 5)"), .int(Int64(number % 3))]),
          "born": .date(Date(timeIntervalSince1970: Double(number) * 1e7)),
          "home": .url(URL(string: "https://example.org/\(number)")!),
        ], key: number % 3 == 0 ? nil : number % 3 == 1 ? "person-\(number)" : "Key ü \(number)")
    }
    // An element index, because the field contains arrays by now.
    try people.createIndex("tags")
  }

  private static func fillFilms(_ films: DocumentCollection) throws {
    let words = ["gin", "tonic", "road", "night", "river", "house", "winter", "glass"]
    for number in 0..<40 {
      let plot = (0..<12).map { words[(number * 7 + $0 * $0) % words.count] }
      try films.insert([
        "title": .string("\(words[number % 8]) \(words[(number / 2) % 8]) \(number)"),
        "plot": .string(plot.joined(separator: " ")), "year": .int(Int64(1960 + number)),
        "rating": .double(Double(number) / 4),
        "poster": .data(Data((0..<20).map { UInt8(truncatingIfNeeded: $0 * number) })),
      ])
    }
  }

  /// Inserts long documents that need overflow pages, and creates bags.
  private static func fillNotes(_ store: Store) throws {
    let notes = store["notes"]
    for number in 0..<12 {
      try notes.insert([
        "n": .int(Int64(number)),
        "text": .string(String(repeating: "note \(number) ", count: 40 * (number % 6))),
        "list": .array((0..<number).map { .object(["v": .int(Int64($0))]) }),
      ])
    }
    let favorites = try store.bag(named: "favorites")
    try favorites.add(notes.fetch())
    try favorites.add(Array(store["people"].fetch().prefix(10)))
    try favorites.save()
    let inner = try store.bag(named: "inner")
    try inner.add(favorites)
    try inner.save()
  }

  private static func fillOthers(_ store: Store) throws {
    let odd = store["Ünïcode \"x\""]
    for number in 0..<9 {
      try odd.insert(
        ["$name": .int(Int64(number)), "x.y": .null, "Ä": .array([])], key: "k\(number)")
    }
    let events = try store.createCollection("events", identity: .rowID)
    for number in 0..<30 { try events.insert(["at": .int(Int64(number)), "kind": "k"]) }
    // The catalog keeps the highest row ID.
    for id in 26...30 { try events.delete(rowID: Int64(id)) }
    try store.setMetadata(["a": 1, "list": [1, 2, 3]], "settings")
    try store.setMetadata("text", "other")
  }

  private static func fillMore(_ store: Store) throws {
    for number in 0..<10 { try store["events"].insert(["at": .int(Int64(100 + number))]) }
    try store["people"].find(Field("age") == 20).update(set: ["seen": true])
  }
}
