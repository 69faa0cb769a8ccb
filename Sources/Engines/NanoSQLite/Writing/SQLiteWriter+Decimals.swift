// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// Records the paths of documents that are written, and prepares collections and indexes for their first decimals.
extension SQLiteWriter {
  /// Runs a block that records the paths of a document and writes it. If the document is rejected, its paths are
  /// forgotten; after other errors it may be stored.
  @inline(__always)
  func recording<Result>(
    in table: CollectionTable, _ write: () throws -> Result
  ) throws -> Result {
    let position = table.paths.position
    do {
      return try write()
    } catch is NewDecimals {
      table.paths.forget(after: position)
      try prepareForOtherUse()
      return try savepoint {
        preparesDecimals = true
        defer { preparesDecimals = false }
        return try write()
      }
    } catch {
      if error is NotReplaced || (error as? StoreError)?.isRejection == true {
        table.paths.forget(after: position)
      }
      throw error
    }
  }

  /// There is no document to be replaced, or its revision differs.
  struct NotReplaced: Error {}

  /// A document has the first decimals of a field. It is written in a savepoint, since the collection is prepared for
  /// them before, in the file.
  private struct NewDecimals: Error {}

  /// Prepares the collection for decimals in fields that had none. Called for a document before it is written, so that
  /// an index compares its decimals with existing numbers.
  @inline(__always)
  func prepareDecimals(_ table: CollectionTable) throws {
    guard _slowPath(table.paths.hasNewDecimals) else { return }
    guard preparesDecimals else { throw NewDecimals() }
    try flushPaths(of: table)
  }

  /// Creates the indexes on fields with new decimals again, with the expressions by which decimals are sorted, and
  /// marks the file, so that earlier versions of the library, which have no decimals, do not open it.
  func noteDecimals(_ table: CollectionTable) throws {
    try prepareForOtherUse()
    try connection.raiseFormat(to: Schema.newestFormatVersion)
    let fields = table.fieldsWithDecimals
    let new = fields.subtracting(table.decimalFields)
    table.paths.hasNewDecimals = false
    guard !new.isEmpty else { return }
    func isAffected(_ schema: IndexSchema) -> Bool {
      schema.index.columns.contains { new.contains($0.path) }
    }
    let name = "nano_decimals"
    let before = table.decimalFields
    try connection.execute("SAVEPOINT \(name)")
    do {
      for schema in table.allSchemas where isAffected(schema) {
        try connection.execute(schema.drop())
      }
      table.note(decimalFields: fields)
      for schema in table.schemas where isAffected(schema) { try create(schema) }
      for schema in table.unfinished where isAffected(schema) { try begin(schema) }
      try connection.execute("RELEASE \(name)")
    } catch {
      // Only rows of other programs can violate a unique index here. The next write tries again.
      connection.undo(to: name)
      table.note(decimalFields: before)
      table.paths.hasNewDecimals = true
      throw error
    }
  }

  func requireDecimals() throws { try connection.raiseFormat(to: Schema.newestFormatVersion) }

  private func begin(_ schema: IndexSchema) throws {
    try connection.execute(try schema.begin())
    try connection.run(
      SQLFragment(
        "UPDATE nano_indexes SET filled = ? WHERE collection = ? AND name = ?",
        [.int(.min), .text(schema.collection), .text(schema.index.name)]))
  }
}
