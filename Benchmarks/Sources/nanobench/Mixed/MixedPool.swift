// SPDX-License-Identifier: MIT

import GRDB

/// GRDB's pool of connections with a kind of record.
struct MixedPool<Record: StoredPerson>: MixedProduct {
  private let pool: DatabasePool
  private let data: MixedData

  static func fill(_ file: String, _ data: MixedData) throws {
    let pool = try DatabasePool(path: file, configuration: .benchmark())
    try pool.write { db in
      try Record.createTable(db)
      for (key, person) in zip(data.keys, data.people) {
        try Record(id: key, person).insert(db)
      }
      try db.create(index: "person_lastName", on: "person", columns: ["lastName"])
      try db.execute(
        sql: "CREATE TABLE part AS SELECT * FROM person ORDER BY rowid LIMIT ?",
        arguments: [data.partCount])
    }
    try pool.close()
  }

  init(_ file: String, _ data: MixedData) throws {
    pool = try DatabasePool(
      path: file, configuration: .benchmark(maximumReaders: MixedContestant.maximumReaders))
    self.data = data
  }

  func read(_ read: MixedRead) throws -> Int { try pool.read { try answer(read, $0) } }

  func readAsync(_ read: MixedRead) async throws -> Int {
    try await pool.read { try answer(read, $0) }
  }

  func write(_ write: MixedWrite) throws { try pool.write { try perform(write, $0) } }

  func writeAsync(_ write: MixedWrite) async throws {
    try await pool.write { try perform(write, $0) }
  }

  func close() throws { try pool.close() }

  private func answer(_ read: MixedRead, _ db: Database) throws -> Int {
    switch read {
    case .get(let number): try Record.get(db, data.keys[number]) == nil ? 0 : 1
    case .find(let name): try Record.find(db, lastName: name).count
    case .filter(let name): try Record.findInPart(db, lastName: name).count
    }
  }

  private func perform(_ write: MixedWrite, _ db: Database) throws {
    switch write {
    case .insert(let key, let person): try Record(id: key, person).insert(db)
    case .update(let number, let salary):
      try Record.setSalary(db, of: data.keys[number], to: salary)
    }
  }
}
