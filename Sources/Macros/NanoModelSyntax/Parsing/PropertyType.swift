// SPDX-License-Identifier: MIT

import SwiftSyntax

/// The type of a property, derived from its spelling.
struct PropertyType {
  /// The type as written, or as inferred from the initial value.
  let text: String
  /// The wrapped type of an optional written as `?`, `!` or `Optional<…>`.
  let wrapped: String?

  var isOptional: Bool { wrapped != nil }
  /// The type for use in messages.
  var displayText: String { wrapped.map { "\($0)?" } ?? text }
  /// Whether the name is known to denote a nonoptional type.
  var isPlain: Bool {
    wrapped == nil
      && (PlainCoding(text) != nil || Self.known.contains(text) || text.hasPrefix("["))
  }

  private static let known: Set<String> = [
    "Data", "URL", "UUID", "Decimal", "Float", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8",
    "UInt16", "UInt32", "UInt64",
  ]

  /// Whether the type, or the wrapped type of an optional, may be an enum, judging by its name.
  var mayBeEnum: Bool {
    let text = wrapped ?? self.text
    let name = text.split(separator: ".").last.map(String.init) ?? text
    return !text.hasPrefix("[") && PlainCoding(name) == nil && !Self.known.contains(name)
      && !Self.structures.contains(name)
  }

  /// Other structures that documents store, and whose static members can be computed, such as `Locale.current`.
  private static let structures: Set<String> = [
    "Calendar", "DateComponents", "DateInterval", "Duration", "Locale", "TimeZone", "URLComponents",
  ]

  init(_ type: TypeSyntax) {
    if let optional = type.as(OptionalTypeSyntax.self) {
      self.init(wrapping: optional.wrappedType)
    } else if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      self.init(wrapping: optional.wrappedType)
    } else if let wrapped = Self.wrapped(of: type) {
      self.init(wrapping: wrapped)
    } else if let tuple = type.as(TupleTypeSyntax.self), let only = tuple.onlyType {
      self.init(only)
    } else {
      self.init(text: type.trimmedDescription)
    }
  }

  /// Returns the wrapped type of `Optional<…>` or `Swift.Optional<…>`.
  private static func wrapped(of type: TypeSyntax) -> TypeSyntax? {
    let member = type.as(MemberTypeSyntax.self)
    let named = type.as(IdentifierTypeSyntax.self)
    if let member, member.baseType.trimmedDescription != "Swift" { return nil }
    let name = member?.name ?? named?.name
    let generic = member?.genericArgumentClause ?? named?.genericArgumentClause
    guard name?.text == "Optional", case .type(let wrapped) = generic?.arguments.first?.argument
    else { return nil }
    return wrapped
  }

  /// Creates the storage type of a relationship.
  init(of relationship: RelationshipDeclaration) { self.init(text: relationship.storage) }

  private init(wrapping type: TypeSyntax) {
    wrapped = type.trimmedDescription
    // Spelled out, because in `any P?` and function types the question mark binds differently.
    text = "Swift.Optional<\(type.trimmedDescription)>"
  }

  private init(text: String) {
    self.text = text
    wrapped = nil
  }

  /// Creates the type of an initial value, or nil if its spelling is inconclusive.
  init?(of value: ExprSyntax) {
    switch value.kind {
    case .stringLiteralExpr: self.init(text: "String")
    case .integerLiteralExpr: self.init(text: "Int")
    case .floatLiteralExpr: self.init(text: "Double")
    case .booleanLiteralExpr: self.init(text: "Bool")
    case .prefixOperatorExpr:
      self.init(of: value.cast(PrefixOperatorExprSyntax.self).expression)
    case .functionCallExpr:
      // `Date()`, `[String]()`, `Set<Int>()`: a capitalized name is a type.
      let call = value.cast(FunctionCallExprSyntax.self)
      guard let type = Self.typeName(call.calledExpression), !call.mayFail(of: type) else {
        return nil
      }
      self.init(text: type)
    case .sequenceExpr:
      // `x as Int`, before operator folding.
      let parts = Array(value.cast(SequenceExprSyntax.self).elements)
      guard parts.count == 3, let cast = parts[1].as(UnresolvedAsExprSyntax.self),
        cast.questionOrExclamationMark == nil, let type = parts[2].as(TypeExprSyntax.self)
      else { return nil }
      self.init(type.type)
    case .asExpr: self.init(value.cast(AsExprSyntax.self).type)
    case .arrayExpr:
      // `["a", "b"]`: infer from the elements.
      let types = Set(
        value.cast(ArrayExprSyntax.self).elements.map { PropertyType(of: $0.expression)?.text })
      guard types.count == 1, case .some(.some(let element)) = types.first else { return nil }
      self.init(text: "[\(element)]")
    default: return nil
    }
  }

  private static func typeName(_ expression: ExprSyntax) -> String? {
    switch expression.kind {
    case .declReferenceExpr, .genericSpecializationExpr:
      let text = expression.trimmedDescription
      // `Array(…)` does not specify the element type.
      if ["Array", "ContiguousArray", "Dictionary", "Optional", "Set"].contains(text) {
        return nil
      }
      return text.first?.isUppercase == true ? text : nil
    case .arrayExpr, .dictionaryExpr: return expression.trimmedDescription
    default: return nil
    }
  }
}

