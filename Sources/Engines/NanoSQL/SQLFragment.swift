// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument
public import NanoQuery

/// A piece of SQL with the values of its parameters, in order.
///
/// Values never become part of the text: they are appended as parameters, and only identifiers and
/// field expressions, which are quoted here, are written out.
public struct SQLFragment: Sendable, Hashable {
  public private(set) var text: String
  public private(set) var bindings: [SQLBinding]

  public init(_ text: String = "", _ bindings: [SQLBinding] = []) {
    self.text = text
    self.bindings = bindings
  }

  public static func + (a: SQLFragment, b: SQLFragment) -> SQLFragment {
    SQLFragment(a.text + b.text, a.bindings + b.bindings)
  }

  /// Appends another piece with its parameters.
  public mutating func append(_ other: SQLFragment) {
    text += other.text
    bindings += other.bindings
  }

  /// The pieces with a separator between them.
  public static func joined(_ parts: [SQLFragment], by separator: String) -> SQLFragment {
    SQLFragment(
      parts.map(\.text).joined(separator: separator), parts.flatMap(\.bindings))
  }

  /// `(a) AND (b)`; nil for no parts.
  static func all(_ parts: [SQLFragment]) -> SQLFragment? { logic(parts, " AND ") }
  static func any(_ parts: [SQLFragment]) -> SQLFragment? { logic(parts, " OR ") }

  private static func logic(_ parts: [SQLFragment], _ word: String) -> SQLFragment? {
    if parts.count <= 1 { return parts.first }
    return joined(parts.map { "(" + $0 + ")" }, by: word)
  }

  static func parameter(_ binding: SQLBinding) -> SQLFragment { SQLFragment("?", [binding]) }
}

extension SQLFragment: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  public init(stringLiteral text: String) { self.init(text) }
}

/// A value for a parameter of a statement.
public enum SQLBinding: Sendable, Hashable {
  case null
  case int(Int64)
  case double(Double)
  case text(String)
  case data(Data)
  /// The 16 bytes of a UUID.
  case uuid(UInt64, UInt64)
  /// What is left of a condition, checked on each document.
  case condition(Condition, FieldDefaults?)
  /// What a document is sorted by where the stored text does not sort.
  case ordering(Ordering, FieldDefaults?)
  case aggregates(AggregateQuery, FieldDefaults?)
  case distinct(FieldPath, FieldDefaults?)
}

extension SQLFragment {
  /// SQL that names another Unicode form is another statement.
  public static func == (a: SQLFragment, b: SQLFragment) -> Bool {
    a.text.isSame(as: b.text) && a.bindings == b.bindings
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ExactName(text))
    hasher.combine(bindings)
  }
}

extension SQLBinding {
  public static func == (a: SQLBinding, b: SQLBinding) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.int(let a), .int(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.text(let a), .text(let b)): a.isSame(as: b)
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

  public func hash(into hasher: inout Hasher) {
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

/// How names are written in SQL.
///
/// By scalars: a quote with a combining mark behind it is one character for String and another than
/// the quote, but the quote that it is for SQLite.
public enum SQLName {
  /// In double quotes, doubled inside.
  public static func quoted(_ name: String) -> String {
    quoted(name, "\"")
  }

  /// As text in single quotes, doubled inside.
  public static func literal(_ text: String) -> String {
    quoted(text, "'")
  }
  private static func quoted(_ text: String, _ quote: Unicode.Scalar) -> String {
    var quoted = String.UnicodeScalarView()
    quoted.append(quote)
    for scalar in text.unicodeScalars {
      quoted.append(scalar)
      if scalar == quote { quoted.append(scalar) }
    }
    quoted.append(quote)
    return String(quoted)
  }
}
