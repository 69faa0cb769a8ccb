// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// Where a property stands in documents.
struct FieldPlace: Sendable {
  /// The path; for the key, the name of its property.
  var path: FieldPath
  /// Paths that older documents have instead, the latest first.
  var formerPaths: [FieldPath] = []
  /// What a document without the field is read as; nil for null.
  var missing: DocumentValue?
  var isKey = false
  /// Whether the property holds a list or an optional on the way, so that the whole of it may be absent.
  var nested: (any Model.Type)?

  /// A property of what stands here.
  func appending(_ inner: FieldPlace) -> FieldPlace {
    var place = inner
    place.isKey = false
    place.path = path.appending(inner.path)
    let outer = [path] + formerPaths
    let all = ([inner.path] + inner.formerPaths).flatMap { inner in
      outer.map { $0.appending(inner) }
    }
    place.formerPaths = Array(all.dropFirst())
    return place
  }
}

/// The fields of one model, by the key paths that lead to them.
///
/// Made once for each type: making a key path and asking it for its properties takes longer than a query.
final class FieldTable: Sendable {
  let fields: [(keyPath: any AnyKeyPath & Sendable, place: FieldPlace, optionalKeyPath: any AnyKeyPath & Sendable)]
  private let places: Mutex<[AnyKeyPathBox: FieldPlace?]>

  init<M: Model>(_ type: M.Type) {
    fields = M.modelFields.map { field in
      (
        field.keyPath,
        FieldPlace(
          path: FieldPath(components: [field.name]),
          formerPaths: field.formerNames.map { FieldPath(components: [$0]) },
          missing: field.missing(), isKey: field.traits.contains(.key), nested: field.nested),
        field.optionalKeyPath
      )
    }
    var known: [AnyKeyPathBox: FieldPlace?] = [:]
    for field in fields { known[AnyKeyPathBox(field.keyPath)] = field.place }
    places = Mutex(known)
  }

  /// Where the property stands that a key path leads to; nil if it leads to none that is stored.
  func place(of keyPath: any AnyKeyPath & Sendable) -> FieldPlace? {
    let box = AnyKeyPathBox(keyPath)
    if let known = places.withLock({ $0[box] }) { return known }
    let found = search(keyPath)
    places.withLock { $0[box] = .some(found) }
    return found
  }

  /// Looks through the fields of nested models, those of the nearest ones first.
  ///
  /// A key path can be compared, but not taken apart.
  private func search(_ wanted: AnyKeyPath) -> FieldPlace? {
    var level = fields.map { (way: $0.keyPath as AnyKeyPath, place: $0.place) }
    for _ in 1..<Self.maximumDepth {
      var next: [(way: AnyKeyPath, place: FieldPlace)] = []
      for (way, place) in level {
        guard let model = place.nested else { continue }
        for inner in model.fieldTable.fields {
          for step in [inner.keyPath, inner.optionalKeyPath] {
            guard let longer = way.appending(path: step) else { continue }
            if longer == wanted { return place.appending(inner.place) }
            next.append((longer, place.appending(inner.place)))
          }
        }
      }
      guard !next.isEmpty, next.count <= Self.maximumWays else { return nil }
      level = next
    }
    return nil
  }

  /// Arbitrary: models in models in models are looked through so deep.
  private static let maximumDepth = 8
  /// Arbitrary: models that hold themselves have ways without end.
  private static let maximumWays = 10_000
}

/// A key path as a name in a dictionary.
private struct AnyKeyPathBox: Hashable, Sendable {
  let keyPath: any AnyKeyPath & Sendable
  init(_ keyPath: any AnyKeyPath & Sendable) { self.keyPath = keyPath }
  static func == (a: Self, b: Self) -> Bool { (a.keyPath as AnyKeyPath) == (b.keyPath as AnyKeyPath) }
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
    // Outside of the lock: the defaults of properties may be anything.
    let table = FieldTable(type)
    return tables.withLock { tables in
      if let earlier = tables[id] { return earlier }
      tables[id] = table
      return table
    }
  }
}
