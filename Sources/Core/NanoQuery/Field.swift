// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// A field of a document, for writing conditions.
///
/// ```swift
/// Field("LastName") == "Doe"
/// Field("friends.age") > 30                       // some friend is over 30
/// Field("friends").element { $0("age") > 30 && $0("name") == "Ada" }  // the same friend
/// Field("born") == nil                            // null or missing
/// ```
public struct Field: Sendable, Hashable {
  /// The path of the field.
  public let path: FieldPath
  /// Creates a field with a path.
  public init(_ path: FieldPath) { self.path = path }
  /// Creates a field with a path in text form; see ``FieldPath/init(_:)``.
  public init(_ path: String) { self.path = FieldPath(path) }

  var expression: QueryExpression { .field(path) }

  /// Returns a condition with one of the eleven match operators. `greaterThan` and `lessThan` compare
  /// only values of the same rank.
  public func matches(_ match: Match, _ value: some DocumentValueConvertible) -> Condition {
    .match(expression, match, value.documentValue)
  }
  /// Returns a condition that some string begins with the text, taken literally.
  public func hasPrefix(_ text: String) -> Condition { matches(.beginsWith, text) }
  /// Returns a condition that some string contains the text, taken literally.
  public func contains(_ text: String) -> Condition { matches(.contains, text) }
  /// Returns a condition that some string ends with the text, taken literally.
  public func hasSuffix(_ text: String) -> Condition { matches(.endsWith, text) }

  /// Returns a condition that some value equals some value of the list.
  public func isIn(_ values: [some DocumentValueConvertible]) -> Condition {
    .membership(expression, values.map { .value($0.documentValue) })
  }
  /// Returns a condition that some value equals some value of the list.
  public func isIn(_ values: DocumentValue...) -> Condition { isIn(values) }

  /// Returns a condition that some value is of the rank of the bounds and between them, inclusive.
  public func isBetween(
    _ low: some DocumentValueConvertible, and high: some DocumentValueConvertible
  ) -> Condition {
    .between(expression, .value(low.documentValue), .value(high.documentValue))
  }

  /// A condition that the field exists, even if it is null.
  public var exists: Condition { .exists(path) }
  /// A condition that the field is null or missing.
  public var isNull: Condition { .isNull(expression) }

  /// Returns a condition that some string matches a pattern with `%` and `_`; see ``TextMatch/like``.
  public func like(_ pattern: String) -> Condition {
    .text(expression, .like, .value(.string(pattern)))
  }
  /// Returns a condition that some string matches a pattern with `*`, `?` and `[…]`; see
  /// ``TextMatch/glob``.
  public func glob(_ pattern: String) -> Condition {
    .text(expression, .glob, .value(.string(pattern)))
  }
  /// Returns a condition that a regular expression matches anywhere in some string.
  public func regexp(_ pattern: String) -> Condition {
    .text(expression, .regexp, .value(.string(pattern)))
  }

  /// Returns a condition that one element of the array satisfies the whole condition. Its paths are
  /// relative to the element; ``Element/value`` is the element itself.
  public func element(_ condition: (Element) -> Condition) -> Condition {
    .element(path, condition(Element()))
  }

  /// Creates fields relative to an array element.
  public struct Element: Sendable {
    /// Returns a field of the element.
    public func callAsFunction(_ path: String) -> Field { Field(path) }
    /// The element itself, for arrays of scalars.
    public var value: Field { Field(FieldPath.element) }
  }
}

extension FieldPath {
  /// The element itself, inside ``Condition/element(_:_:)``, or the leaf inside ``Condition/leaf(_:)``.
  /// Its only name is U+0000, so a condition cannot refer to a field of that name.
  public static let element = FieldPath(components: ["\u{0}"])
  /// Whether this is the path that represents the element itself.
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

  /// Equality with null checks for a null or missing value.
  static func equality(_ operand: QueryExpression, _ value: DocumentValue) -> Condition {
    value.isNull ? .isNull(operand) : .comparison(operand, .equal, .value(value))
  }

  static func inequality(_ operand: QueryExpression, _ value: DocumentValue) -> Condition {
    value.isNull ? .not(.isNull(operand)) : .comparison(operand, .notEqual, .value(value))
  }

