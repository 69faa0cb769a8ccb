// SPDX-License-Identifier: MIT

import SwiftSyntax

/// A property that documents hold.
struct StoredProperty {
  let name: String
  /// Where it is declared.
  let declaration: Syntax
  let type: PropertyType
  /// The value that it has in new values, as it is written.
  let initialValue: ExprSyntax?
  let isLet: Bool
  let storedName: String
  let formerNames: [String]
  /// `@Field`, `@Key` and the like.
  let marks: [AttributeSyntax]
  /// Where the names in documents are written.
  let namesPlace: Syntax
  /// What takes a former name away, by its place among them.
  let removals: [Fix]
  /// Whether it is one of an object, whose value stands in another property.
  var isTracked = false
  /// What it says if it leads to other objects.
  var relationship: RelationshipDeclaration?

  /// The property that holds the value.
  var place: String {
    isTracked || relationship != nil ? "_$f_\(name.trimmingBackticks)" : name
  }
  /// The value of an object whose content is there.
  var value: String {
    isTracked && !type.isOptional ? "self.\(place)!" : "self.\(place)"
  }

  /// Whether it is the `id` of a type that is `Identifiable`, and no other property is marked as key.
  var isIdentity = false

  var isKey: Bool { isIdentity || isMarked("Key") }
  func isMarked(_ name: String) -> Bool { marks.contains { $0.shortName == name } }

  /// Whether it is nil without being told, as variables that are optional by a mark are.
  var isNilAtFirst: Bool {
    !isLet && (type.isOptional || relationship.map { !$0.isToMany } ?? false)
  }

  /// Whether an initializer need not give it a value.
  var hasFirstValue: Bool { initialValue != nil || isNilAtFirst }

  /// The name before an argument, where keywords are not escaped.
  var label: String {
    let plain = name.trimmingBackticks
    let isWord = plain.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    return isWord && !["inout", "let", "var"].contains(plain) ? plain : name
  }

  /// Whether a document that does not have the field may be an error.
  var isRequired: Bool {
    switch absence {
    case .error, .askType: true
    case .null, .value: isKey
    }
  }

  /// What a document without the field is read as.
  enum Absence {
    /// The field has to be there.
    case error
    case null
    /// An expression.
    case value(String)
    /// The compiler knows whether the type is an optional, which its name does not tell.
    case askType
  }

  var absence: Absence {
    if let relationship {
      return relationship.isToMany ? .value("\(relationship.storage)()") : .askType
    }
    if let initialValue, !isNilInitially {
      let text = initialValue.trimmedDescription
      return .value(initialValue.isConstant ? text : "(\(text))")
    }
    if type.isOptional { return .null }
    return type.isPlain ? .error : .askType
  }

  /// Whether the initial value is written as nil. `.none` is nil in an optional, also of an enum with such a case.
  private var isNilInitially: Bool {
    guard let initialValue else { return false }
    return initialValue.is(NilLiteralExprSyntax.self)
      || (type.isOptional && initialValue.trimmedDescription == ".none")
  }

  /// Whether every document that is written has the field.
  var isAlwaysWritten: Bool {
    switch absence {
    case .null, .askType: false
    case .error, .value: true
    }
  }

  /// Whether the initial value may be another one each time.
  var hasComputedDefault: Bool {
    if relationship != nil { return false }
    if case .value = absence, !isKey { return constant == nil }
    return false
  }

  /// The initial value, if it is the same each time.
  var constant: String? {
    guard let initialValue, initialValue.isConstant, !isNilInitially else { return nil }
    return initialValue.trimmedDescription
  }
}

extension ExprSyntax {
  /// Whether it is made of literals and cases of enums only.
  var isConstant: Bool {
    switch kind {
    case .stringLiteralExpr: plainText != nil
    case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr: true
    case .prefixOperatorExpr: cast(PrefixOperatorExprSyntax.self).expression.isConstant
    case .arrayExpr: cast(ArrayExprSyntax.self).elements.allSatisfy { $0.expression.isConstant }
    case .dictionaryExpr: trimmedDescription == "[:]"
    // What is made of constants is one; `Date()` is another one each time.
    case .functionCallExpr:
      cast(FunctionCallExprSyntax.self).isOfTypeWithConstants
    // A case of an enum; `.now` is another one each time.
    case .memberAccessExpr:
      cast(MemberAccessExprSyntax.self).base == nil && trimmedDescription != ".now"
    default: false
    }
  }
}

extension FunctionCallExprSyntax {
  /// Whether it is a type's initializer with arguments that are all constant.
  fileprivate var isOfTypeWithConstants: Bool {
    guard trailingClosure == nil, !arguments.isEmpty,
      let name = calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
    else { return false }
    return name.first?.isUppercase == true && arguments.allSatisfy { $0.expression.isConstant }
  }
}
