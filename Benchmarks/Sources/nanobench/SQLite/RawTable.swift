// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// The table of documents in raw SQLite: the one that NanoStore creates, as far as these scenarios require it.
struct RawTable {
  let connection: RawConnection

  private init(connection: RawConnection) { self.connection = connection }

  /// Creates an empty table in a new file.
  init(_ file: String, durability: Durability = .normal) throws {
    connection = try RawConnection(file, durability: durability)
    try connection.execute(
      "CREATE TABLE d(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, body TEXT NOT NULL)")
  }

  /// Returns the SQL expression of a field, or of a field of a nested object: `Address.Zip`.
  static func field(_ path: String) -> String {
    let names = path.split(separator: ".").map { #"."\#($0)""# }
    return "json_extract(body,'$\(names.joined())')"
  }

  func insertAll(_ documents: StoredDocuments) throws {
    let insert = try prepareInsert()
    try connection.execute("BEGIN IMMEDIATE")
    for number in 0..<documents.count { try insert(documents, number) }
    try connection.execute("COMMIT")
  }

  /// Inserts different bodies with the same keys, and calls a closure after each.
  func insertAll(
    _ bodies: [[UInt8]], keys: StoredDocuments, _ then: (Int) throws -> Void = { _ in }
  ) throws {
    let statement = try connection.prepare("INSERT INTO d(key,body) VALUES(?1,?2)")
    try connection.execute("BEGIN IMMEDIATE")
    for (number, body) in bodies.enumerated() {
      statement.bind(blob: keys.key(number), at: 1)
      try body.withUnsafeBytes {
        statement.bind(text: $0, at: 2)
        try statement.run()
      }
      try then(number)
    }
    try connection.execute("COMMIT")
  }

  func prepareInsert() throws -> (StoredDocuments, Int) throws -> Void {
    let statement = try connection.prepare("INSERT INTO d(key,body) VALUES(?1,?2)")
    return { documents, number in
      statement.bind(blob: documents.key(number), at: 1)
      statement.bind(text: documents.body(number), at: 2)
      try statement.run()
    }
  }

  func count() throws -> Int {
    let select = try connection.prepare("SELECT count(*) FROM d")
    return try select.step() ? select.integer(0) : 0
  }

  func checkpoint() throws { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }

  /// Steps through `id, key, body` rows, reads them in place and returns their number.
  static func countRows(_ statement: RawStatement) throws -> Int {
    var rows = 0
    while try statement.step() {
      _ = statement.integer(0)
      _ = statement.blob(1)
      _ = statement.text(2)
      rows += 1
    }
    statement.reset()
    return rows
  }
}

extension RawTable {
  /// Returns a table with all documents, checkpointed and reopened.
  static func filled(_ folder: Folder, _ workload: Workload) throws -> RawTable {
    let file = try folder.freshFile("raw.db")
    do {
      let table = try RawTable(file)
      try table.insertAll(workload.stored)
      try table.checkpoint()
    }
    return RawTable(connection: try RawConnection(file, durability: .normal))
  }
}
