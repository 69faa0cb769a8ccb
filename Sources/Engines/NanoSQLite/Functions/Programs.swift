// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// An object that a statement's parameter points to, retrieved by one of the store's SQL functions.
///
/// A function can report an error to SQLite only as text, so the original error is kept here and thrown when the
/// statement fails.
class Program {
  var failure: StoreError?
  /// Whether the database stores text as UTF-8, so that it can be read in place.
  var isUTF8 = false
}

final class MatchProgram: Program {
  static let kind: StaticString = "nano_condition"
  let condition: ConditionMatcher
  /// The number of documents that satisfied the condition.
  var matches = 0
  init(_ condition: Condition, _ defaults: FieldDefaults?) throws(StoreError) {
    self.condition = try ConditionMatcher(condition, defaults: defaults)
  }
}

final class SortProgram: Program {
  static let kind: StaticString = "nano_ordering"
  let ordering: CompiledOrdering
  init(_ ordering: Ordering, _ defaults: FieldDefaults?) {
    self.ordering = CompiledOrdering(ordering, defaults: defaults)
  }
}

final class AggregateProgram: Program {
  static let kind: StaticString = "nano_aggregates"
  let aggregation: CompiledAggregation
  init(_ query: AggregateQuery, _ defaults: FieldDefaults?, spills: Bool) {
    aggregation = CompiledAggregation(
      query, defaults: defaults, makeSpill: TemporarySorter.maker(spills))
  }
}

final class DistinctProgram: Program {
  static let kind: StaticString = "nano_distinct"
  let values: DistinctValues
  init(_ field: FieldPath, _ defaults: FieldDefaults?, spills: Bool) {
    values = DistinctValues(
      field, defaults: defaults, makeSpill: TemporarySorter.maker(spills))
  }
}
