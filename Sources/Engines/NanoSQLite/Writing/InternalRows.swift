// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Errors for damaged rows of the store's internal tables.
enum RowDamage {
  /// - Parameter actual: The value found. Strings and data are reported only by their type, because they may
  ///   contain user data.
  static func error(
    _ table: String, column: String, collection: String?, index: String? = nil, expected: String,
    actual: DocumentValue
  ) -> StoreError {
    let error = StoreError(
      .corruptFile, "A row of the store's internal tables is damaged",
      [
        .table: table, .column: column, .expected: expected, .actual: describe(actual),
        .hint: "restore a backup, or extract the documents into a new file with recover",
      ])
    let located = collection.map { error.adding(.collection, $0) } ?? error
    return index.map { located.adding(.index, $0) } ?? located
  }

  /// Adds an internal table to an error of a statement on it, such as one whose column the damaged definition lacks.
  static func naming<Result>(_ table: String, _ work: () throws -> Result) throws -> Result {
    do { return try work() } catch let error as StoreError where error.code == .database {
      throw error.adding(.table, table)
    }
  }

  private static func describe(_ value: DocumentValue) -> String {
    switch value {
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string: "different text"
    case .data: "data"
    default: "nothing"
    }
  }
}

/// A row of an internal table, whose columns are validated as they are read.
struct InternalRow {
  let table: String
  let columns: [String]
  let values: [DocumentValue]
  var collection: String?
  var index: String?

  func damage(_ column: String, _ expected: String) -> StoreError {
    RowDamage.error(
      table, column: column, collection: collection, index: index, expected: expected,
      actual: self[column])
  }

  subscript(column: String) -> DocumentValue {
    guard let position = columns.firstIndex(of: column), position < values.count else {
      return .null
    }
    return values[position]
  }

  func text(_ column: String) throws(StoreError) -> String {
    guard case .string(let text) = self[column] else { throw damage(column, "text") }
    return text
  }

