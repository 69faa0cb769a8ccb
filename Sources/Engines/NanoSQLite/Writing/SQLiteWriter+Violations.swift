// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Translation of constraint violations.
extension SQLiteWriter {
  /// Returns the error for a rejected document, with the unique index that rejected it and the other document
  /// that has the value.
  func violation(
    _ error: any Error, _ document: NewDocument, _ identity: Identity?, _ table: CollectionTable
  ) throws -> any Error {
    guard let error = error as? StoreError, error.isConstraint else { return error }
    let name = table.description.name
    let message = error[.engineMessage] ?? ""
    if message.hasExactSuffix(": \(name).key") {
      return StoreError.duplicateKey(document.key, in: name)
    }
    if message.hasExactSuffix(": \(name).id") {
      return StoreError.duplicateRowID(document.rowID ?? 0, in: name)
    }
    let index = table.indexes.first { index in
      guard index.isUnique, let sqlName = table.sqlNames[ExactName(index.name)] else {
        return false
      }
      return message.hasExactSuffix(": index " + SQLName.literal(sqlName))
        || message.hasExactSuffix(": \(sqlName).value")
    }
    guard let index else { return error }
    // SQLite names one of several violated constraints, and an insertion of an existing document can violate several at once.
    if identity == nil, try keyExists(document, table) {
      return StoreError.duplicateKey(document.key, in: name)
    }
    let holder = try holder(of: index, document, identity, table)
    return StoreError.uniqueViolation(
      of: index.name, in: name, by: holder.map { ($0.rowID, $0.key?.description) })
  }

  private func keyExists(_ document: NewDocument, _ table: CollectionTable) throws -> Bool {
    guard let key = document.key else { return false }
    let name = SQLName.quoted(table.description.name)
    return try connection.first(
      SQLFragment("SELECT 1 FROM \(name) WHERE key = ?", [key.binding])
    ) { _ in true } ?? false
  }

  /// Returns the other document that has the value. The stored version of the same document is excluded, because
  /// it may share some elements.
  private func holder(
    of index: IndexDefinition, _ document: NewDocument, _ identity: Identity?,
    _ table: CollectionTable
  ) throws -> (rowID: Int64, key: DocumentKey?)? {
    let body = String(decoding: document.body, as: UTF8.self)
    let name = SQLName.quoted(table.description.name)
    var sql = SQLFragment("SELECT id, key FROM \(name) WHERE ")
    switch index.kind {
    case .fields:
      let schema = table.schemas.first { $0.index.name.hasSameBytes(as: index.name) }
      let terms = index.columns.flatMap { column -> [SQLFragment] in
        guard let stored = schema?.expressions(column.path),
          let given = schema?.expressions(column.path, from: "?")
        else { return [] }
        return zip(stored, given).map { stored, given in
          let uses = given.utf8.count { $0 == UInt8(ascii: "?") }
          return SQLFragment(
            "\(stored) = \(given)", Array(repeating: .text(body), count: uses))
        }
      }
      sql.append(SQLFragment.joined(terms, by: " AND "))
    case .elements:
      guard let side = table.sqlNames[ExactName(index.name)] else { return nil }
      let values = PathValues.values(in: try Self.value(document.body), at: index.columns[0].path)
      let parameters = values.compactMap { PlainBinding.binding($0) }
      guard !parameters.isEmpty else { return nil }
      let marks = parameters.map { SQLFragment("?", [$0]) }
      sql.append("id IN (SELECT id FROM \(SQLName.quoted(side)) WHERE value IN (")
      sql.append(SQLFragment.joined(marks, by: ", ") + "))")
    }
    switch identity {
    case .key(let key): sql.append(SQLFragment(" AND key IS NOT ?", [key.binding]))
    case .rowID(let id): sql.append(SQLFragment(" AND id <> ?", [.int(id)]))
    case nil: break
    }
    return try connection.first(sql) { ($0.int(0), $0.key(1)) }
  }

  private static func value(_ body: UnsafeRawBufferPointer) throws(StoreError) -> DocumentValue {
    var reader = JSONReader(body)
    return try reader.value()
  }
}

extension StoreError {
  var isConstraint: Bool {
    self[.engineCode].flatMap { Int32($0) }.map { $0 & 0xFF == SQLITE_CONSTRAINT } ?? false
  }
}
