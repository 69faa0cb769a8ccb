// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// Indexing policies, and operations on all indexes of a collection. A failure rolls back the whole operation.
extension SQLiteWriter {
  func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    let table = try tableForWriting(collection)
    let current: IndexingPolicy = table.wildcardIndex == nil ? .declared : .everything
    guard policy != current else { return try reporting(progress) { try $0(1) } }
    let name = table.description.name
    try savepoint {
      try reporting(progress) { report in
        switch policy {
        case .everything: try createWildcardIndex(table, report)
        case .declared:
          try connection.execute(WildcardIndex.drop(name))
          try report(1)
        }
      }
      try connection.run(
        SQLFragment(
          "UPDATE nano_collections SET indexing = ? WHERE name = ?",
          [.text(policy.rawValue), .text(name)]))
      try nextGeneration(name)
    }
  }

  func rebuildIndexes(in collection: String, _ progress: ((Double) throws -> Void)?) throws {
    guard let table = try existing(collection) else { return }
    let name = table.description.name
    let textSchemas = table.text?.schemas ?? []
    let done = Double(table.schemas.count + textSchemas.count)
    let steps = max(1, done + (table.wildcardIndex == nil ? 0 : 1))
    try savepoint {
      try rewriteAdoptedRows(table)
      try flush()
      try reporting(progress) { report in
        for (number, schema) in table.schemas.enumerated() {
          try report(Double(number) / steps)
          try connection.execute(schema.drop())
          try create(schema)
        }
        for (number, schema) in textSchemas.enumerated() {
          try report(Double(table.schemas.count + number) / steps)
          try connection.execute(schema.drop())
          try connection.execute(schema.create())
        }
        if table.wildcardIndex != nil {
          try connection.execute(WildcardIndex.drop(name))
          try createWildcardIndex(table) { try report((done + $0) / steps) }
        } else {
          try report(1)
        }
      }
      try DefinitionCheck(connection, collections: [name]).renewTriggers()
      try nextGeneration(name)
    }
  }

  @discardableResult
  func dropIndexes(in collection: String) throws -> Int {
    guard let table = try existing(collection) else { return 0 }
    return try savepoint {
      let textNames = table.text?.schemas.map(\.index.name) ?? []
      for name in table.allSchemas.map(\.index.name) + textNames {
        _ = try dropIndex(name, in: collection)
      }
      try setIndexing(.declared, in: collection, nil)
      return table.indexes.count + textNames.count
    }
  }

  /// Runs a block during which the caller's progress closure may not use the store.
  private func reporting(
    _ progress: ((Double) throws -> Void)?, _ work: ((Double) throws -> Void) throws -> Void
  ) throws {
    isReorganizing = true
    defer { isReorganizing = false }
    try work { fraction in
      try connection.interruption?.check()
      try progress?(fraction)
    }
  }

  /// Builds the wildcard index of the existing documents. Rows of other programs that do not decode are omitted,
  /// as they always are.
  private func createWildcardIndex(
    _ table: CollectionTable, _ report: (Double) throws -> Void
  ) throws {
    let name = table.description.name
    let wildcardIndex = WildcardIndex(collection: name)
    try connection.execute(WildcardIndex.create(name))
    let rows = SQLName.quoted(name)
    let total = try connection.first(SQLFragment("SELECT count(*) FROM \(rows)")) { $0.int(0) } ?? 0
    var done: Int64 = 0
    try connection.with("SELECT id, body FROM \(rows) WHERE revision IS NOT NULL") { row in
      while try row.step() {
        try table.paths.observe(row.storedBytes(1), wildcardIndex.buffer)
        wildcardIndex.buffer.commit(id: row.int(0))
        if wildcardIndex.buffer.isFull { try wildcardIndex.flush(connection) }
        done += 1
        if done % Self.documentsPerReport == 0 { try report(Double(done) / Double(total)) }
      }
    }
    try wildcardIndex.flush(connection)
    try report(1)
  }

  /// The number of documents between two calls of a progress closure. Arbitrary; they take about a millisecond.
  private static let documentsPerReport: Int64 = 500
}