extension FunctionCallExprSyntax {
  private static let labelsOfFailable: Set<String> = [
    "base64Encoded", "exactly", "rawValue", "string", "uuidString",
  ]
  private static let typesFromText: Set<String> = [
    "Bool", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8",
    "UInt16", "UInt32", "UInt64", "UInt128",
  ]

  /// Whether the call may be one of a failable initializer, such as `URL(string: "…")` and `Int("5")`.
  fileprivate func mayFail(of type: String) -> Bool {
    guard let first = arguments.first else { return false }
    if let label = first.label?.text { return Self.labelsOfFailable.contains(label) }
    return Self.typesFromText.contains(type) && first.expression.is(StringLiteralExprSyntax.self)
  }
}

extension TupleTypeSyntax {
  /// The type in parentheses, if there is exactly one unlabeled type.
  var onlyType: TypeSyntax? {
    elements.count == 1 && elements.first?.firstName == nil ? elements.first?.type : nil
  }
}

extension TypeSyntax {
  /// A description of the kind of type with an article, or nil if types of this kind may be storable.
  var unstorableKind: String? {
    if let optional = self.as(OptionalTypeSyntax.self) {
      return optional.wrappedType.unstorableKind
    }
    if let optional = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      return optional.wrappedType.unstorableKind
    }
    if let attributed = self.as(AttributedTypeSyntax.self) {
      return attributed.baseType.unstorableKind
    }
    switch kind {
    case .tupleType:
      return cast(TupleTypeSyntax.self).onlyType.map { $0.unstorableKind } ?? "a tuple"
    case .functionType: return "a function"
    case .someOrAnyType: return "an existential or opaque"
    case .metatypeType: return "a metatype"
    case .compositionType: return "a protocol composition"
    default: return nil
    }
  }

  var isDictionary: Bool {
    if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.isDictionary }
    return self.is(DictionaryTypeSyntax.self)
      || self.as(IdentifierTypeSyntax.self)?.name.text == "Dictionary"
  }
}

/// Direct calls that code values of common types, which avoid generic dispatch.
struct PlainCoding {
  let write: (_ value: String) -> String
  let read: (_ reader: String) -> String

  init?(_ type: String) {
    switch type {
    case "String":
      write = { "writer.string(\($0))" }
      read = { "try \($0).string()" }
    case "Int":
      write = { "writer.integer(\($0))" }
      read = { "try \($0).integer(as: Swift.Int.self)" }
    case "Double":
      write = { "writer.double(\($0))" }
      read = { "try \($0).double()" }
    case "Bool":
      write = { "writer.bool(\($0))" }
      read = { "try \($0).bool()" }
    case "Date":
      write = { "writer.date(\($0))" }
      read = { "try \($0).date()" }
    default: return nil
    }
  }
}
