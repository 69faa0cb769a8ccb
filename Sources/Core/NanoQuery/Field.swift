// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// A field of a document, to write conditions with.
///
/// ```swift
/// Field("LastName") == "Doe"
/// Field("friends.age") > 30                       // some friend is over 30
/// Field("friends").element { $0("age") > 30 && $0("name") == "Ada" }  // the same friend
/// Field("born") == nil                            // null or missing
/// ```
public struct Field: Sendable, Hashable {
  /// Where the field stands.
  public let path: FieldPath
  public init(_ path: FieldPath) { self.path = path }
  public init(_ path: String) { self.path = FieldPath(path) }

  var expression: QueryExpression { .field(path) }

  /// One of the eleven matches; greater and less hold within a type only.
  public func matches(_ match: Match, _ value: some DocumentValueConvertible) -> Condition {
    .match(expression, match, value.documentValue)
  }
  /// The text begins with this one, literally.
  public func hasPrefix(_ text: String) -> Condition { matches(.beginsWith, text) }
  /// The text contains this one, literally.
  public func contains(_ text: String) -> Condition { matches(.contains, text) }
  /// The text ends with this one, literally.
  public func hasSuffix(_ text: String) -> Condition { matches(.endsWith, text) }

  /// Some value equals some value of the list.
  public func isIn(_ values: [some DocumentValueConvertible]) -> Condition {
    .membership(expression, values.map { .value($0.documentValue) })
  }
  /// Some value equals some value of the list.
  public func isIn(_ values: DocumentValue...) -> Condition { isIn(values) }

  /// Some value is of the type of the bounds and stands between them, both included.
  public func isBetween(
    _ low: some DocumentValueConvertible, and high: some DocumentValueConvertible
  ) -> Condition {
    .between(expression, .value(low.documentValue), .value(high.documentValue))
  }

  /// The field is there, even if it is null.
  public var exists: Condition { .exists(path) }
  /// The field is null or missing.
  public var isNull: Condition { .isNull(expression) }

  /// The text matches a pattern with `%` and `_`; see ``TextMatch/like``.
  public func like(_ pattern: String) -> Condition {
    .text(expression, .like, .value(.string(pattern)))
  }
  /// The text matches a pattern with `*`, `?` and `[…]`; see ``TextMatch/glob``.
  public func glob(_ pattern: String) -> Condition {
    .text(expression, .glob, .value(.string(pattern)))
  }
  /// A regular expression is found in the text.
  public func regexp(_ pattern: String) -> Condition {
    .text(expression, .regexp, .value(.string(pattern)))
  }

  /// One element of the array satisfies the whole condition. Paths in it start at the element;
  /// ``Element/value`` is the element itself.
  public func element(_ condition: (Element) -> Condition) -> Condition {
    .element(path, condition(Element()))
  }

  /// Makes fields that start at an element of an array.
  public struct Element: Sendable {
    /// A field of the element.
    public func callAsFunction(_ path: String) -> Field { Field(path) }
    /// The element itself, for arrays of plain values.
    public var value: Field { Field(FieldPath.element) }
  }
}

extension FieldPath {
  /// Inside ``Condition/element(_:_:)``: the element itself. No document can have such a name.
  package static let element = FieldPath(components: ["\u{0}"])
  /// Whether this is the path that stands for the element itself.
  package var isElement: Bool { components == ["\u{0}"] }
}

extension Condition {
  static func match(_ operand: QueryExpression, _ match: Match, _ value: DocumentValue) -> Condition
  {
    func text(_ match: TextMatch) -> Condition { .text(operand, match, .value(value)) }
    switch match {
    case .equalTo: return equality(operand, value)
    case .notEqualTo: return inequality(operand, value)
    case .greaterThan: return .comparison(operand, .greater, .value(value))
    case .lessThan: return .comparison(operand, .less, .value(value))
    case .beginsWith: return text(.beginsWith)
    case .contains: return text(.contains)
    case .endsWith: return text(.endsWith)
    case .insensitiveEqualTo: return text(.insensitiveEqualTo)
    case .insensitiveBeginsWith: return text(.insensitiveBeginsWith)
    case .insensitiveContains: return text(.insensitiveContains)
    case .insensitiveEndsWith: return text(.insensitiveEndsWith)
    }
  }

