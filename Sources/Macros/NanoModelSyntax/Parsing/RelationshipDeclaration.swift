// SPDX-License-Identifier: MIT

import SwiftSyntax

/// The parsed declaration of a `@Relationship` or `@Inverse` property.
struct RelationshipDeclaration {
  let name: String
  /// Whether the other class stores the relationship.
  let isInverse: Bool
  let isToMany: Bool
  /// The destination class, or an existential type (`any` protocol).
  let target: String
  /// Whether the relationship may contain objects of any class.
  let isMixed: Bool
  /// The inverse property of the other class.
  let inverse: String?
  /// The key path to the inverse property, as written.
  let inversePath: String?
  /// An expression for the delete rule.
  let rule: String?

  /// The name of the storage property.
  var storageName: String { name.storageName }

  /// The type of the storage property.
  var storage: String {
    switch (isInverse, isMixed, isToMany) {
    case (true, _, true): "NanoStoreModels.InverseMany<\(target)>"
    case (true, _, false): "NanoStoreModels.InverseOne<\(target)>"
    case (false, true, true): "NanoStoreModels.MixedToMany"
    case (false, true, false): "NanoStoreModels.MixedToOne"
    case (false, false, true): "NanoStoreModels.ToMany<\(target)>"
    case (false, false, false): "NanoStoreModels.ToOne<\(target)>"
    }
  }

  /// Parses a property; nil if it has neither attribute or cannot be a relationship.
  init?(_ variable: VariableDeclSyntax, _ problems: inout Problems) {
    let attributes = variable.attributes.compactMap { $0.as(AttributeSyntax.self) }
    guard let mark = attributes.first(where: { Self.markNames.contains($0.shortName) }),
      let binding = variable.bindings.first, variable.bindings.count == 1,
      let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else { return nil }
    name = pattern.identifier.text
    isInverse = mark.shortName == "Inverse"
    guard variable.bindingSpecifier.tokenKind == .keyword(.var) else {
      var fixed = variable.detached
      fixed.bindingSpecifier.tokenKind = .keyword(.var)
      problems.add(
        .error, variable.bindingSpecifier, "a relationship must be a 'var'",
        fixes: [.replace(variable, fixed, "make it a 'var'")])
      return nil
    }
    guard let destination = binding.typeAnnotation.flatMap({ RelationshipDestination($0.type) })
    else {
      problems.add(
        .error, binding.typeAnnotation.map { Syntax($0.type) } ?? Syntax(pattern),
        "a relationship must be an array of objects or an optional object, such as '[Song]' or 'Song?'"
      )
      return nil
    }
    isToMany = destination.isToMany
    target = destination.target
    isMixed = destination.isMixed
    let arguments = RelationshipArguments(mark, &problems)
    inverse = arguments.inverse
    inversePath = arguments.inversePath
    rule = arguments.rule
    guard isMixed else { return }
    if isInverse || inverse != nil {
      problems.add(.error, mark, "a relationship to objects of any class cannot have an inverse")
      return nil
    }
  }

  static let markNames: Set<String> = ["Relationship", "Inverse"]
}

/// The destination of a relationship, parsed from the type of the property.
private struct RelationshipDestination {
  let isToMany: Bool
  let target: String
  let isMixed: Bool

  init?(_ type: TypeSyntax) {
    let inner: TypeSyntax
    if let array = type.as(ArrayTypeSyntax.self) {
      isToMany = true
      inner = array.element
    } else if let optional = type.as(OptionalTypeSyntax.self) {
      isToMany = false
      inner = optional.wrappedType
    } else {
      return nil
    }
    let plain = inner.as(TupleTypeSyntax.self)?.onlyType ?? inner
    guard plain.isAnyType || plain.is(IdentifierTypeSyntax.self) || plain.is(MemberTypeSyntax.self)
    else { return nil }
    isMixed = plain.isAnyType
    target = plain.trimmedDescription
  }
}

extension TypeSyntax {
  fileprivate var isAnyType: Bool {
    self.as(SomeOrAnyTypeSyntax.self)?.someOrAnySpecifier.tokenKind == .keyword(.any)
  }
}

/// The arguments of `@Relationship(…)`.
private struct RelationshipArguments {
  var inverse: String?
  var inversePath: String?
  var rule: String?

  init(_ mark: AttributeSyntax, _ problems: inout Problems) {
    guard case .argumentList(let arguments) = mark.arguments else { return }
    for argument in arguments {
      switch argument.label?.text {
      case "inverse":
        if argument.expression.is(NilLiteralExprSyntax.self) { continue }
        let last = argument.expression.as(KeyPathExprSyntax.self)?.components.last?.component
        guard case .property(let property) = last else {
          problems.add(
            .error, argument,
            "the inverse must be a key path to a property, such as '\\Song.playlists'")
          continue
        }
        inverse = property.declName.baseName.text.trimmingBackticks
        inversePath = argument.expression.trimmedDescription
      case "delete": rule = argument.expression.trimmedDescription
      default: continue
      }
    }
  }
}
