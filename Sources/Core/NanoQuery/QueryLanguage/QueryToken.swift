// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// A token of query text and its position.
struct QueryToken {
  enum Kind {
    case keyword(Keyword)
    /// Any other word, in lowercase.
    case word(String)
    case field(Name)
    /// A decimal integer up to 2^63. The maximum is an integer only after a minus sign.
    case integer(UInt64)
    case hexadecimal(Int64)
    case number(Double)
    case text(String)
    case blob(Data)
    case parameter(Parameter)
    case symbol(Symbol)
    case end
    /// The lexer failed here. Thrown only when the parser reaches this token, so that the first of two
    /// errors is reported.
    case failure(StoreError)
  }

  var kind: Kind
  var range: Range<Int>

  /// A reference in brackets.
  enum Name {
    case path(FieldPath)
    case attribute(Attribute)
    /// `[@]` or `[@.path]`, valid only inside `ELEMENT` and `LEAF`.
    case element(FieldPath)
  }

  enum Keyword: String {
    case and, or, not, `is`, null, `true`, `false`, `in`, between, like, glob, regexp, match
    case escape, isnull, notnull, distinct, from, `case`, when, then, `else`, end, cast, `as`
    case exists, element, leaf, collate, select, `where`, order, by, asc, desc, nulls, first, last
    case limit, offset
  }

  enum Symbol: String {
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case comma = ","
    case semicolon = ";"
    case plus = "+"
    case minus = "-"
    case star = "*"
    case slash = "/"
    case percent = "%"
    case concatenate = "||"
    case ampersand = "&"
    case pipe = "|"
    case tilde = "~"
    case shiftLeft = "<<"
    case shiftRight = ">>"
    case equal = "="
    case doubleEqual = "=="
    case notEqual = "!="
    case lessGreater = "<>"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case arrow = "->"
    case doubleArrow = "->>"
    /// Separates the stages of a pipeline.
    case stage = "|>"
  }
}

extension QueryToken.Symbol {
  /// The comparison that the symbol denotes.
  var comparison: Comparison? {
    switch self {
    case .equal, .doubleEqual: .equal
    case .notEqual, .lessGreater: .notEqual
    default: Comparison(rawValue: rawValue)
    }
  }
  var arithmetic: Arithmetic? { Arithmetic(rawValue: rawValue) }
}

/// Operator precedence: SQLite's table, from loosest to tightest.
enum Precedence: Int, Comparable {
  case none, or, and, not, equality, comparison, bits, sum, product, concatenation, unary, primary

  static func < (a: Precedence, b: Precedence) -> Bool { a.rawValue < b.rawValue }
}

extension Comparison {
  var precedence: Precedence {
    switch self {
    case .equal, .notEqual: .equality
    case .less, .lessOrEqual, .greater, .greaterOrEqual: .comparison
    }
  }
}

extension Arithmetic {
  var precedence: Precedence {
    switch self {
    case .add, .subtract: .sum
    case .multiply, .divide, .remainder: .product
    case .concatenate: .concatenation
    case .bitAnd, .bitOr, .shiftLeft, .shiftRight: .bits
    }
  }
}

extension Attribute {
  /// The attribute's name in brackets.
  var textName: String { "__\(rawValue.lowercased())__" }

  init?(textName: String) {
    guard let found = Self.allCases.first(where: { $0.textName == textName }) else { return nil }
    self = found
  }
}

extension TextMatch {
  /// The name of the corresponding function in query text, or `nil` for matches written as operators.
  var functionName: String? {
    switch self {
    case .beginsWith: "begins_with"
    case .contains: "contains"
    case .endsWith: "ends_with"
    case .insensitiveEqualTo: "iequals"
    case .insensitiveBeginsWith: "ibegins_with"
    case .insensitiveContains: "icontains"
    case .insensitiveEndsWith: "iends_with"
    case .like, .glob, .regexp: nil
    }
  }

  init?(functionName: String) {
    guard let found = Self.allCases.first(where: { $0.functionName == functionName }) else {
      return nil
    }
    self = found
  }
}
