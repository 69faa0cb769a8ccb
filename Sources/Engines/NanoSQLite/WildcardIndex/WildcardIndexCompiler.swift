// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Answers conditions from the table of all leaves, where a collection has one. What it finds is
/// always checked on the documents.
struct WildcardIndexCompiler {
  let index: WildcardIndexMetadata
  let ordersText: Bool

  struct Answer {
    var sql: SQLFragment
    /// Whether only single values are looked for.
    var isEquality: Bool
  }

  /// Nil if the table is of no help.
  func answer(_ condition: Condition) -> Answer? {
    if case .leaf(let inner) = condition { return leaf(inner) }
    guard let path = Self.singleField(condition),
      let test = WildcardIndexCondition(condition, of: .field(path), ordersText: ordersText)
    else { return nil }
    return answer([test: index.attributes(path)])
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

  /// A leaf wherever it stands: each path is asked what the condition means there.
  private func leaf(_ condition: Condition) -> Answer? {
    var places: [WildcardIndexCondition?: [Int32]] = [:]
    let untested: WildcardIndexCondition? = nil
    let all = index.all()
    for attribute in all {
      switch LeafBound(condition, at: attribute.path, ordersText: ordersText) {
      case .nothing: continue
      case .everything: places[untested, default: []].append(attribute.number)
      case .tests(let tests):
        for test in tests { places[test, default: []].append(attribute.number) }
      }
    }
    // The table would be read from end to end.
    if let numbers = places[untested], numbers.count == all.count { return nil }
    return answer(places)
  }

  private func answer(_ places: [WildcardIndexCondition?: [Int32]]) -> Answer? {
    let places = places.filter { !$0.value.isEmpty }
      .sorted { ($0.value[0], $0.key?.sql.text ?? "") < ($1.value[0], $1.key?.sql.text ?? "") }
    guard places.reduce(0, { $0 + ($1.key?.sql.bindings.count ?? 0) }) <= Self.mostBindings,
      places.reduce(0, { $0 + $1.value.count }) <= Self.mostAttributes
    else { return nil }
    let selects = places.map { test, attributes in
      let numbers = attributes.map { "\($0)" }.joined(separator: ", ")
      let select = SQLFragment(
        "SELECT id FROM \(SQLName.quoted(index.table)) WHERE attribute "
          + (attributes.count == 1 ? "= \(numbers)" : "IN (\(numbers))"))
      return test.map { select + " AND " + $0.sql } ?? select
    }
    let isEquality = places.allSatisfy { $0.key?.isEquality == true }
    if selects.isEmpty { return Answer(sql: "0", isEquality: true) }
    return Answer(
      sql: "id IN (" + SQLFragment.joined(selects, by: " UNION ALL ") + ")",
      isEquality: isEquality)
  }

  /// SQLite stops at 32,766 parameters; half of that leaves room for other conditions.
  private static let mostBindings = 16_383
  /// Paths that are listed in one query. Arbitrary: beyond it a scan is hardly slower than the
  /// statement's text is read.
  private static let mostAttributes = 4_000
}

/// What a condition on a leaf asks of leaves at one path: superset of what fulfils it.
enum LeafBound {
  case nothing
  case everything
  /// Leaves that one of the tests finds.
  case tests([WildcardIndexCondition])

  /// - Parameter path: Where the leaf stands, nil if that is not known.
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

  /// The truth of a condition that depends on the path alone; nil if it depends on more.
  private static func constant(_ condition: Condition, at path: String?) -> Bool? {
    guard condition.fields.isEmpty, !condition.asksForLeaves else { return nil }
    var isKnown = true
    _ = condition.replacingLeaves { leaf in
      if case .attribute(let attribute) = leaf, attribute != .leafPath || path == nil {
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
      if a.count == 1, b.count == 1 { return .tests([a[0].and(b[0])]) }
      return .tests(b.allSatisfy(\.isEquality) ? b : a)
    }
  }

  private func or(_ other: LeafBound) -> LeafBound {
    switch (self, other) {
    case (.everything, _), (_, .everything): return .everything
    case (.nothing, let bound), (let bound, .nothing): return bound
    case (.tests(let a), .tests(let b)): return .tests(a + b)
    }
  }
}

/// A leaf of which only the path is known.
private struct PathSubject: Subject {
  let path: String
  func values(at path: FieldPath) -> [DocumentValue] { [] }
  func exists(at path: FieldPath) -> Bool { false }
  func attribute(_ attribute: Attribute) -> DocumentValue { .string(path) }
  func leaves() -> [Leaf] { [] }
}
