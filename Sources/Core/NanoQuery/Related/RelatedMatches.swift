// SPDX-License-Identifier: MIT

package import NanoDocument

/// The values by which documents of another collection are found, for a condition on related documents.
///
/// Values are kept as sort keys: equal values have equal keys (``SortKey``).
package final class RelatedMatches: Sendable {
  /// The row IDs of the documents with each value, or no row IDs if only the existence matters.
  private let rows: [[UInt8]: [Int64]]
  /// The distinct values; `nil` if they are too many for a list in a statement.
  package let values: [DocumentValue]?

  fileprivate init(_ rows: [[UInt8]: [Int64]], _ values: [DocumentValue]?) {
    self.rows = rows
    self.values = values
  }

  /// Creates the set of some values, to find the documents that have one of them.
  package convenience init(of values: [DocumentValue]) {
    var rows: [[UInt8]: [Int64]] = [:]
    for value in values where value.canRelate { rows[SortKey.bytes(value)] = [] }
    self.init(rows, values.count <= RelatedCollector.longestList ? values.filter(\.canRelate) : nil)
  }

  /// The number of distinct values.
  package var distinctCount: Int { rows.count }

  func contains(anyOf values: [DocumentValue]) -> Bool {
    for value in values where value.canRelate {
      if rows[SortKey.bytes(value)] != nil { return true }
    }
    return false
  }

  /// Returns the number of documents that have one of the values.
  func count(of values: [DocumentValue]) -> Int {
    let keys = Set(values.lazy.filter(\.canRelate).map { SortKey.bytes($0) })
    guard keys.count > 1 else { return keys.first.flatMap { rows[$0]?.count } ?? 0 }
    var found: Set<Int64> = []
    for key in keys { found.formUnion(rows[key] ?? []) }
    return found.count
  }
}

/// Collects the values of related documents.
///
/// Confined to one thread at a time.
package final class RelatedCollector {
  private let remote: QueryExpression
  private let keepsRows: Bool
  private let values: ExpressionValues
  private var rows: [[UInt8]: [Int64]] = [:]
  private var list: [DocumentValue]? = []
  private var count = 0

  /// The maximum number of values in a list: what a statement of SQLite can contain; see `ConditionCompiler`.
  static let longestList = 16_383
  /// The maximum number of values in memory, each about a hundred bytes. Arbitrary.
  package static let maximumValues = 1_000_000

  /// - Parameter defaults: The values of fields that a related document does not have.
  package init(_ related: RelatedCondition, defaults: FieldDefaults?) {
    remote = related.remote
    keepsRows = related.test == .count
    values = ExpressionValues(related.remote, defaults: defaults)
  }

  /// Adds a related document.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``; ``StoreError/Code/tooComplex`` also for too many values.
  package func add(
    _ body: UnsafeRawBufferPointer, rowID: Int64, _ attributes: (Attribute) -> DocumentValue
  ) throws(StoreError) {
    for value in try values.values(body, attributes) where value.canRelate {
      let key = SortKey.bytes(value)
      guard rows[key] == nil || keepsRows && rows[key]?.last != rowID else { continue }
      count += 1
      guard count <= Self.maximumValues else { throw Self.tooMany }
      if rows[key] == nil {
        if (list?.count ?? 0) < Self.longestList { list?.append(value) } else { list = nil }
      }
      rows[key, default: []] += keepsRows ? [rowID] : []
    }
  }

  private static let tooMany = StoreError(
    .tooComplex, "A condition on related documents needs too many of their values in memory",
    [
      .limit: "\(maximumValues) values",
      .hint:
        "narrow the condition, or store values of one type in both fields, so that the database joins",
    ])

  package var matches: RelatedMatches { RelatedMatches(rows, list) }
}

extension DocumentValue {
  /// Whether the value can relate documents: null equals nothing, and arrays and objects relate by what they contain.
  package var canRelate: Bool { !isNull && !ValueOrder.rank(self).isContainer }
}
