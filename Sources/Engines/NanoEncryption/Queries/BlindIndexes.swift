// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

/// The indexes on fields of an encrypted collection. Stored encrypted, so that the file does not reveal the
/// names of the fields.
struct BlindIndexes: Sendable, Hashable {
  /// A field whose values are hashed, for indexes of one kind.
  struct Field: Sendable, Hashable {
    /// Never reused for another field of the collection.
    let number: Int
    let path: FieldPath
    let kind: IndexDefinition.Kind

    /// The name of the field in the encrypted body that holds the hashes.
    var name: String {
      switch kind {
      case .fields: "nano_f\(number)"
      case .elements: "nano_e\(number)"
      }
    }
    var hashed: FieldPath { FieldPath(components: [name]) }
  }

  /// An index as declared, and the name of the corresponding index in the inner engine.
  struct Index: Sendable, Hashable {
    let definition: IndexDefinition
    let innerName: String
  }

  private(set) var fields: [Field] = []
  private(set) var indexes: [Index] = []
  private var lastNumber = 0
  /// The number of the key that the documents' hashes are computed with.
  var keyNumber: UInt32

  init(keyNumber: UInt32) { self.keyNumber = keyNumber }

  func index(named name: String) -> Index? {
    indexes.first { $0.definition.name.hasSameBytes(as: name) }
  }

  /// Returns the declared name of an inner index.
  func name(ofInner name: String) -> String? {
    indexes.first { $0.innerName == name }?.definition.name
  }

  /// Returns the field whose hashes find values at a path, if there is one.
  func field(_ path: FieldPath) -> Field? {
    fields.last { $0.path == path && $0.kind == .elements } ?? fields.last { $0.path == path }
  }

  /// Adds an index. Returns whether documents need hashes that they do not have.
  mutating func add(_ definition: IndexDefinition) -> Bool {
    var needsHashes = false
    for column in definition.columns
    where !fields.contains(where: { $0.path == column.path && $0.kind == definition.kind }) {
      lastNumber += 1
      fields.append(Field(number: lastNumber, path: column.path, kind: definition.kind))
      needsHashes = true
    }
    lastNumber += 1
    indexes.append(Index(definition: definition, innerName: "nano_blind_\(lastNumber)"))
    return needsHashes
  }

  /// Removes an index, and the fields that no other index uses.
  mutating func remove(_ name: String) {
    indexes.removeAll { $0.definition.name.hasSameBytes(as: name) }
    let indexes = indexes
    fields.removeAll { field in
      !indexes.contains { index in
        index.definition.kind == field.kind
          && index.definition.columns.contains { $0.path == field.path }
      }
    }
  }

  /// Returns the index on the hashes, which the inner engine maintains.
  func inner(_ index: Index) -> IndexDefinition {
    let kind = index.definition.kind
    let columns = index.definition.columns.compactMap { column in
      fields.first { $0.path == column.path && $0.kind == kind }.map {
        IndexDefinition.Column($0.hashed, descending: column.descending)
      }
    }
    return IndexDefinition(
      name: index.innerName, columns: columns, isUnique: index.definition.isUnique, kind: kind)
  }
}

extension BlindIndexes {
  var value: DocumentValue {
    [
      "last": .int(Int64(lastNumber)), "key": .int(Int64(keyNumber)),
      "fields": .array(
        fields.map {
          [
            "number": .int(Int64($0.number)), "path": Self.path($0.path),
            "kind": .string($0.kind.rawValue),
          ]
        }),
      "indexes": .array(
        indexes.map { index in
          [
            "name": .string(index.definition.name), "inner": .string(index.innerName),
            "unique": .bool(index.definition.isUnique),
            "kind": .string(index.definition.kind.rawValue),
            "columns": .array(
              index.definition.columns.map {
                ["path": Self.path($0.path), "descending": .bool($0.descending)]
              }),
          ]
        }),
    ]
  }

  /// Returns an array of names, or text if a name must be distinguished from an element number.
  private static func path(_ path: FieldPath) -> DocumentValue {
    let names = FieldPath(components: path.components)
    return names == path ? .array(path.components.map { .string($0) }) : .string(path.description)
  }

  init(_ value: DocumentValue) {
    keyNumber = UInt32(clamping: value["key"]?.int ?? 0)
    lastNumber = Int(value["last"]?.int ?? 0)
    for field in value["fields"]?.array ?? [] {
      fields.append(
        Field(
          number: Int(field["number"]?.int ?? 0), path: Self.path(field["path"]),
          kind: Self.kind(field)))
    }
    for index in value["indexes"]?.array ?? [] {
      let columns = (index["columns"]?.array ?? []).map {
        IndexDefinition.Column(
          Self.path($0["path"]), descending: $0["descending"]?.bool ?? false)
      }
      let definition = IndexDefinition(
        name: index["name"]?.string ?? "", columns: columns,
        isUnique: index["unique"]?.bool ?? false, kind: Self.kind(index))
      indexes.append(Index(definition: definition, innerName: index["inner"]?.string ?? ""))
    }
  }

  private static func path(_ value: DocumentValue?) -> FieldPath {
    value?.string.map { FieldPath($0) }
      ?? FieldPath(components: (value?.array ?? []).compactMap(\.string))
  }
  private static func kind(_ value: DocumentValue) -> IndexDefinition.Kind {
    value["kind"]?.string.flatMap { IndexDefinition.Kind(rawValue: $0) } ?? .fields
  }
}
