// SPDX-License-Identifier: MIT

import SwiftSyntax

/// The type of a property, as far as its name tells.
struct PropertyType {
  /// As it is written, or as the initial value tells.
  let text: String
  /// The type in an optional that is written with `?`, `!` or `Optional<…>`.
  let wrapped: String?

  var isOptional: Bool { wrapped != nil }
  /// Whether the name is known to stand for a type that is no optional.
  var isPlain: Bool {
    wrapped == nil
      && (PlainCoding(text) != nil || Self.known.contains(text) || text.hasPrefix("["))
  }

  private static let known: Set<String> = [
    "Data", "URL", "UUID", "Decimal", "Float", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8",
    "UInt16", "UInt32", "UInt64",
  ]

  init(_ type: TypeSyntax) {
    if let optional = type.as(OptionalTypeSyntax.self) {
      self.init(wrapping: optional.wrappedType)
    } else if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      self.init(wrapping: optional.wrappedType)
    } else if let named = type.as(IdentifierTypeSyntax.self), named.name.text == "Optional",
      case .type(let wrapped) = named.genericArgumentClause?.arguments.first?.argument
    {
      self.init(wrapping: wrapped)
    } else {
      self.init(text: type.trimmedDescription)
    }
  }

  private init(wrapping type: TypeSyntax) {
    wrapped = type.trimmedDescription
    // Of `any P?` and functions the question mark would belong to something else.
    text = "Swift.Optional<\(type.trimmedDescription)>"
  }

  private init(text: String) {
    self.text = text
    wrapped = nil
  }

  /// The type of an initial value, if its text tells.
  init?(of value: ExprSyntax) {
    switch value.kind {
    case .stringLiteralExpr: self.init(text: "String")
    case .integerLiteralExpr: self.init(text: "Int")
    case .floatLiteralExpr: self.init(text: "Double")
    case .booleanLiteralExpr: self.init(text: "Bool")
    case .prefixOperatorExpr:
      self.init(of: value.cast(PrefixOperatorExprSyntax.self).expression)
    case .functionCallExpr:
      // `Date()`, `[String]()`, `Set<Int>()`: a name in capitals is a type.
      let called = value.cast(FunctionCallExprSyntax.self).calledExpression
      guard let type = Self.typeName(called) else { return nil }
      self.init(text: type)
    case .asExpr: self.init(value.cast(AsExprSyntax.self).type)
    default: return nil
    }
  }

  private static func typeName(_ expression: ExprSyntax) -> String? {
    switch expression.kind {
    case .declReferenceExpr, .genericSpecializationExpr:
      let text = expression.trimmedDescription
      return text.first?.isUppercase == true ? text : nil
    case .arrayExpr, .dictionaryExpr: return expression.trimmedDescription
    default: return nil
    }
  }
}

/// How values of the types that most properties have are coded, so that nothing has to be looked up.
struct PlainCoding {
  let write: (_ value: String) -> String
  let read: String

  init?(_ type: String) {
    switch type {
    case "String":
      write = { "writer.string(\($0))" }
      read = "try reader.string()"
    case "Int":
      write = { "writer.integer(\($0))" }
      read = "try reader.integer(as: Swift.Int.self)"
    case "Double":
      write = { "writer.double(\($0))" }
      read = "try reader.double()"
    case "Bool":
      write = { "writer.bool(\($0))" }
      read = "try reader.bool()"
    case "Date":
      write = { "writer.date(\($0))" }
      read = "try reader.date()"
    default: return nil
    }
  }
}
