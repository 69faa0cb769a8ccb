// SPDX-License-Identifier: MIT

package import NanoDocument

/// Stages that transform the results of a query, row by row or in groups.
///
/// A row is an object, initially a document. Each stage receives the rows of the previous one, in order.
package struct Pipeline: Sendable, Hashable {
  /// The stages, in the order of execution.
  package var stages: [Stage]

  package init(_ stages: [Stage] = []) { self.stages = stages }

  package indirect enum Stage: Sendable, Hashable {
    /// Keeps the rows that satisfy a condition.
    case filter(Condition)
    /// Replaces each row by one row for each element of an array.
    case unwind(Unwind)
    /// Adds fields, replacing those of the same name.
    case extend([NamedExpression])
    /// Replaces the fields.
    case select([NamedExpression])
    /// Replaces the rows by one row for each group.
    case group(Grouping)
    /// Sorts the rows; rows that compare equal keep their order.
    case sort([Ordering])
    /// Skips rows, and keeps at most `limit`; of each group of rows with equal values if there are
    /// expressions.
    case limit(Int, offset: Int, per: [QueryExpression])
    /// Appends the rows of another query.
    case union(Source)
    /// Replaces the rows by one row, with an array of rows for each pipeline.
    case facets([Facet])
  }

  /// An array that is replaced by its elements.
  package struct Unwind: Sendable, Hashable {
    package var path: FieldPath
    /// The field that receives the element, or `nil` to replace the array.
    package var name: String?
    /// The field that receives the position of the element, if any.
    package var index: String?
    /// Whether a row without elements is kept.
    package var keepsEmpty: Bool

    package init(
      _ path: FieldPath, name: String? = nil, index: String? = nil, keepsEmpty: Bool = false
    ) {
      self.path = path
      self.name = name
      self.index = index
      self.keepsEmpty = keepsEmpty
    }
  }

  /// An expression and the name of its field in the row.
  package struct NamedExpression: Sendable, Hashable {
    package var name: String
    package var expression: QueryExpression

    package init(_ name: String, _ expression: QueryExpression) {
      self.name = name
      self.expression = expression
    }

    /// Names are compared by their UTF-8 bytes.
    package static func == (a: NamedExpression, b: NamedExpression) -> Bool {
      a.name.hasSameBytes(as: b.name) && a.expression == b.expression
    }
    package func hash(into hasher: inout Hasher) {
      hasher.combine(ExactName(name))
      hasher.combine(expression)
    }
  }

  /// An aggregate and the name of its field in the row.
  package struct NamedAggregate: Sendable, Hashable {
    package var name: String
    package var aggregate: AggregateExpression

    package init(_ name: String, _ aggregate: AggregateExpression) {
      self.name = name
      self.aggregate = aggregate
    }

    /// Names are compared by their UTF-8 bytes.
    package static func == (a: NamedAggregate, b: NamedAggregate) -> Bool {
      a.name.hasSameBytes(as: b.name) && a.aggregate == b.aggregate
    }
    package func hash(into hasher: inout Hasher) {
      hasher.combine(ExactName(name))
      hasher.combine(aggregate)
    }
  }

  /// The groups of rows, and what is computed for each.
  package struct Grouping: Sendable, Hashable {
    package var keys: Keys
    package var aggregates: [NamedAggregate]

    package enum Keys: Sendable, Hashable {
      /// One group for each combination of values; without expressions, one group of all rows.
      case values([NamedExpression])
      /// Groups of adjacent values.
      case buckets(Buckets)
    }

    package init(_ keys: Keys, _ aggregates: [NamedAggregate]) {
      self.keys = keys
      self.aggregates = aggregates
    }
  }

  /// Groups of adjacent values whose bounds are computed from the values.
  package struct Buckets: Sendable, Hashable {
    package var value: NamedExpression
    package var count: Int
    /// Whether the intervals have equal widths, rather than equal numbers of values.
    package var equalWidths: Bool

    package init(_ value: NamedExpression, count: Int, equalWidths: Bool = false) {
      self.value = value
      self.count = count
      self.equalWidths = equalWidths
    }
  }

  /// A query over another collection, and its own stages.
  package struct Source: Sendable, Hashable {
    package var collection: String
    package var query: Query
    package var stages: [Stage]

    package init(_ collection: String, _ query: Query, _ stages: [Stage] = []) {
      self.collection = collection
      self.query = query
      self.stages = stages
    }
  }

  /// A pipeline over the same rows as others.
  package struct Facet: Sendable, Hashable {
    package var name: String
    package var stages: [Stage]

    package init(_ name: String, _ stages: [Stage]) {
      self.name = name
      self.stages = stages
    }
  }
}

/// How values are divided into buckets.
public enum BucketBounds: Sendable, Hashable {
  /// Every bucket has about the same number of values. Equal values are in one bucket.
  case equalCounts
  /// Every bucket spans an interval of the same width, between the smallest and the largest number or
  /// date.
  case equalWidths
}
