// SPDX-License-Identifier: MIT

import SwiftSyntax

/// What stands in the parentheses of `@Model(…)`.
struct ModelArguments {
  var collection: String?
  /// Digits.
  var version: String?

  init(_ node: AttributeSyntax, _ problems: inout Problems) {
    guard case .argumentList(let arguments) = node.arguments else { return }
    for argument in arguments {
      switch argument.label?.text {
      case "collection":
        if argument.expression.is(NilLiteralExprSyntax.self) { continue }
        collection = argument.expression.plainText
        if collection == nil {
          problems.add(.error, argument, "the collection is a string without interpolations")
        } else if collection == "" {
          problems.add(.error, argument, "the name of the collection is empty")
        }
      case "version":
        let digits = argument.expression.as(IntegerLiteralExprSyntax.self)?.literal.text
        guard let digits, let number = Int(digits.filter { $0 != "_" }), number >= 1 else {
          problems.add(.error, argument, "the version is an integer literal, 1 or greater")
          continue
        }
        version = String(number)
      default: continue
      }
    }
  }
}

extension ExprSyntax {
  /// The text of a string literal without interpolations.
  var plainText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
}
