// SPDX-License-Identifier: MIT

import SwiftSyntax

/// The arguments of `@Model(…)`.
struct ModelArguments {
  var collection: String?
  /// The version in decimal digits.
  var version: String?
  /// The expression of the expiration rule.
  var expires: String?

  init(_ node: AttributeSyntax, _ problems: inout Problems) {
    guard case .argumentList(let arguments) = node.arguments else { return }
    for argument in arguments {
      switch argument.label?.text {
      case "collection":
        if argument.expression.is(NilLiteralExprSyntax.self) { continue }
        collection = argument.expression.plainText
        if collection == nil {
          problems.add(
            .error, argument, "'collection' must be a string literal without interpolations")
        } else if collection == "" {
          problems.add(.error, argument, "the collection name cannot be empty")
        }
      case "version":
        let digits = argument.expression.as(IntegerLiteralExprSyntax.self)?.literal.text
        guard let digits, let number = Int(digits.filter { $0 != "_" }), number >= 1 else {
          problems.add(.error, argument, "'version' must be an integer literal of at least 1")
          continue
        }
        version = String(number)
      case "expires":
        if argument.expression.is(NilLiteralExprSyntax.self) { continue }
        expires = argument.expression.trimmedDescription
      default: continue
      }
    }
  }
}

extension ExprSyntax {
  /// The value of a string literal without interpolations, or nil.
  var plainText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
}
