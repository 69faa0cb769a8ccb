// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// The stored fields of a model, looked up by key path.
///
/// Created once per type: building key paths and looking up their properties takes longer than a
/// query.
final class FieldTable: Sendable {
  struct Entry: Sendable {
    let keyPath: any AnyKeyPath & Sendable
    let optionalKeyPath: any AnyKeyPath & Sendable
    let location: PropertyLocation
  }
  let fields: [Entry]
  /// The current and former names of all fields.
  let names: Set<ExactName>
  /// Whether a field holds decimals, or nested values that may.
  let mayHoldDecimals: Bool
  private let keyType: (any ModelKey.Type)?
  private let indexed: Set<FieldPath>
  private let locations: Mutex<[AnyKeyPathBox: PropertyLocation?]>

  convenience init<M: Model>(_ type: M.Type) { self.init(M.modelFields) }

  init<Root>(_ modelFields: [ModelField<Root>]) {
    fields = modelFields.map { field in
      Entry(
        keyPath: field.keyPath, optionalKeyPath: field.optionalKeyPath,
        location: PropertyLocation(steps: [FieldStep(field)]))
    }
    mayHoldDecimals = modelFields.contains {
      $0.isDecimal || $0.nested != nil || $0.entry != nil
    }
    keyType = modelFields.first { $0.keyType != nil }?.keyType
    names = Set(modelFields.flatMap { [$0.name] + $0.formerNames }.map { ExactName($0) })
    indexed = Set(
      modelFields.filter { !$0.traits.isDisjoint(with: [.indexed, .unique]) }
        .map { FieldPath(components: [$0.name]) })
    var initial: [AnyKeyPathBox: PropertyLocation?] = [:]
    for field in fields { initial[AnyKeyPathBox(field.keyPath)] = field.location }
    locations = Mutex(initial)
  }

  /// Returns whether the model declares a single-field index on this field.
  func isIndexed(_ path: FieldPath) -> Bool { indexed.contains(path) }

  /// Whether values without a key of their own can have the keys that the store generates.
  ///
  /// Computed only for a value that lacks a key: other types are not asked to decode a key that no document has.
  var acceptsGeneratedKeys: Bool {
    keyType.map { (try? $0.init(documentKey: FieldTable.generatedKey)) != nil } ?? true
  }

  /// An example of the keys that the store generates: a UUID of version 7.
  private static var generatedKey: BorrowedKey { .uuid(0x7000, 1 << 63) }

  /// Checks the key of a document whose value has none of its own.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if the property marked as key cannot hold it.
  func checkKey(_ key: DocumentKey) throws {
    guard let keyType else { return }
    try DocumentKey.withBorrowed(key) { _ = try keyType.init(documentKey: $0) }
  }

  /// Whether a property is the key of the document.
  var hasKey: Bool { keyType != nil }

  /// Returns the location of the property that a key path refers to, or nil if it is not stored.
  func location(of keyPath: any AnyKeyPath & Sendable) -> PropertyLocation? {
    let box = AnyKeyPathBox(keyPath)
    if let cached = locations.withLock({ $0[box] }) { return cached }
    let found = search(keyPath)
    locations.withLock { $0[box] = .some(found) }
    return found
  }

  /// Searches the fields of nested models, breadth first.
  ///
  /// Key paths can be compared and appended, but not split into components.
  private func search(_ target: AnyKeyPath) -> PropertyLocation? {
    var level = fields.map { (keyPath: $0.keyPath as AnyKeyPath, location: $0.location) }
    for _ in 1..<Self.maximumDepth {
      var next: [(keyPath: AnyKeyPath, location: PropertyLocation)] = []
      for (keyPath, location) in level {
        guard let table = location.innerFields else { continue }
        for inner in table.fields {
          for step in [inner.keyPath, inner.optionalKeyPath] {
            guard let longer = keyPath.appending(path: step) else { continue }
            if longer == target { return location.appending(inner.location) }
            next.append((longer, location.appending(inner.location)))
          }
        }
      }
      guard !next.isEmpty, next.count <= Self.maximumKeyPaths else { return nil }
      level = next
    }
    return nil
  }

  /// Arbitrary: the number of levels of nested models that are searched.
  private static let maximumDepth = 8
  /// Arbitrary: a model that contains itself has infinitely many key paths.
  private static let maximumKeyPaths = 10_000
}

/// A key path as a dictionary key.
private struct AnyKeyPathBox: Hashable, Sendable {
  let keyPath: any AnyKeyPath & Sendable
  init(_ keyPath: any AnyKeyPath & Sendable) { self.keyPath = keyPath }
  static func == (a: Self, b: Self) -> Bool {
    (a.keyPath as AnyKeyPath) == (b.keyPath as AnyKeyPath)
  }
  func hash(into hasher: inout Hasher) { hasher.combine(keyPath as AnyKeyPath) }
}

extension Model {
  /// The table of the type's fields.
  static var fieldTable: FieldTable { FieldTables.table(of: self) }
}

private enum FieldTables {
  private static let tables = Mutex<[ObjectIdentifier: FieldTable]>([:])

  static func table<M: Model>(of type: M.Type) -> FieldTable {
    let id = ObjectIdentifier(type)
    if let table = tables.withLock({ $0[id] }) { return table }
    // Created outside of the lock, since the defaults of properties can run arbitrary code.
    let table = FieldTable(type)
    return tables.withLock { tables in
      if let earlier = tables[id] { return earlier }
      tables[id] = table
      return table
    }
  }
}