  /// Equality with null asks whether there is no value.
  static func equality(_ operand: QueryExpression, _ value: DocumentValue) -> Condition {
    value.isNull ? .isNull(operand) : .comparison(operand, .equal, .value(value))
  }

  static func inequality(_ operand: QueryExpression, _ value: DocumentValue) -> Condition {
    value.isNull ? .not(.isNull(operand)) : .comparison(operand, .notEqual, .value(value))
  }

  /// The key of the document, matched as text.
  public static func key(_ match: Match, _ key: String) -> Condition {
    .match(.attribute(.key), match, .string(key))
  }
  /// The document has one of these keys.
  public static func key(in keys: some Sequence<String>) -> Condition {
    .membership(.attribute(.key), keys.map { .value(.string($0)) })
  }
  /// The document has one of these row ids.
  public static func rowID(in ids: some Sequence<Int64>) -> Condition {
    .membership(.attribute(.rowID), ids.map { .value(.int($0)) })
  }
  /// The document was stored with this class name.
  public static func type(_ name: String) -> Condition {
    .comparison(.attribute(.type), .equal, .value(.string(name)))
  }
  /// The document was added before, or at or after, a moment.
  public static func added(before moment: Date) -> Condition {
    .comparison(.attribute(.added), .less, .value(.date(moment)))
  }
  /// The document was added at or after a moment.
  public static func added(since moment: Date) -> Condition {
    .comparison(.attribute(.added), .greaterOrEqual, .value(.date(moment)))
  }
}

// Disfavoured, so that a literal is a `DocumentValue`.
@_disfavoredOverload
public func == (field: Field, value: some DocumentValueConvertible) -> Condition {
  .equality(field.expression, value.documentValue)
}
/// Some value equals this one. With nil or null: the field is null or missing.
public func == (field: Field, value: DocumentValue) -> Condition {
  .equality(field.expression, value)
}
/// Some value of the one field equals some value of the other.
public func == (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .equal, right.expression)
}
// Disfavoured, so that a literal is a `DocumentValue`.
@_disfavoredOverload
public func != (field: Field, value: some DocumentValueConvertible) -> Condition {
  .inequality(field.expression, value.documentValue)
}
/// Some value of the same rank is another one. With nil or null: the complement of `==`.
public func != (field: Field, value: DocumentValue) -> Condition {
  .inequality(field.expression, value)
}
/// Some value of the one field is of the same rank as one of the other and differs from it.
public func != (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .notEqual, right.expression)
}
/// Some value is less than this one and of its rank.
public func < (field: Field, value: some DocumentValueConvertible) -> Condition {
  .comparison(field.expression, .less, .value(value.documentValue))
}
/// Some value of the left field is less than one of the right field.
public func < (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .less, right.expression)
}
/// Some value is at most this one and of its rank.
public func <= (field: Field, value: some DocumentValueConvertible) -> Condition {
  .comparison(field.expression, .lessOrEqual, .value(value.documentValue))
}
/// Some value of the left field is at most one of the right field.
public func <= (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .lessOrEqual, right.expression)
}
/// Some value is greater than this one and of its rank.
public func > (field: Field, value: some DocumentValueConvertible) -> Condition {
  .comparison(field.expression, .greater, .value(value.documentValue))
}
/// Some value of the left field is greater than one of the right field.
public func > (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .greater, right.expression)
}
/// Some value is at least this one and of its rank.
public func >= (field: Field, value: some DocumentValueConvertible) -> Condition {
  .comparison(field.expression, .greaterOrEqual, .value(value.documentValue))
}
/// Some value of the left field is at least one of the right field.
public func >= (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .greaterOrEqual, right.expression)
}
/// Both hold.
public func && (left: Condition, right: Condition) -> Condition {
  if case .all(let parts) = left { return .all(parts + [right]) }
  return .all([left, right])
}
/// At least one holds.
public func || (left: Condition, right: Condition) -> Condition {
  if case .any(let parts) = left { return .any(parts + [right]) }
  return .any([left, right])
}
/// The condition does not hold: its exact complement.
public prefix func ! (condition: Condition) -> Condition { .not(condition) }
