// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension StoreError {
  /// Returns the error for a part of a predicate that cannot be translated.
  ///
  /// - Parameter reason: The supported forms.
  static func untranslatable<E: PredicateExpression>(
    _ expression: E, _ reason: String? = nil
  ) -> StoreError {
    let name = "\(E.self)".prefix { $0 != "<" }
    var error = StoreError(
      .unsupported, "A part of the predicate cannot be translated", [.operation: String(name)])
    if let field = firstField(in: expression) { error = error.adding(.field, field) }
    if let reason { error = error.adding(.expected, reason) }
    return error.adding(
      .hint, "query with a broader condition, and evaluate the predicate on the results")
  }

  /// Returns the path of the first field that an expression refers to.
  private static func firstField(in value: Any) -> String? {
    let inner = Mirror(reflecting: value).children.lazy
      .filter { $0.value is any PredicateExpression }
      .compactMap { firstField(in: $0.value) }.first
    let own = (value as? any FieldNaming)?.fieldName
    guard let inner, let own else { return inner ?? own }
    return "\(inner).\(own)"
  }
}

/// An expression that can refer to a field of a model.
private protocol FieldNaming {
  var fieldName: String? { get }
}

extension PredicateExpressions.KeyPath: FieldNaming {
  fileprivate var fieldName: String? {
    (Root.Output.self as? any Model.Type)?.fieldTable.location(of: keyPath)?.path.description
  }
}
