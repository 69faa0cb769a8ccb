// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// What a part of a predicate gives, for every document: one of several cases, of which exactly one
/// applies wherever the part has a value at all.
///
/// `$0.country` of a model with `var country = "UK"` has two: what stands in the field, where there is
/// one, and "UK". Operators are applied to each case, so that conditions on fields remain what indexes
/// answer.
struct Term {
  var cases: [Case]
  /// Where evaluating the part throws, or stops the program. No case applies there.
  var fails: Condition = .constant(false)

  struct Case {
    /// Which documents it is for.
    var when: Condition = .constant(true)
    var content: Content
    /// Whether the content can be null in such a document.
    var mayBeNull = false
  }

  /// What the part is.
  enum Content {
    /// A value of the program.
    case constant(Any)
    /// What a document without the field is read as.
    case stored(DocumentValue)
    /// What stands somewhere in the document.
    case place(Place)
    /// A number made of others.
    case computed(QueryExpression)
    /// True where the condition holds.
    case truth(Condition)
    /// The elements of a list that fulfil a condition.
    case elements(Elements)
    /// How many they are; only whether there are any can be asked.
    case count(Elements)
    /// The least or greatest element of a list; null if it is empty.
    case extreme(Place, isGreatest: Bool)
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

/// What a part of a predicate says that is true or false.
struct Truth {
  /// Where it is true; never where it fails.
  var holds: Condition
  var fails: Condition = .constant(false)

  /// Where it is false.
  var isFalse: Condition { holds.or(fails).opposite }

  /// The right side is evaluated only where the left one is true.
  func and(_ other: Truth) -> Truth {
    Truth(holds: holds.and(other.holds), fails: fails.or(holds.and(other.fails)))
  }
  /// The right side is evaluated only where the left one is false.
  func or(_ other: Truth) -> Truth {
    guard fails != .constant(false) || other.fails != .constant(false) else {
      return Truth(holds: holds.or(other.holds))
    }
    return Truth(
      holds: holds.or(isFalse.and(other.holds)), fails: fails.or(isFalse.and(other.fails)))
  }
  var opposite: Truth { Truth(holds: isFalse, fails: fails) }
}

/// Where something stands in a document, or in an element of a list that is being asked.
struct Place {
  /// The path; nil for the document itself.
  var path: FieldPath?
  /// How many lists are entered: a condition on an element cannot name what stands outside of it.
  var depth: Int
  var type: StoredType
  var isKey = false

  var expression: QueryExpression {
    isKey ? .attribute(.key) : .field(path ?? FieldPath(components: []))
  }

  /// What stands below, in a field or at a number.
  func appending(_ name: String, _ type: StoredType) -> Place {
    let isStart = path.map(\.isElement) ?? true
    return Place(
      path: FieldPath(components: (isStart ? [] : path?.components ?? []) + [name]), depth: depth,
      type: type)
  }

  /// Whether nothing or a null stands there.
  var isNull: Condition {
    let isNull = Condition.isNull(expression)
    // A null among the elements is none of the list.
    guard case .list(let element) = type.kind, element.isOptional else { return isNull }
    return isNull.and(isArray.opposite)
  }

  /// Whether a list is stored as one, and not as its only element.
  var isArray: Condition {
    .comparison(.function(.typeof, [expression]), .equal, .value("array"))
  }
}

/// Some elements of a list.
struct Elements {
  var list: Place
  /// What they fulfil, asked of the element.
  var filter: Condition

  /// Whether one of them fulfils this too.
  func contain(_ condition: Condition = .constant(true)) -> Condition {
    let all = filter.and(condition)
    guard all != .constant(false), let path = list.path else { return .constant(false) }
    return .element(path, all)
  }
}
