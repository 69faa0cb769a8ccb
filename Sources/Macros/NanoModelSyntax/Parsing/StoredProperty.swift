// SPDX-License-Identifier: MIT

import SwiftSyntax

/// A property that is stored in documents.
struct StoredProperty {
  let name: String
  /// The syntax node of the declaration.
  let declaration: Syntax
  let type: PropertyType
  /// The initial value, as written.
  let initialValue: ExprSyntax?
  let isLet: Bool
  let storedName: String
  let formerNames: [String]
  /// The model attributes, such as `@Field` and `@Key`.
  let marks: [AttributeSyntax]
  /// The syntax node that specifies the field names.
  let nameNode: Syntax
  /// The fix-its that remove each former name, in the same order.
  let removals: [Fix]
  /// Whether the property belongs to an object, whose value is in a storage property.
  var isTracked = false
  /// Whether the property of an object is not stored. It is only parsed for its accessors.
  var isTransient = false
  /// The relationship, if the property refers to other objects.
  var relationship: RelationshipDeclaration?

  /// The name of the property that contains the value.
  var storageName: String { isTracked || relationship != nil ? name.storageName : name }
  /// An expression for the value, assuming that the object is loaded.
  var value: String {
    isTracked && !type.isOptional ? "self.\(storageName)!" : "self.\(storageName)"
  }

  /// Whether the property is the `id` of an `Identifiable` type without a `@Key`.
  var isIdentity = false

  var isKey: Bool { isIdentity || isMarked("Key") }
  func isMarked(_ name: String) -> Bool { marks.contains { $0.shortName == name } }

  /// Whether the property is implicitly nil, as are variables of an optional type.
  var isImplicitlyNil: Bool {
    !isLet && (type.isOptional || relationship.map { !$0.isToMany } ?? false)
  }

  /// Whether initializers may omit the property.
  var hasInitialValue: Bool { initialValue != nil || isImplicitlyNil }

  /// The name as an argument label, where most keywords need no backticks.
  var label: String {
    let plain = name.trimmingBackticks
    return plain.isWord && !["inout", "let", "var"].contains(plain) ? plain : name
  }

  /// Whether a document without the field may be an error.
  var isRequired: Bool {
    switch absence {
    case .error, .dependsOnType: true
    case .null, .value: isKey
    }
  }

  /// How a document without the field is read.
  enum Absence {
    /// The field is required.
    case error
    case null
    /// The field has the value of an expression.
    case value(String)
    /// The field is null if the type is optional, which only the compiler can determine.
    case dependsOnType
  }

  var absence: Absence {
    if let relationship {
      return relationship.isToMany ? .value("\(relationship.storage)()") : .dependsOnType
    }
    if let initialValue, !isNilInitially {
      let text = initialValue.trimmedDescription
      return .value(isConstant ? text : "(\(text))")
    }
    if type.isOptional { return .null }
    return type.isPlain ? .error : .dependsOnType
  }

  /// Whether the initial value is nil; `.none` is nil for an optional, even of an enum with a case `none`.
  private var isNilInitially: Bool {
    guard let initialValue else { return false }
    return initialValue.is(NilLiteralExprSyntax.self)
      || (type.isOptional && initialValue.trimmedDescription == ".none")
  }

  /// Whether every written document contains the field.
  var isAlwaysWritten: Bool {
    switch absence {
    case .null, .dependsOnType: false
    case .error, .value: true
    }
  }

  /// Whether the initial value may differ for each document.
  var hasComputedDefault: Bool {
    if relationship != nil { return false }
    if case .value = absence, !isKey { return constant == nil }
    return false
  }

  /// The initial value if it is constant, or nil.
  var constant: String? {
    guard isConstant, !isNilInitially else { return nil }
    return initialValue?.trimmedDescription
  }

  /// Whether the initial value is the same for all documents.
  private var isConstant: Bool {
    guard let initialValue else { return false }
    return initialValue.isConstant || initialValue.isCase(of: type)
  }
}

extension ExprSyntax {
  /// Whether the expression consists only of literals and enum cases.
  var isConstant: Bool {
    switch kind {
    case .stringLiteralExpr: plainText != nil
    case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr: true
    case .prefixOperatorExpr: cast(PrefixOperatorExprSyntax.self).expression.isConstant
    case .arrayExpr: cast(ArrayExprSyntax.self).elements.allSatisfy { $0.expression.isConstant }
    case .dictionaryExpr: cast(DictionaryExprSyntax.self).hasConstants
    // An initializer with constant arguments is constant; `Date()` is not.
    case .functionCallExpr:
      cast(FunctionCallExprSyntax.self).isOfTypeWithConstants
    // An enum case is constant; `.now` is not.
    case .memberAccessExpr:
      cast(MemberAccessExprSyntax.self).base == nil && trimmedDescription != ".now"
    default: false
    }
  }

  /// Whether the expression is a case after the name of its enum, such as `Role.guest`, judging by its spelling.
  ///
  /// A static member of another type, such as `Session.currentID`, may be computed.
  fileprivate func isCase(of type: PropertyType) -> Bool {
    guard type.mayBeEnum, let member = self.as(MemberAccessExprSyntax.self) else { return false }
    return member.base?.trimmedDescription == type.wrapped ?? type.text
      && member.declName.baseName.text != "now"
  }
}

extension DictionaryExprSyntax {
  /// Whether all keys and values are constant.
  fileprivate var hasConstants: Bool {
    guard case .elements(let elements) = content else { return true }
    return elements.allSatisfy { $0.key.isConstant && $0.value.isConstant }
  }
}

extension FunctionCallExprSyntax {
  /// Whether the call is an initializer whose arguments are all constant.
  fileprivate var isOfTypeWithConstants: Bool {
    guard trailingClosure == nil, arguments.allSatisfy({ $0.expression.isConstant }),
      // `Date(timeIntervalSinceNow:)` depends on the clock.
      !arguments.contains(where: { $0.label?.text == "timeIntervalSinceNow" })
    else { return false }
    if isOfCollection { return true }
    let name = calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
    return !arguments.isEmpty && name?.first?.isUppercase == true
  }

  /// Whether the call is an initializer of a collection, such as `[String]()` and `Set<Int>()`.
  private var isOfCollection: Bool {
    if [.arrayExpr, .dictionaryExpr].contains(calledExpression.kind) { return true }
    let generic = calledExpression.as(GenericSpecializationExprSyntax.self)?.expression
    return ["Array", "Dictionary", "Set"].contains(generic?.trimmedDescription)
  }
}