  /// Returns a condition on the document's key as a string.
  public static func key(_ match: Match, _ key: String) -> Condition {
    .match(.attribute(.key), match, .string(key))
  }
  /// Returns a condition that the document's key is in the list.
  public static func key(in keys: some Sequence<String>) -> Condition {
    .membership(.attribute(.key), keys.map { .value(.string($0)) })
  }
  /// Returns a condition that the document's row ID is in the list.
  public static func rowID(in ids: some Sequence<Int64>) -> Condition {
    .membership(.attribute(.rowID), ids.map { .value(.int($0)) })
  }
  /// Returns a condition that the document was stored with the class name.
  public static func type(_ name: String) -> Condition {
    .comparison(.attribute(.type), .equal, .value(.string(name)))
  }
  /// Returns a condition that the document was added before a date.
  public static func added(before moment: Date) -> Condition {
    .comparison(.attribute(.added), .less, .value(.date(moment)))
  }
  /// Returns a condition that the document was added at or after a date.
  public static func added(since moment: Date) -> Condition {
    .comparison(.attribute(.added), .greaterOrEqual, .value(.date(moment)))
  }
}

// Disfavored, so that a literal becomes a `DocumentValue`.
/// Returns a condition that some value equals the given one. With `nil` or null: the field is null or
/// missing.
@_disfavoredOverload
public func == (field: Field, value: some DocumentValueConvertible) -> Condition {
  .equality(field.expression, value.documentValue)
}
/// Returns a condition that some value equals the given one. With `nil` or null: the field is null or
/// missing.
public func == (field: Field, value: DocumentValue) -> Condition {
  .equality(field.expression, value)
}
/// Returns a condition that some value of one field equals some value of the other.
public func == (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .equal, right.expression)
}
// Disfavored, so that a literal becomes a `DocumentValue`.
/// Returns a condition that some value of the same rank differs from the given one. With `nil` or null:
/// the complement of `==`.
@_disfavoredOverload
public func != (field: Field, value: some DocumentValueConvertible) -> Condition {
  .inequality(field.expression, value.documentValue)
}
/// Returns a condition that some value of the same rank differs from the given one. With `nil` or null:
/// the complement of `==`.
public func != (field: Field, value: DocumentValue) -> Condition {
  .inequality(field.expression, value)
}
/// Returns a condition that some value of one field differs from a value of the other of the same rank.
public func != (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .notEqual, right.expression)
}
/// Returns a condition that some value of the same rank is less than the given one.
public func < (field: Field, value: some DocumentValueConvertible) -> Condition {
  .comparison(field.expression, .less, .value(value.documentValue))
}
/// Returns a condition that some value of the left field is less than some value of the right field.
public func < (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .less, right.expression)
}
/// Returns a condition that some value of the same rank is less than or equal to the given one.
public func <= (field: Field, value: some DocumentValueConvertible) -> Condition {
  .comparison(field.expression, .lessOrEqual, .value(value.documentValue))
}
/// Returns a condition that some value of the left field is less than or equal to some value of the
/// right field.
public func <= (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .lessOrEqual, right.expression)
}
/// Returns a condition that some value of the same rank is greater than the given one.
public func > (field: Field, value: some DocumentValueConvertible) -> Condition {
  .comparison(field.expression, .greater, .value(value.documentValue))
}
/// Returns a condition that some value of the left field is greater than some value of the right field.
public func > (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .greater, right.expression)
}
/// Returns a condition that some value of the same rank is greater than or equal to the given one.
public func >= (field: Field, value: some DocumentValueConvertible) -> Condition {
  .comparison(field.expression, .greaterOrEqual, .value(value.documentValue))
}
/// Returns a condition that some value of the left field is greater than or equal to some value of the
/// right field.
public func >= (left: Field, right: Field) -> Condition {
  .comparison(left.expression, .greaterOrEqual, right.expression)
}
/// Returns a condition that both conditions are true.
public func && (left: Condition, right: Condition) -> Condition {
  .all(left.partsOfAll + right.partsOfAll)
}
/// Returns a condition that at least one of the conditions is true.
public func || (left: Condition, right: Condition) -> Condition {
  .any(left.partsOfAny + right.partsOfAny)
}
/// Returns the exact complement of the condition.
public prefix func ! (condition: Condition) -> Condition { .not(condition) }

// A chain of conditions is one level, however it is built: a loop may put thousands together.
extension Condition {
  fileprivate var partsOfAll: [Condition] {
    if case .all(let parts) = self { parts } else { [self] }
  }
  fileprivate var partsOfAny: [Condition] {
    if case .any(let parts) = self { parts } else { [self] }
  }
}
