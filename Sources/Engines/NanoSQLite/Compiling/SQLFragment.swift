// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import NanoSQL

/// A fragment of SQL with the values of its parameters, in order.
///
/// Values are always passed as parameters and never become part of the text. Only identifiers and field expressions
/// are written into it, quoted.
struct SQLFragment: SQLExpression, Sendable, Hashable {
  private(set) var text: String
  private(set) var bindings: [SQLBinding]

  init(_ text: String = "", _ bindings: [SQLBinding] = []) {
    self.text = text
    self.bindings = bindings
  }

  static func + (a: SQLFragment, b: SQLFragment) -> SQLFragment {
    SQLFragment(a.text + b.text, a.bindings + b.bindings)
  }

  /// Appends a fragment with its parameters.
  mutating func append(_ other: SQLFragment) {
    text += other.text
    bindings += other.bindings
  }

  /// Joins fragments with a separator.
  static func joined(_ parts: [SQLFragment], by separator: String) -> SQLFragment {
    SQLFragment(
      parts.map(\.text).joined(separator: separator), parts.flatMap(\.bindings))
  }

  static func constant(_ truth: Bool) -> SQLFragment { truth ? "1" : "0" }

  var parameterCount: Int { bindings.count }

  static func parameter(_ binding: SQLBinding) -> SQLFragment { SQLFragment("?", [binding]) }
}

extension SQLFragment: ExpressibleByStringInterpolation {
  init(stringLiteral text: String) { self.init(text) }
}

/// A parameter value of a statement.
enum SQLBinding: Sendable, Hashable {
  case null
  case int(Int64)
  case double(Double)
  case text(String)
  case data(Data)
  /// The 16 bytes of a UUID.
  case uuid(UInt64, UInt64)
  /// The rest of a condition, checked on each document.
  case condition(Condition, FieldDefaults?)
  /// An ordering whose sort keys are computed, because the stored text does not sort correctly.
  case ordering(Ordering, FieldDefaults?)
  case aggregates(AggregateQuery, FieldDefaults?)
  case distinct(FieldPath, FieldDefaults?)
}

extension SQLFragment {
  /// Statements whose names differ only in Unicode normalization are distinct.
  static func == (a: SQLFragment, b: SQLFragment) -> Bool {
    a.text.hasSameBytes(as: b.text) && a.bindings == b.bindings
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ExactName(text))
    hasher.combine(bindings)
  }
}

extension SQLBinding {
  static func == (a: SQLBinding, b: SQLBinding) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.int(let a), .int(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
    case (.data(let a), .data(let b)): a == b
    case (.uuid(let a, let low), .uuid(let b, let other)): a == b && low == other
    case (.condition(let a, let defaults), .condition(let b, let others)):
      a == b && defaults == others
    case (.ordering(let a, let defaults), .ordering(let b, let others)):
      a == b && defaults == others
    case (.aggregates(let a, let defaults), .aggregates(let b, let others)):
      a == b && defaults == others
    case (.distinct(let a, let defaults), .distinct(let b, let others)):
      a == b && defaults == others
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .null: break
    case .int(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .text(let value): hasher.combine(ExactName(value))
    case .data(let value): hasher.combine(value)
    case .uuid(let high, let low):
      hasher.combine(high)
      hasher.combine(low)
    case .condition(let condition, _): hasher.combine(condition)
    case .ordering(let ordering, _): hasher.combine(ordering)
    case .aggregates(let query, _): hasher.combine(query)
    case .distinct(let field, _): hasher.combine(field)
    }
  }
}
