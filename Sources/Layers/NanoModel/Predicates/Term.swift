// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// The translation of a part of a predicate: cases of which exactly one applies to each document
/// for which the part has a value.
///
/// `$0.country` of a model with `var country = "UK"` has two cases: the field where it exists, and
/// the constant "UK" elsewhere. Operators apply to each case, so that the resulting conditions on
/// fields can use indexes.
struct Term {
  var cases: [Case]
  /// The condition that evaluating the part throws or traps. No case applies to those documents.
  var fails: Condition = .constant(false)

  struct Case {
    /// The documents that the case applies to.
    var when: Condition = .constant(true)
    var content: Content
    /// Whether the content can be null in those documents.
    var mayBeNull = false
  }

  /// The content of a case.
  enum Content {
    /// A constant of the program.
    case constant(Any)
    /// The stored form of a default.
    case stored(DocumentValue)
    /// The value at a location in the document.
    case location(DocumentLocation)
    /// A computed number.
    case computed(QueryExpression)
    /// True where the condition holds, and false elsewhere.
    case truth(Condition)
    /// The elements of a list that satisfy a filter.
    case elements(Elements)
    /// The number of those elements; only emptiness can be expressed.
    case count(Elements)
    /// The least or greatest element of a list; null if the list is empty.
    case extreme(DocumentLocation, isGreatest: Bool)
  }

  init(_ cases: [Case], fails: Condition = .constant(false)) {
    self.cases = cases.filter { $0.when != .constant(false) }
    self.fails = fails
  }
  init(_ content: Content, mayBeNull: Bool = false) {
    cases = [Case(content: content, mayBeNull: mayBeNull)]
  }
  init(_ truth: Truth) {
    cases = [Case(when: truth.fails.opposite, content: .truth(truth.holds))]
    fails = truth.fails
  }
}

/// The translation of a Boolean expression.
struct Truth {
  /// The condition that it is true. It excludes the documents for which it fails.
  var holds: Condition
  var fails: Condition = .constant(false)

  /// The condition that it is false.
  var isFalse: Condition { holds.or(fails).opposite }

  /// Combines with an expression that is evaluated only if this one is true.
  func and(_ other: Truth) -> Truth {
    Truth(holds: holds.and(other.holds), fails: fails.or(holds.and(other.fails)))
  }
  /// Combines with an expression that is evaluated only if this one is false.
  func or(_ other: Truth) -> Truth {
    guard fails != .constant(false) || other.fails != .constant(false) else {
      return Truth(holds: holds.or(other.holds))
    }
    return Truth(
      holds: holds.or(isFalse.and(other.holds)), fails: fails.or(isFalse.and(other.fails)))
  }
  var opposite: Truth { Truth(holds: isFalse, fails: fails) }
}

/// A location in a document, or in the list element that an enclosing closure inspects.
struct DocumentLocation {
  /// The path; nil for the document itself.
  var path: FieldPath?
  /// The number of enclosing closures: a condition on an element cannot refer to values outside of
  /// it.
  var depth: Int
  var type: StoredType
  var isKey = false

  var expression: QueryExpression {
    isKey ? .attribute(.key) : .field(path ?? FieldPath(components: []))
  }

  /// Returns the location of a field or an array element within this location.
  func appending(_ name: String, _ type: StoredType) -> DocumentLocation {
    let isStart = path.map(\.isElement) ?? true
    return DocumentLocation(
      path: FieldPath(components: (isStart ? [] : path?.components ?? []) + [name]), depth: depth,
      type: type)
  }

  /// The condition that the value is missing or null.
  var isNull: Condition {
    let isNull = Condition.isNull(expression)
    // A null element does not make the list null.
    guard case .list(let element) = type.kind, element.isOptional else { return isNull }
    return isNull.and(isArray.opposite)
  }

  /// The condition that a list is stored as an array, and not as its only element.
  var isArray: Condition { .isArray(expression) }
}

/// The elements of a list that satisfy a filter.
struct Elements {
  var list: DocumentLocation
  /// The condition that the elements satisfy.
  var filter: Condition

  /// Returns the condition that an element also satisfies a condition.
  func contain(_ condition: Condition = .constant(true)) -> Condition {
    let all = filter.and(condition)
    guard all != .constant(false), let path = list.path else { return .constant(false) }
    return .element(path, all)
  }
}
