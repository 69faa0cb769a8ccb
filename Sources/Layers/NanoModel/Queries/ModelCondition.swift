// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery

/// A condition on the values of a model.
///
/// Write conditions with key paths or with the properties that a closure receives, or create one
/// from any ``Condition``:
///
/// ```swift
/// people.find(\.lastName == "Doe" && \.age > 30)
/// people.find { $0.lastName.hasPrefix("D") && $0.address.country == "US" }
/// people.find(ModelCondition(Field("lastName").glob("D*")))
/// ```
///
/// A condition matches as the same Swift expression would on the decoded value: a missing field
/// counts with the property's default, a field is also found under its former names, and `!=` is
/// the exact negation of `==`. Strings are equal if their code points are.
public struct ModelCondition<Root: Model>: Sendable {
  /// The condition for documents of all versions.
  let condition: Condition
  /// The condition for documents without former names, which can use indexes better.
  let current: Condition
  /// The paths with former names that only the condition for all versions contains.
  let formerPaths: Set<FieldPath>
  /// The reason that the condition is invalid, thrown when a query with it is executed.
  let failure: StoreError?

  /// Creates a condition on the fields of documents, with their stored names.
  public init(_ condition: Condition) {
    self.init(condition, current: condition, formerPaths: [])
  }

  /// Creates a condition on properties.
  init(_ condition: Condition, current: Condition) {
    self.init(
      condition, current: current,
      formerPaths: Set(condition.fields).subtracting(current.fields))
  }

  init(
    _ condition: Condition, current: Condition, formerPaths: Set<FieldPath>,
    failure: StoreError? = nil
  ) {
    self.condition = condition
    self.current = current
    self.formerPaths = formerPaths
    self.failure = failure
  }

  init(failure: StoreError) {
    self.init(.constant(false), current: .constant(false), formerPaths: [], failure: failure)
  }

  /// A condition that all values satisfy.
  public static var all: ModelCondition { ModelCondition(.constant(true)) }

  /// Whether it is unrestricted.
  var isAll: Bool { condition == .constant(true) && failure == nil }
}

/// Returns a condition that holds if both conditions hold.
public func && <Root>(a: ModelCondition<Root>, b: ModelCondition<Root>) -> ModelCondition<Root> {
  ModelCondition(
    a.condition && b.condition, current: a.current && b.current,
    formerPaths: a.formerPaths.union(b.formerPaths), failure: a.failure ?? b.failure)
}
/// Returns a condition that holds if at least one of the conditions holds.
public func || <Root>(a: ModelCondition<Root>, b: ModelCondition<Root>) -> ModelCondition<Root> {
  ModelCondition(
    a.condition || b.condition, current: a.current || b.current,
    formerPaths: a.formerPaths.union(b.formerPaths), failure: a.failure ?? b.failure)
}
/// Returns the negation of a condition.
public prefix func ! <Root>(a: ModelCondition<Root>) -> ModelCondition<Root> {
  ModelCondition(
    .not(a.condition), current: .not(a.current), formerPaths: a.formerPaths, failure: a.failure)
}
