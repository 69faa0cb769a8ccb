// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// The column values of a document to write.
struct DocumentRow {
  /// The column names: `id, key, type, version, added, revision, body, source`, and those of the text indexes.
  static func columns(_ collection: PostgresCollection) -> [String] {
    ["id", "key", "type", "version", "added", "revision", "body", "source"]
      + collection.fullTextIndexes.flatMap { [$0.column, $0.lengthColumn] }
  }

  /// Returns the ON CONFLICT clause that replaces the document with the same key, for an INSERT into a table
  /// with the alias `t`.
  static func onConflictReplace(_ collection: PostgresCollection) -> String {
    let unchanged: Set = ["id", "key", "added", "revision"]
    let assignments = columns(collection).filter { !unchanged.contains($0) }
      .map { "\($0) = excluded.\($0)" }
    return " ON CONFLICT (key) WHERE key IS NOT NULL DO UPDATE SET "
      + "\(assignments.joined(separator: ", ")), revision = \(nextRevision("t.revision"))"
  }

  /// Returns the expression for the revision after another one: one far from those of other documents after the largest,
  /// which only another program can write. Citus accepts only immutable expressions.
  static func nextRevision(_ revision: String) -> String {
    "CASE WHEN \(revision) < \(Int64.max) THEN \(revision) + 1 "
      + "ELSE \(Int64.max / 2) END"
  }

  /// The row ID; `nil` for the next one of the sequence.
  var id: Int64?
  let document: NewDocument
  let revision: Int64
  /// The body as sent to the server, if it differs from that of the document.
  let changedBody: [UInt8]?
  let keepsSource: Bool
  /// The tokens of each text index.
  let tokens: [TokenVector]

  /// - Throws: ``StoreError/Code/invalidKey`` for a key that is too long for an index,
  ///   ``StoreError/Code/valueNotStorable`` for a class name with a NUL,
  ///   ``StoreError/Code/documentTooLarge`` for too many distinct tokens, and for a body that no message can contain.
  init(
    _ document: NewDocument, id: Int64?, revision: Int64, _ collection: PostgresCollection
  ) throws {
    if case .text(let key)? = document.key, key.utf8.count > Self.longestKey {
      throw StoreError(
        .invalidKey, "A key exceeds the maximum length of the server",
        [.limit: "\(Self.longestKey) bytes", .actual: "\(key.utf8.count) bytes"])
    }
    if let type = document.type, type.utf8.contains(0) {
      throw StoreError(.valueNotStorable, "A class name contains a NUL")
    }
    self.id = id
    self.document = document
    self.revision = revision
    let json = try QueryableBody.json(document.body)
    changedBody = json.changed
    keepsSource = collection.keepsSource || json.losesValues
    tokens = try Self.tokens(document.body, collection)
    guard size <= PostgresStatement.maximumSize else { throw PostgresStatement.tooLarge(size) }
  }

  /// An index entry has at most 2,704 bytes.
  private static let longestKey = 2_600

  private static func tokens(
    _ body: UnsafeRawBufferPointer, _ collection: PostgresCollection
  ) throws -> [TokenVector] {
    guard !collection.fullTextIndexes.isEmpty else { return [] }
    var reader = JSONReader(body)
    let subject = DocumentSubject(try reader.object())
    return try collection.fullTextIndexes.map { index in
      try TokenVector(index.definition.scope) { subject.texts(at: $0) }
    }
  }

  /// Approximately the number of bytes that are sent.
  var size: Int {
    let body = changedBody?.count ?? document.body.count
    return tokens.reduce(body + (keepsSource ? document.body.count : 0) + 160) {
      $0 + $1.bytes.count + 16
    }
  }

  var key: PostgresValue { document.key.map { .text($0.description) } ?? .null }
  var type: PostgresValue { document.type.map { .text($0) } ?? .null }
  var version: PostgresValue { document.version.map { .int($0) } ?? .null }
  var body: PostgresValue { .json(changedBody ?? Array(document.body)) }
  var source: PostgresValue { keepsSource ? .utf8(Array(document.body)) : .null }

  /// Returns a revision that no document with a reused row ID has had, in all probability.
  static func unusedRevision() -> Int64 { .random(in: 2..<(1 << 52)) }

  /// Returns the values list of an INSERT.
  func values(_ collection: PostgresCollection) -> PostgresSQL {
    newID(collection) + ", " + valuesAfterID(.value(.int(revision)))
  }

  private func newID(_ collection: PostgresCollection) -> PostgresSQL {
    id.map { .value(.int($0)) } ?? collection.newRowID
  }

  /// An INSERT that replaces the document with the same key.
  struct Upsert {
    var sql: PostgresSQL
    fileprivate var unused: Int64

