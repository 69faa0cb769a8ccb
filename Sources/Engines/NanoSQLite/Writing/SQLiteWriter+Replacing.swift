// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Replacing documents, without triggers if many are replaced; see ``TriggerSwitch``.
extension SQLiteWriter {
  func replace(
    _ identity: Identity, _ document: NewDocument, _ table: CollectionTable
  ) throws -> Bool {
    table.note(document)
    // If it finds no row, that is also for the other statement to find out, because rows of other programs have no
    // revision.
    if try isAlone(table) {
      try connection.noteReplacement(indexes: table.indexes.count)
      if try replace(
        identity, document, table, identity.isKey ? .replaceAloneByKey : .replaceAloneByRowID)
      {
        return true
      }
    }
    return try replace(
      identity, document, table, identity.isKey ? .replaceByKey : .replaceByRowID)
  }

  /// Returns whether updating a document fires no trigger but those of every collection, and changes no index but those
  /// and the collection's own.
  func isAlone(_ table: CollectionTable) throws -> Bool {
    if let known = table.isAlone, known.transaction == connection.transactions {
      return known.isAlone
    }
    replaced += 1
    return try replaced > Self.replacementsBeforeCheck && hasOwnDefinitionsOnly(table)
  }

  /// Returns whether a collection has no triggers but those of every collection, and no indexes but those and its own on
  /// fields. Determined once for each transaction, which keeps others from creating any.
  func hasOwnDefinitionsOnly(_ table: CollectionTable) throws -> Bool {
    if let known = table.isAlone, known.transaction == connection.transactions {
      return known.isAlone
    }
    guard table.feed == nil, table.unfinished.isEmpty else { return false }
    let name = table.description.name
    let own = Schema.ownDefinitions(ofCollection: name, indexes: table.sqlNames.values)
    let all = try connection.all(Schema.definitions(ofCollection: name)) {
      ExactName($0.text(0) ?? "")
    }
    let isAlone = all.allSatisfy(own.contains)
    table.isAlone = (connection.transactions, isAlone)
    return isAlone
  }

  /// The check reads the whole schema, which a few documents do not make up for. Arbitrary.
  private static let replacementsBeforeCheck = 16

  private func replace(
    _ identity: Identity, _ document: NewDocument, _ table: CollectionTable,
    _ kind: CollectionTable.Statement
  ) throws -> Bool {
    return try connection.with(table, kind) { statement in
      try bind(identity, statement)
      if let type = document.type {
        try statement.bind(type, at: 2)
      } else {
        statement.bindNull(at: 2)
      }
      statement.bind(document.version, at: 3)
      try statement.bind(borrowedText: document.body, at: 4)
      statement.bind(document.replacedRevision, at: 5)
      if document.keepsType { statement.bind(1 as Int64, at: 6) } else { statement.bindNull(at: 6) }
      if table.feed != nil {
        statement.bind(table.takeNumber(), at: 7)
        table.loggedBytes += document.body.count
      }
      statement.bind(document.rowID, at: 8)
      do {
        _ = try statement.step()
      } catch {
        throw try failure(error, document, identity, table)
      }
      return connection.changes > 0
    }
  }

  /// Returns the error for a document that was not written. Without triggers, SQLite does not undo a statement that
  /// failed after changing an index, so the transaction is then lost, unless a constraint was violated, which SQLite
  /// finds out before.
  func failure(
    _ error: any Error, _ document: NewDocument, _ identity: Identity, _ table: CollectionTable
  ) throws -> any Error {
    if !connection.firesTriggers, (error as? StoreError)?.isConstraint != true {
      connection.lose(error)
      return error
    }
    return try violation(error, document, identity, table)
  }
}