  func int(_ column: String, _ range: ClosedRange<Int64>) throws(StoreError) -> Int64 {
    guard case .int(let number) = self[column], range.contains(number) else {
      throw damage(column, "an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func word<Word: RawRepresentable & CaseIterable>(
    _ column: String, _ type: Word.Type
  ) throws(StoreError) -> Word where Word.RawValue == String {
    guard case .string(let text) = self[column], let word = Word(rawValue: text) else {
      throw damage(column, Word.allCases.map(\.rawValue).joined(separator: " or "))
    }
    return word
  }

  func object(_ column: String) throws(StoreError) -> DocumentObject {
    guard let object = Self.json(try text(column))?.object else {
      throw damage(column, "a JSON object")
    }
    return object
  }

  /// Returns `nil` unless all bytes form exactly one value in stored form.
  static func json(_ text: String) -> DocumentValue? {
    var text = text
    return text.withUTF8 { bytes in
      var reader = JSONReader(UnsafeRawBufferPointer(bytes))
      guard let value = try? reader.value(), reader.isAtEnd else { return nil }
      return value
    }
  }
}

/// A row of `nano_collections`.
struct CollectionRow {
  static let table = "nano_collections"
  static let columns = [
    "name", "identity", "high_water", "generation", "indexing", "parts", "settings",
  ]
  /// Incrementing the highest permitted value to the limit would take more than a million years.
  static let generations: ClosedRange<Int64> = 0...(3 << 61 - 1)
  static let allParts: ClosedRange<Int64> = 0...7

  let name: String
  let identity: CollectionIdentity
  let highWater: Int64
  let indexing: IndexingPolicy
  let settings: CollectionSettings

  init(_ values: [DocumentValue]) throws(StoreError) {
    var row = InternalRow(table: Self.table, columns: Self.columns, values: values)
    name = try row.text("name")
    row.collection = name
    identity = try row.word("identity", CollectionIdentity.self)
    highWater = try row.int("high_water", 0...Int64.max)
    _ = try row.int("generation", Self.generations)
    indexing = try row.word("indexing", IndexingPolicy.self)
    _ = try row.int("parts", Self.allParts)
    settings = try Self.settings(row)
  }

  static func settings(_ row: InternalRow) throws(StoreError) -> CollectionSettings {
    let settings = CollectionSettings(try row.object("settings"))
    do { try settings.validate() } catch { throw row.damage("settings", "field paths") }
    return settings
  }
}

/// A row of `nano_indexes`.
struct IndexRow {
  static let table = "nano_indexes"
  static let columns = [
    "collection", "name", "kind", "is_unique", "columns", "sql_name", "origin", "reason", "filled",
  ]

  enum Definition {
    case index(IndexDefinition)
    case text(FullTextIndexDefinition)
  }

  let collection: String
  let name: String
  let definition: Definition
  let sqlName: String
  /// Whether the index was begun and is not complete.
  let isUnfinished: Bool

  init(_ values: [DocumentValue]) throws(StoreError) {
    var row = InternalRow(table: Self.table, columns: Self.columns, values: values)
    collection = try row.text("collection")
    row.collection = collection
    name = try row.text("name")
    row.index = name
    let origin = try row.word("origin", IndexDefinition.Origin.self)
    let isUnique = try row.int("is_unique", 0...1) == 1
    let kind = try row.text("kind")
    let fields = try Self.fields(row)
    sqlName = try row.text("sql_name")
    let prefix: String
    if let tokens = Tokenizer(rawValue: kind) {
      prefix = "text"
      let index = FullTextIndexDefinition(name: name, fields: fields.map(\.path), tokens: tokens)
      guard (try? index.validate()) != nil, !fields.contains(where: \.descending) else {
        throw row.damage("columns", "fields of a text index")
      }
      definition = .text(index)
    } else if let kind = IndexDefinition.Kind(rawValue: kind) {
      prefix = kind.sqlPrefix
      let reason = row["reason"].string
      let index = IndexDefinition(
        name: name, columns: fields, isUnique: isUnique, kind: kind, origin: origin, reason: reason)
      guard (try? index.validate()) != nil else {
        throw row.damage("columns", "fields of an index")
      }
      definition = .index(index)
    } else {
      let kinds =
        IndexDefinition.Kind.allCases.map(\.rawValue) + Tokenizer.allCases.map(\.rawValue)
      throw row.damage("kind", kinds.joined(separator: ", "))
    }
    guard Self.matchesPrefix(sqlName, "nano_\(prefix)_\(collection)_") else {
      throw row.damage("sql_name", "a name assigned by the store")
    }
    guard row["filled"] == .null || row["filled"].int != nil else {
      throw row.damage("filled", "null or a row ID")
    }
    isUnfinished = row["filled"] != .null
  }

  /// Parses the columns, such as `[["Address.City"],["age","desc"]]`.
  private static func fields(_ row: InternalRow) throws(StoreError) -> [IndexDefinition.Column] {
    let wrong = row.damage("columns", "a JSON array of fields")
    guard let all = InternalRow.json(try row.text("columns"))?.array, !all.isEmpty else {
      throw wrong
    }
    var fields: [IndexDefinition.Column] = []
    for field in all {
      guard let parts = field.array, let path = parts.first?.string,
        parts.count == 1 || (parts.count == 2 && parts[1] == .string("desc"))
      else { throw wrong }
      fields.append(IndexDefinition.Column(FieldPath(path), descending: parts.count == 2))
    }
    return fields
  }

  /// Whether a name has the prefix of this kind and collection, ignoring case as SQLite does. It ends with the
  /// name of the index or, if a declared index replaced an adaptive one, with that of the replaced index.
  private static func matchesPrefix(_ name: String, _ prefix: String) -> Bool {
    name.foldingASCII.utf8.starts(with: prefix.foldingASCII.utf8)
  }
}

/// A row of `nano_paths`.
struct PathRow {
  static let table = "nano_paths"
  static let columns = ["collection", "path", "types", "attribute"]
  static let allTypes: ClosedRange<Int64> = 0...8191
  /// Numbers are assigned consecutively, and the number of paths per collection is limited, so the upper bound
  /// is never reached.
  static let attributes: ClosedRange<Int64> = 0...(1 << 30)

  let collection: String
  let path: CatalogPath

  init(_ values: [DocumentValue]) throws(StoreError) {
    var row = InternalRow(table: Self.table, columns: Self.columns, values: values)
    collection = try row.text("collection")
    row.collection = collection
    let text = try row.text("path")
    path = CatalogPath(text)
    // Only the store writes paths, so parsing and formatting must reproduce the text.
    guard path.isSound, path.text.hasSameBytes(as: text) else {
      throw row.damage("path", "a path of names")
    }
    _ = try row.int("types", Self.allTypes)
    _ = try row.int("attribute", Self.attributes)
  }
}

/// A row of `nano_metadata`.
struct MetadataRow {
  static let table = "nano_metadata"
  static let columns = ["name", "value"]

  let name: String
  let value: DocumentValue

  init(_ values: [DocumentValue]) throws(StoreError) {
    let row = InternalRow(table: Self.table, columns: Self.columns, values: values)
    name = try row.text("name")
    guard let value = InternalRow.json(try row.text("value")) else {
      throw row.damage("value", "a JSON value")
    }
    self.value = value
  }
}

extension CatalogPath {
  /// Whether documents can contain the path: its depth does not exceed the maximum nesting depth.
  var isSound: Bool { !steps.isEmpty && steps.count <= DocumentValue.maximumDepth }
}