    /// Returns whether the document is new, given its revision.
    func isNew(_ revision: Int64) -> Bool { revision == 1 || revision == unused }
  }

  /// Returns a statement that inserts the document, or replaces the one with the same key. The sequence is used only
  /// for a new document. If the existing one is deleted meanwhile, by another program, the new one has its row ID and
  /// another revision.
  ///
  /// - Parameter source: A table expression that provides one row.
  func upsert(_ collection: PostgresCollection, from source: String = "(SELECT 1)") -> Upsert {
    let unused = Self.unusedRevision()
    var sql: PostgresSQL = "INSERT INTO \(collection.table) AS t "
    sql += "(\(Self.columns(collection).joined(separator: ", "))) SELECT coalesce(o.id, "
    sql += newID(collection) + "), "
    sql += valuesAfterID(
      "CASE WHEN o.id IS NULL THEN 1 ELSE " + .value(.int(unused)) + "::bigint END")
    sql += " FROM \(source) AS one LEFT JOIN \(collection.table) AS o ON o.key = " + .value(key)
    sql += PostgresSQL(Self.onConflictReplace(collection))
    return Upsert(sql: sql, unused: unused)
  }

  /// Returns the values after the row ID, each with its type, which a SELECT does not infer.
  private func valuesAfterID(_ revision: PostgresSQL) -> PostgresSQL {
    let plain: [PostgresSQL] = [
      .value(key) + "::text", .value(type) + "::text", .value(version) + "::bigint",
      .value(.int(document.added)), revision, .value(body), .value(source) + "::text",
    ]
    return PostgresSQL.joined(plain + tokenValues, by: ", ")
  }

  private var tokenValues: [PostgresSQL] {
    tokens.flatMap { [.value(.vector($0.bytes)), .value(.int(Int64($0.count)))] }
  }

  /// Returns the SET list of an UPDATE: all columns except the key, the row ID and the time of insertion, and
  /// possibly the type.
  func assignments(_ collection: PostgresCollection) -> PostgresSQL {
    var parts: [PostgresSQL] = [
      document.keepsType ? "type = type" : "type = " + .value(type), "version = " + .value(version),
      PostgresSQL("revision = " + Self.nextRevision("revision")),
      "body = " + .value(body), "source = " + .value(source),
    ]
    let names = collection.fullTextIndexes.flatMap { [$0.column, $0.lengthColumn] }
    for (name, value) in zip(names, tokenValues) { parts.append("\(name) = " + value) }
    return PostgresSQL.joined(parts, by: ", ")
  }

  /// Returns the columns of several documents as arrays, in the order of ``columns(_:)``.
  static func arrays(_ rows: [DocumentRow]) -> [PostgresValue] {
    let texts = (rows.first?.tokens.indices ?? 0..<0).flatMap { number -> [PostgresValue] in
      [
        .vectors(rows.map { $0.tokens[number].bytes }),
        .ints(rows.map { Int64($0.tokens[number].count) }),
      ]
    }
    return [
      .ints(rows.map(\.id)), .texts(rows.map { $0.document.key?.description }),
      .texts(rows.map(\.document.type)), .ints(rows.map(\.document.version)),
      .ints(rows.map(\.document.added)), .ints(rows.map(\.revision)),
      .jsons(rows.map { $0.changedBody ?? Array($0.document.body) }),
      .utf8s(rows.map { $0.keepsSource ? Array($0.document.body) : nil }),
    ] + texts
  }

  /// The types of the columns.
  static func types(_ collection: PostgresCollection) -> [String] {
    ["bigint", "text", "text", "bigint", "bigint", "bigint", "jsonb", "text"]
      + collection.fullTextIndexes.flatMap { _ in ["tsvector", "bigint"] }
  }

  /// Appends the row, which has a row ID.
  func append(to rows: inout CopyBuffer) {
    rows.beginRow(columns: 8 + 2 * tokens.count)
    rows.add(id)
    switch document.key {
    case .text(var text)?: text.withUTF8 { rows.add(utf8: UnsafeRawBufferPointer($0)) }
    case nil: rows.add(.null)
    case let key?: rows.add(.text(key.description))
    }
    rows.add(type)
    rows.add(document.version)
    rows.add(document.added)
    rows.add(revision)
    if let changedBody {
      changedBody.withUnsafeBytes { rows.add(json: $0) }
    } else {
      rows.add(json: document.body)
    }
    if keepsSource { rows.add(utf8: document.body) } else { rows.add(.null) }
    for tokens in tokens {
      rows.add(.vector(tokens.bytes))
      rows.add(Int64(tokens.count))
    }
  }
}
