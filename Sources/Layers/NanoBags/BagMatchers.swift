// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// The compiled query of a search, one for each collection, since collections have different
/// defaults.
///
/// Confined to the block of its reader.
final class BagMatchers {
  private struct Matchers {
    let condition: ConditionMatcher
    let orderings: [CompiledOrdering]
    let defaults: FieldDefaults?
  }
  private let query: Query
  private let reader: (any EngineReader)?
  private var known: [ExactName: Matchers] = [:]

  /// - Throws: ``StoreError/Code/invalidArgument`` for a regular expression that does not parse.
  init(_ query: Query, _ reader: (any EngineReader)?) throws {
    self.query = try reader?.readingRelated(query) ?? query
    self.reader = reader
    _ = try ConditionMatcher(query.condition)
  }

  func holds(for stored: StoredDocument, in collection: String) throws -> Bool {
    try matchers(collection).condition.holds(for: stored.body) { stored.value(of: $0) }
  }

  /// Returns the values that a document is sorted by.
  func values(_ stored: StoredDocument, in collection: String) throws -> [DocumentValue] {
    if query.orderings.isEmpty { return [] }
    return try matchers(collection).orderings.map { program in
      try program.value(stored.body) { stored.value(of: $0) }
    }
  }

  func defaults(of collection: String) throws -> FieldDefaults? {
    try matchers(collection).defaults
  }

  private func matchers(_ collection: String) throws -> Matchers {
    if let matchers = known[ExactName(collection)] { return matchers }
    let settings = try reader?.settings(of: collection)
    let defaults = settings.flatMap { FieldDefaults($0.defaults) }
    let matchers = Matchers(
      condition: try ConditionMatcher(query.condition, defaults: defaults),
      orderings: query.orderings.map { CompiledOrdering($0, defaults: defaults) },
      defaults: defaults)
    known[ExactName(collection)] = matchers
    return matchers
  }
}
