// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoQuery

extension ModelCondition {
  /// Creates a condition from a Foundation predicate. The condition can use indexes.
  ///
  /// ```swift
  /// people.find(#Predicate { $0.lastName == "Doe" && $0.age > 30 })
  /// people.find(#Predicate { $0.home?.country == "UK" && $0.tags.contains("swift") })
  /// ```
  ///
  /// The condition matches the values for which `predicate.evaluate(value)` returns true, including
  /// values of documents that lack a field or store it under a former name. Values for which
  /// evaluation would throw or trap do not match. Strings are compared by code point.
  ///
  /// If a part of the predicate cannot be translated, executing the query throws
  /// ``StoreError/Code/unsupported`` with that part and its field; nothing is read.
  /// docs/MODELS-PREDICATES.md lists the supported expressions.
  public init(_ predicate: Predicate<Root>) {
    do throws(StoreError) {
      self.init(
        try PredicateTranslator.condition(predicate, includesFormerNames: true),
        current: try PredicateTranslator.condition(predicate, includesFormerNames: false))
    } catch {
      self.init(failure: error)
    }
  }
}

extension PredicateTranslator {
  /// Translates a predicate to a condition.
  ///
  /// - Parameter includesFormerNames: Whether documents can store fields under former names.
  fileprivate static func condition<Root: Model>(
    _ predicate: Predicate<Root>, includesFormerNames: Bool
  ) throws(StoreError) -> Condition {
    let document = DocumentLocation(path: nil, depth: 0, type: StoredType(Root.self))
    let translator = PredicateTranslator(
      includesFormerNames: includesFormerNames, depth: 0,
      variables: [predicate.variable.key: (Term(.location(document)), 0)])
    return try translator.truth(predicate.expression).holds
  }
}
