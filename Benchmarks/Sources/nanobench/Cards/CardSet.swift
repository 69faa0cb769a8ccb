// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStore

/// As many cards as people. Ten last names alternate, so that each selects a tenth.
final class CardSet {
  let identity: CardIdentity
  let cards: [Card]
  private let stored: StoredDocuments

  init(_ workload: Workload, _ identity: CardIdentity) {
    self.identity = identity
    cards = workload.people.enumerated().map { number, person in
      var person = person
      person.lastName = Self.lastNames[number % Self.lastNames.count]
      return Card(person: person)
    }
    stored = StoredDocuments(cards.map(\.storedJSON))
  }

  static let lastNames = Array(Names.last.prefix(10))
  /// The last name of the queries, which selects a tenth.
  static let soughtName = lastNames[3]

  /// The number of cards with this name.
  var sought: Int { cards.count { $0.person.lastName == Self.soughtName } }

  static let lastNameIndex =
    "CREATE INDEX d_lastName ON d(\(RawTable.field("LastName")))"

  /// Returns an empty table with the index in a new file, and a closure that fills it in one transaction.
  func rawTable(
    _ folder: Folder, isIndexed: Bool = true
  ) throws -> (connection: RawConnection, fill: () throws -> Void) {
    let connection = try RawConnection(folder.freshFile("raw.db"), durability: .normal)
    let key = identity == .key ? "key BLOB NOT NULL UNIQUE, " : ""
    try connection.execute("CREATE TABLE d(id INTEGER PRIMARY KEY, \(key)body TEXT NOT NULL)")
    if isIndexed { try connection.execute(Self.lastNameIndex) }
    return (connection, { [self] in try fill(connection) })
  }

  private func fill(_ connection: RawConnection) throws {
    let insert = try connection.prepare(
      identity == .key ? "INSERT INTO d(body,key) VALUES(?1,?2)" : "INSERT INTO d(body) VALUES(?1)")
    try connection.execute("BEGIN IMMEDIATE")
    for number in cards.indices {
      insert.bind(text: stored.body(number), at: 1)
      if identity == .key { insert.bind(blob: stored.key(number), at: 2) }
      try insert.run()
    }
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Returns a table with all cards, reopened.
  func rawFilled(_ folder: Folder, isIndexed: Bool = true) throws -> RawConnection {
    let file = try {
      let (connection, fill) = try rawTable(folder, isIndexed: isIndexed)
      try fill()
      return connection.file
    }()
    return try RawConnection(file, durability: .normal)
  }

  /// Returns an empty collection with the index in a new file.
  func ours(_ folder: Folder, isIndexed: Bool = true) throws -> DocumentCollection {
    let store = try Store.untuned(folder.freshFile("ours.db"))
    let collection = try store.createCollection("cards", identity: identity.collection)
    if isIndexed { try collection.createIndex("LastName") }
    return collection
  }

  /// Returns a collection with all cards, reopened.
  func oursFilled(_ folder: Folder, isIndexed: Bool = true) throws -> DocumentCollection {
    let collection = try ours(folder, isIndexed: isIndexed)
    try collection.insert(cards.map(\.object))
    try collection.store.close()
    try collection.store.reopen()
    return collection
  }
}
