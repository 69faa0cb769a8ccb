// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Compiles conditions to lookups in the wildcard index, if a collection has one. The results are always checked
/// against the documents.
struct WildcardIndexCompiler {
  let index: WildcardIndexMetadata
  let ordersText: Bool

  /// A lookup in the wildcard index.
  struct Translation {
    var sql: SQLFragment
    /// Whether the lookup compares only with single values.
    var isEquality: Bool
  }

  /// Returns a lookup for a condition; `nil` if the index does not help.
  func translate(_ condition: Condition) -> Translation? {
    if case .leaf(let inner) = condition { return leaf(inner) }
    guard let path = Self.singleField(condition),
      let test = WildcardIndexCondition(condition, of: .field(path), ordersText: ordersText)
    else { return nil }
    return translate([test: index.attributes(path)])
  }

  private static func singleField(_ condition: Condition) -> FieldPath? {
    switch condition {
    case .comparison(.field(let path), _, .value), .comparison(.value, _, .field(let path)),
      .between(.field(let path), _, _), .membership(.field(let path), _),
      .text(.field(let path), _, _):
      path
    default: nil
    }
  }

  /// Compiles a condition on the scalar values of any field, by determining what it means at each path.
  private func leaf(_ condition: Condition) -> Translation? {
    var attributesByTest: [WildcardIndexCondition?: [Int32]] = [:]
    let untested: WildcardIndexCondition? = nil
    let all = index.all()
    for attribute in all {
      switch LeafBound(condition, at: attribute.path, ordersText: ordersText) {
      case .nothing: continue
      case .everything: attributesByTest[untested, default: []].append(attribute.number)
      case .tests(let tests):
        for test in tests { attributesByTest[test, default: []].append(attribute.number) }
      }
    }
    // This would read the entire table.
    if let numbers = attributesByTest[untested], numbers.count == all.count { return nil }
    return translate(attributesByTest)
  }

  private func translate(_ attributesByTest: [WildcardIndexCondition?: [Int32]]) -> Translation? {
    let attributesByTest = attributesByTest.filter { !$0.value.isEmpty }
      .sorted { ($0.value[0], $0.key?.sql.text ?? "") < ($1.value[0], $1.key?.sql.text ?? "") }
    guard
      attributesByTest.count <= Self.maximumSelects,
      attributesByTest.reduce(0, { $0 + ($1.key?.sql.bindings.count ?? 0) })
        <= Self.maximumBindings,
      attributesByTest.reduce(0, { $0 + $1.value.count }) <= Self.maximumAttributes
    else { return nil }
    let selects = attributesByTest.map { test, attributes in
      let numbers = attributes.map { "\($0)" }.joined(separator: ", ")
      let select = SQLFragment(
        "SELECT id FROM \(SQLName.quoted(index.table)) WHERE attribute "
          + (attributes.count == 1 ? "= \(numbers)" : "IN (\(numbers))"))
      return test.map { select + " AND " + $0.sql } ?? select
    }
    let isEquality = attributesByTest.allSatisfy { $0.key?.isEquality == true }
    if selects.isEmpty { return Translation(sql: "0", isEquality: true) }
    return Translation(
      sql: "id IN (" + SQLFragment.joined(selects, by: " UNION ALL ") + ")",
      isEquality: isEquality)
  }

  /// SQLite's limit is 32,766 parameters; half of that leaves room for other conditions.
  private static let maximumBindings = 16_383
  /// SQLite's limit for the parts of a `UNION ALL`.
  private static let maximumSelects = 500
  /// The maximum number of paths listed in one query. Arbitrary: beyond it, a scan hardly takes longer than
  /// parsing the statement.
  private static let maximumAttributes = 4_000
}

/// A superset of the scalar values at one path that satisfy a condition.
enum LeafBound {
  case nothing
  case everything
  /// The values that match at least one of the tests.
  case tests([WildcardIndexCondition])

  /// - Parameter path: The path of the values; `nil` if it is unknown.
  init(_ condition: Condition, at path: String?, ordersText: Bool) {
    func bound(_ part: Condition) -> LeafBound { LeafBound(part, at: path, ordersText: ordersText) }
    switch condition {
    case .all(let parts): self = parts.map(bound).reduce(.everything) { $0.and($1) }
    case .any(let parts): self = parts.map(bound).reduce(.nothing) { $0.or($1) }
    case .isNull(.field(.element)): self = .tests([.null])
    default:
      if let test = WildcardIndexCondition(condition, of: .field(.element), ordersText: ordersText)
      {
        self = .tests([test])
      } else if let truth = Self.constant(condition, at: path) {
        self = truth ? .everything : .nothing
      } else {
        self = .everything
      }
    }
  }

  /// Returns the truth value of a condition that depends only on the path; `nil` if it depends on more.
  private static func constant(_ condition: Condition, at path: String?) -> Bool? {
    guard condition.fields.isEmpty, !condition.hasLeafConditions else { return nil }
    var isKnown = true
    _ = condition.replacingExpressions { expression in
      if case .attribute(let attribute) = expression, attribute != .leafPath || path == nil {
        isKnown = false
      }
      return nil
    }
    guard isKnown else { return nil }
    return try? Evaluator(PathSubject(path: path ?? "")).holds(condition)
  }

  private func and(_ other: LeafBound) -> LeafBound {
    switch (self, other) {
    case (.nothing, _), (_, .nothing): return .nothing
    case (.everything, let bound), (let bound, .everything): return bound
    case (.tests(let a), .tests(let b)):
      if a.count == 1, b.count == 1,
        a[0].sql.parameterCount + b[0].sql.parameterCount <= Self.maximumCombined
      {
        return .tests([a[0].and(b[0])])
      }
      return .tests(b.allSatisfy(\.isEquality) ? b : a)
    }
  }

  /// The most parameters of tests that are combined. Each test adds some levels to the expression, of which SQLite
  /// permits 1,000. Arbitrary.
  private static let maximumCombined = 100

  private func or(_ other: LeafBound) -> LeafBound {
    switch (self, other) {
    case (.everything, _), (_, .everything): return .everything
    case (.nothing, let bound), (let bound, .nothing): return bound
    case (.tests(let a), .tests(let b)): return .tests(a + b)
    }
  }
}

/// A scalar value of which only the path is known.
private struct PathSubject: Subject {
  let path: String
  func values(at path: FieldPath) -> [DocumentValue] { [] }
  func exists(at path: FieldPath) -> Bool { false }
  func attribute(_ attribute: Attribute) -> DocumentValue { .string(path) }
  func leaves() -> [Leaf] { [] }
}
