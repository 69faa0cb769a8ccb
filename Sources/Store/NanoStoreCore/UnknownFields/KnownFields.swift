// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// The known fields of a collection: those that a document has ever had, those with a default, and
/// those named by an index or by the list of queryable fields.
struct KnownFields: Sendable {
  /// Whether the collection has any documents. Without documents, every field counts as known.
  let hasDocuments: Bool
  /// The observed paths, in order. Arrays along the way add nothing to a path.
  private var observed: [FieldPath] = []
  private var paths: Set<FieldPath> = []
  /// The paths below which not all names are recorded.
  private var open: Set<FieldPath> = []
  /// Whether the path catalog is complete. With very many names, it may omit some.
  private let isComplete: Bool
  private let defaults: FieldDefaults?

  init(_ reader: any EngineReader, in collection: String) throws {
    hasDocuments = try reader.count(Query(limit: 1), in: collection) > 0
    let catalog = hasDocuments ? try reader.observedPaths(in: collection) : []
    for entry in catalog {
      let path = entry.field
      if entry.types.contains(.open) { open.insert(path) }
      if paths.insert(path).inserted { observed.append(path) }
    }
    let names = observed.count { $0.components.count == 1 }
    isComplete = catalog.isComplete(names: names)
    guard hasDocuments else {
      defaults = nil
      return
    }
    let settings = try reader.settings(of: collection)
    defaults = FieldDefaults(settings.defaults)
    var declared = settings.queryableFields
    declared += try reader.indexes(in: collection).flatMap { $0.columns.map(\.path) }
    declared += try reader.fullTextIndexes(in: collection).flatMap(\.fields)
    for path in declared {
      for end in path.components.indices {
        paths.insert(FieldPath(components: Array(path.components[...end])))
      }
    }
  }

  /// Whether a document has the field, or may have it although it is not recorded.
  func contains(_ path: FieldPath) -> Bool {
    guard hasDocuments, isComplete else { return true }
    if let defaults, defaults.reaches(path) { return true }
    var prefixes: [[String]] = [[]]
    for step in path.steps {
      let name = step.name
      // The element itself, inside a condition on elements.
      if FieldPath(components: [name]).isElement { continue }
      // A set: a number that is a name and a position leads to the same prefix in several ways.
      var next: Set<FieldPath> = []
      for prefix in prefixes {
        if !prefix.isEmpty, open.contains(FieldPath(components: prefix)) { return true }
        let field = FieldPath(components: prefix + [name])
        if paths.contains(field) { next.insert(field) }
        // A single element of an array.
        if step.index != nil, !prefix.isEmpty { next.insert(FieldPath(components: prefix)) }
      }
      guard !next.isEmpty else { return false }
      prefixes = next.map(\.components)
    }
    return true
  }

  /// Returns those of the fields that no document has, in order and without duplicates.
  func unknown(among fields: [FieldPath]) -> [UnknownField] {
    var seen: Set<FieldPath> = []
    return fields.filter { seen.insert($0).inserted && !contains($0) }
      .map { UnknownField(path: $0, nearest: nearest(to: $0)) }
  }

  /// Returns the known field with the most similar name: different capitalization, a few different
  /// letters, or at a different path.
  func nearest(to path: FieldPath) -> FieldPath? {
    let text = "\(path)"
    let lowercased = text.lowercased()
    if let same = observed.first(where: { "\($0)".lowercased() == lowercased }) { return same }
    var distance = EditDistance(to: text)
    var best: (path: FieldPath, distance: Int)?
    for known in observed {
      let limit = best.map { $0.distance - 1 } ?? distance.tolerance
      if let found = distance.distance(from: "\(known)", limit: limit) { best = (known, found) }
    }
    if let best { return best.path }
    return observed.filter {
      $0.components.last.map(path.components.last!.hasSameBytes(as:)) ?? false
    }
    .min { $0.components.count < $1.components.count }
  }
}

extension [ObservedPath] {
  /// Whether all paths of the documents are recorded, except below objects that are open.
  ///
  /// Engines may stop recording new ones from 1,000 names of an object or 5,000 paths on.
  ///
  /// - Parameter names: The number of top-level names.
  package func isComplete(names: Int) -> Bool { names < 1_000 && count < 5_000 }
}

extension Query {
  /// The fields that the query filters, sorts and selects by.
  var usedFields: [FieldPath] {
    condition.fields + orderings.flatMap(\.expression.fields) + (fields ?? [])
      + (ranking?.weights.keys.sorted { "\($0)".isBefore("\($1)") } ?? [])
  }
}

extension AggregateQuery {
  var usedFields: [FieldPath] { query.usedFields + groups + aggregates.compactMap(\.field) }
}
