// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery

/// What values of a model must fulfil to be found.
///
/// Written with key paths, with the properties that a closure gets, or made from any ``Condition``:
///
/// ```swift
/// people.find(\.lastName == "Doe" && \.age > 30)
/// people.find { $0.lastName.hasPrefix("D") && $0.address.country == "US" }
/// people.find(ModelCondition(Field("lastName").glob("D*")))
/// ```
///
/// It means what the same expression means in Swift for the values that are read: a document without a
/// field counts with the property's default, one with a former name with that, and `!=` is the exact
/// opposite of `==`. Texts are equal if their code points are.
public struct ModelCondition<Root: Model>: Sendable {
  /// For documents with fields of every version.
  let condition: Condition
  /// For documents without former names, which indexes serve better.
  let current: Condition
  /// What is wrong with it; thrown when it is asked.
  let failure: StoreError?

  /// A condition on the documents, with the names that fields have there.
  public init(_ condition: Condition) {
    self.init(condition, current: condition)
  }

  init(_ condition: Condition, current: Condition, failure: StoreError? = nil) {
    self.condition = condition
    self.current = current
    self.failure = failure
  }

  init(failure: StoreError) {
    self.init(.constant(false), current: .constant(false), failure: failure)
  }

  /// Every value.
  public static var all: ModelCondition { ModelCondition(.constant(true)) }

  /// Whether it was not limited yet.
  var isAll: Bool { condition == .constant(true) && failure == nil }
}

/// Both hold.
public func && <Root>(a: ModelCondition<Root>, b: ModelCondition<Root>) -> ModelCondition<Root> {
  ModelCondition(
    a.condition && b.condition, current: a.current && b.current, failure: a.failure ?? b.failure)
}
/// At least one holds.
public func || <Root>(a: ModelCondition<Root>, b: ModelCondition<Root>) -> ModelCondition<Root> {
  ModelCondition(
    a.condition || b.condition, current: a.current || b.current, failure: a.failure ?? b.failure)
}
/// It does not hold.
public prefix func ! <Root>(a: ModelCondition<Root>) -> ModelCondition<Root> {
  ModelCondition(.not(a.condition), current: .not(a.current), failure: a.failure)
}
