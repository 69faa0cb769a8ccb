// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// The compiled query of a search, one for each collection, since collections have different
/// defaults.
///
/// Confined to the block of its reader.
final class BagMatchers {
  private struct Programs {
    let condition: ConditionMatcher
    let orderings: [CompiledOrdering]
  }
  private let query: Query
  private let reader: (any EngineReader)?
  private var known: [ExactName: Programs] = [:]

  /// - Throws: ``StoreError/Code/invalidArgument`` for a regular expression that does not parse.
  init(_ query: Query, _ reader: (any EngineReader)?) throws {
    self.query = query
    self.reader = reader
    _ = try ConditionMatcher(query.condition)
  }

  func holds(for stored: StoredDocument, in collection: String) throws -> Bool {
    try programs(collection).condition.holds(for: stored.body) { stored.value(of: $0) }
  }

  /// Returns the values that a document is sorted by.
  func values(_ stored: StoredDocument, in collection: String) throws -> [DocumentValue] {
    if query.orderings.isEmpty { return [] }
    return try programs(collection).orderings.map { program in
      try program.value(stored.body) { stored.value(of: $0) }
    }
  }

  private func programs(_ collection: String) throws -> Programs {
    if let programs = known[ExactName(collection)] { return programs }
    let settings = try reader?.settings(of: collection)
    let defaults = settings.flatMap { FieldDefaults($0.defaults) }
    let programs = Programs(
      condition: try ConditionMatcher(query.condition, defaults: defaults),
      orderings: query.orderings.map { CompiledOrdering($0, defaults: defaults) })
    known[ExactName(collection)] = programs
    return programs
  }
}
