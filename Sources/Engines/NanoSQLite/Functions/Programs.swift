// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// An object of ours that a statement's parameter points to and one of our functions takes out.
///
/// A function can only give SQLite a text as its error, so what it met is kept here and thrown when
/// the statement fails.
class Program {
  var failure: StoreError?
  /// Whether the database keeps its texts in UTF-8, so that they are read where they stand.
  var isUTF8 = false
}

final class MatchProgram: Program {
  static let kind: StaticString = "nano_condition"
  let condition: ConditionMatcher
  /// Documents that fulfilled it.
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
