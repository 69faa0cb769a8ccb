// SPDX-License-Identifier: MIT

import NanoEngine
import NanoStore

/// Rows, tables and indexes.
///
/// The original has a table of documents, which include bags, a table with a row for each value in them, and six indexes.
/// A collection has the documents; indexing everything replaces the table of values with its indexes.
extension NanoStoreCaseRunner {
  func performTables(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    let table = step["table"]?.string ?? step["name"]?.string ?? ""
    switch op {
    case "rowCount": return ["value": .int(Int64(try rowCount(table)))]
    case "maxRowId": return ["value": .int(try maximumRowID(table))]
    case "attributeRows": return try attributeRows(step)
    case "engineTable": return try engineTable(table, step)
    case "clearIndexes":
      dropped = try objects.dropIndexes()
      return [:]
    case "rebuildIndexes":
      if let dropped { try objects.restoreIndexes(dropped) }
      dropped = nil
      try objects.setIndexing(.everything)
      return [:]
    case "indexes":
      let names = try objects.indexes().map(\.name) + objects.fullTextIndexes().map(\.name)
      let isIndexed = try objects.indexing() == .everything
      return [
        "count": .int(Int64(names.count + (isIndexed ? 1 : 0))),
        "names": .array(names.map { .string($0) }),
      ]
    default: return nil
    }
  }

  private enum Table { case documents, values, user }

  private func kind(_ table: String) -> Table {
    switch table.lowercased() {
    case "documents", "nsfkeys": .documents
    case "attributes", "values", "nsfvalues": .values
    default: .user
    }
  }

  /// Returns the number of written rows, ignoring pending saves.
  private func rowCount(_ table: String) throws -> Int {
    switch kind(table) {
    case .documents: return try documentCount() + bagCount()
    case .values:
      return try objects.fetch().reduce(0) { try $0 + leaves($1.object()).count }
        + store.bags().reduce(0) { try $0 + leaves($1.representation()).count }
    case .user:
      return Int(try number("SELECT count(*) FROM \(Self.quoted(table))"))
    }
  }

  private func documentCount() throws -> Int {
    if store.isInTransaction { return try objects.count() }
    return try store.engine().read(.call, nil) { try $0.count(Query(), in: Self.collection) }
  }

  private func bagCount() throws -> Int {
    if store.isInTransaction { return try store.bags().count }
    return try store.engine().read(.call, nil) { try $0.count(Query(), in: "nano_bags") }
  }

  /// Returns the largest row ID of a table, 0 for an empty one. Bags were rows of the table of documents.
  private func maximumRowID(_ table: String) throws -> Int64 {
    switch kind(table) {
    case .documents:
      _ = try store.createCollection(Self.collection)
      return try number("SELECT max(id) FROM \(Self.collection)") + Int64(bagCount())
    case .values: return Int64(try rowCount(table))
    case .user: return try number("SELECT max(rowid) FROM \(Self.quoted(table))")
    }
  }

  private func number(_ statement: String) throws -> Int64 {
    try store.sql(statement, SQLArguments()).first?.values.first?.int64 ?? 0
  }

  private static func quoted(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  private func leaves(_ object: DocumentObject) -> [Leaf] { Leaves.all(in: .object(object)) }

  private func attributeRows(_ step: DocumentObject) throws -> DocumentObject {
    let key = try value(step["key"] ?? .null).string ?? ""
    let rows: [Leaf]
    if let bag = try store.bag(key: key) {
      // The original stored a bag as a document with these attributes.
      rows = leaves(try storedContent(of: bag))
    } else {
      rows = leaves(try objects.get(key)?.object() ?? [:])
    }
    return [
      "count": .int(Int64(rows.count)),
      "attributes": .array(rows.map { .string($0.path.description) }),
      "datatypes": .array(rows.map { .string(SQLDatatype(of: $0.value).rawValue) }),
      "values": .array(rows.map(\.value)),
    ]
  }

  // MARK: Tables of the user

  /// Creates a table if the step names columns, adds rows and an index, and drops it if `action` is `drop`.
  private func engineTable(_ table: String, _ step: DocumentObject) throws -> DocumentObject {
    let action = step["action"]?.string
    guard [nil, "create", "insert", "index", "drop", "list"].contains(action) else {
      throw failure("the runner does not know the action \(action ?? "")")
    }
    if let columns = step["columns"]?.array?.compactMap(\.string), action != "drop" {
      let types = strings(step["datatypes"] ?? step["types"])
      guard types.allSatisfy({ ["INTEGER", "TEXT", "BLOB", "REAL"].contains($0) }) else {
        return ["ok": false]
      }
      guard types.count == columns.count else {
        throw StoreError(.invalidArgument, "Each column needs a type")
      }
      try create(table, columns, types)
    }
    for row in step["rows"]?.array ?? [] {
      let values = try (row.array ?? []).map { try value($0) }
      let marks = values.map { _ in "?" }.joined(separator: ", ")
      try store.execute(
        "INSERT INTO \(Self.quoted(table)) VALUES (\(marks))", SQLArguments(values))
    }
    if let column = step["index"]?.string {
      let name = Self.quoted("\(table)_\(column)_IDX")
      try store.execute(
        "CREATE INDEX \(name) ON \(Self.quoted(table)) (\(Self.quoted(column)))", SQLArguments())
    }
    if action == "drop" || step["drop"] == true {
      try store.execute("DROP TABLE \(Self.quoted(table))", SQLArguments())
    }
    return try state(of: table)
  }

  /// As in the original, a column of integers is the primary key, and a table without one gets the column ROWID.
  private func create(_ table: String, _ columns: [String], _ types: [String]) throws {
    var definitions = zip(columns, types).map { column, type in
      Self.quoted(column) + " " + (type == "INTEGER" ? "INTEGER PRIMARY KEY" : type)
    }
    if !types.contains("INTEGER") { definitions.insert("ROWID INTEGER PRIMARY KEY", at: 0) }
    try store.execute(
      "CREATE TABLE \(Self.quoted(table)) (\(definitions.joined(separator: ", ")))",
      SQLArguments())
  }

  private func state(of name: String) throws -> DocumentObject {
    let tables = try store.tables().filter { $0.kind == .table }
    let table = tables.first { $0.name == name }
    func texts(_ texts: [String]?) -> DocumentValue { .array((texts ?? []).map { .string($0) }) }
    return [
      "exists": .bool(table != nil), "tables": texts(tables.map(\.name)),
      "columns": texts(table?.columns.map(\.name)),
      "datatypes": texts(table?.columns.map(\.type)),
      "indexes": texts(table?.indexes.map(\.name)),
      "rowCount": .int(Int64(try table == nil ? 0 : rowCount(name))),
      "maxRowId": .int(try table == nil ? 0 : maximumRowID(name)),
    ]
  }
}
