// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoQuery

extension ModelCondition {
  /// What a predicate of Foundation says, as a condition that indexes and the store can answer.
  ///
  /// ```swift
  /// people.find(#Predicate { $0.lastName == "Doe" && $0.age > 30 })
  /// people.find(#Predicate { $0.home?.country == "UK" && $0.tags.contains("swift") })
  /// ```
  ///
  /// It finds those values for which `predicate.evaluate(value)` is true, also in documents that lack a
  /// field or have it under a former name. Values for which it would throw or stop the program are not
  /// found. Texts are compared by code point.
  ///
  /// A part that has no counterpart is told when the condition is asked: ``StoreError/Code/unsupported``,
  /// with the part and the field, and nothing was read. docs/MODELS-PREDICATES.md lists what has one.
  public init(_ predicate: Predicate<Root>) {
    do throws(StoreError) {
      self.init(
        try PredicateTranslator.condition(predicate, countsFormerNames: true),
        current: try PredicateTranslator.condition(predicate, countsFormerNames: false))
    } catch {
      self.init(failure: error)
    }
  }
}

extension PredicateTranslator {
  /// - Parameter countsFormerNames: Whether documents may have fields under former names.
  fileprivate static func condition<Root: Model>(
    _ predicate: Predicate<Root>, countsFormerNames: Bool
  ) throws(StoreError) -> Condition {
    let document = Place(path: nil, depth: 0, type: StoredType(Root.self))
    let translator = PredicateTranslator(
      countsFormerNames: countsFormerNames, depth: 0,
      variables: [predicate.variable.key: Term(.place(document))])
    return try translator.truth(predicate.expression).holds
  }
}
