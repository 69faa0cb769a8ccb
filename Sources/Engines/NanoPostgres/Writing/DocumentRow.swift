// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// The columns of a document that is written.
struct DocumentRow {
  /// `key, type, version, added, revision, body, source` and those of the text indexes, behind `id`.
  static func columns(_ collection: PostgresCollection) -> [String] {
    ["id", "key", "type", "version", "added", "revision", "body", "source"]
      + collection.textIndexes.flatMap { [$0.column, $0.lengthColumn] }
  }

  /// Behind INSERT into a table that is called `t`: a document that has the key is replaced.
  static func replacing(_ collection: PostgresCollection) -> String {
    let kept: Set = ["id", "key", "added", "revision"]
    let assignments = columns(collection).filter { !kept.contains($0) }
      .map { "\($0) = excluded.\($0)" }
    return " ON CONFLICT (key) WHERE key IS NOT NULL DO UPDATE SET "
      + "\(assignments.joined(separator: ", ")), revision = t.revision + 1"
  }

  let id: Int64
  let document: NewDocument
  let revision: Int64
  /// The body for the server where it is not that of the document.
  let changedBody: [UInt8]?
  let keepsSource: Bool
  /// The tokens of each text index, and how many there are.
  let tokens: [(distinct: [String], count: Int)]

  /// - Throws: ``StoreError/Code/invalidKey`` for a key that is too long for an index,
  ///   ``StoreError/Code/valueNotStorable`` for a class name with a NUL.
  init(
    _ document: NewDocument, id: Int64, revision: Int64, _ collection: PostgresCollection
  ) throws {
    if case .text(let key)? = document.key, key.utf8.count > Self.longestKey {
      throw StoreError(
        .invalidKey, "A key is too long for the server",
        [.limit: "\(Self.longestKey) bytes", .actual: "\(key.utf8.count) bytes"])
    }
    if let type = document.type, type.utf8.contains(0) {
      throw StoreError(.valueNotStorable, "The name of a class holds a NUL")
    }
    self.id = id
    self.document = document
    self.revision = revision
    let json = try QueryableBody.json(document.body)
    changedBody = json.changed
    keepsSource = collection.keepsSource || json.losesValues
    tokens = try Self.tokens(document.body, collection)
  }

  /// An entry of an index has 2,704 bytes at most.
  private static let longestKey = 2_600

  private static func tokens(
    _ body: UnsafeRawBufferPointer, _ collection: PostgresCollection
  ) throws -> [(distinct: [String], count: Int)] {
    guard !collection.textIndexes.isEmpty else { return [] }
    var reader = JSONReader(body)
    let subject = DocumentSubject(try reader.object())
    return collection.textIndexes.map {
      TextTokenList.tokens($0.definition.scope, { subject.texts(at: $0) })
    }
  }

  var key: PostgresValue { document.key.map { .text($0.description) } ?? .null }
  var type: PostgresValue { document.type.map { .text($0) } ?? .null }
  var version: PostgresValue { document.version.map { .int($0) } ?? .null }
  var body: PostgresValue { .json(changedBody ?? Array(document.body)) }
  var source: PostgresValue { keepsSource ? .utf8(Array(document.body)) : .null }

  /// A list of values for INSERT.
  var values: PostgresSQL { .value(.int(id)) + ", " + valuesBehindID }

  /// Each with its type, which a SELECT does not find out.
  var valuesBehindID: PostgresSQL {
    let plain: [PostgresSQL] = [
      .value(key) + "::text", .value(type) + "::text", .value(version) + "::bigint",
      .value(.int(document.added)), .value(.int(revision)), .value(body),
      .value(source) + "::text",
    ]
    return PostgresSQL.joined(plain + tokenValues, by: ", ")
  }

  private var tokenValues: [PostgresSQL] {
    tokens.flatMap { tokens -> [PostgresSQL] in
      [
        "array_to_tsvector(" + .value(.texts(tokens.distinct.map { $0 })) + ")",
        .value(.int(Int64(tokens.count))),
      ]
    }
  }

  /// What UPDATE sets: all but the key, the row id and the moment added.
  func assignments(_ collection: PostgresCollection) -> PostgresSQL {
    var parts: [PostgresSQL] = [
      "type = " + .value(type), "version = " + .value(version), "revision = revision + 1",
      "body = " + .value(body), "source = " + .value(source),
    ]
    let names = collection.textIndexes.flatMap { [$0.column, $0.lengthColumn] }
    for (name, value) in zip(names, tokenValues) { parts.append("\(name) = " + value) }
    return PostgresSQL.joined(parts, by: ", ")
  }

  /// The columns of several documents without text indexes, as arrays.
  static func arrays(_ rows: [DocumentRow]) -> [PostgresValue] {
    [
      .ints(rows.map(\.id)), .texts(rows.map { $0.document.key?.description }),
      .texts(rows.map(\.document.type)), .ints(rows.map(\.document.version)),
      .ints(rows.map(\.document.added)), .ints(rows.map(\.revision)),
      .jsons(rows.map { $0.changedBody ?? Array($0.document.body) }),
      .utf8s(rows.map { $0.keepsSource ? Array($0.document.body) : nil }),
    ]
  }

  func append(to rows: inout CopyBuffer) {
    rows.beginRow(columns: 8)
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
  }
}
