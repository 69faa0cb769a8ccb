// SPDX-License-Identifier: MIT

import SwiftSyntax

/// The parsed declaration of a model type.
struct ModelDeclaration {
  let name: String
  let isClass: Bool
  /// The access modifier for generated members, such as `public `.
  let access: String
  /// The availability attributes of the type, one per line.
  let availability: String
  let collectionName: String
  /// Whether `@Model(collection:)` specifies the name.
  let namesCollection: Bool
  let version: String
  /// The expression of the expiration rule, if any.
  let expires: String?
  /// The stored properties, in order.
  let properties: [StoredProperty]
  /// The relationships that other classes store.
  let inverses: [RelationshipDeclaration]
  /// The declared static members that the protocol `Model` has a default for.
  let customized: [CustomizedMember]
  /// The names of the properties in the mirror, including those that are not stored in documents.
  let mirroredNames: [String]
  /// Whether the type has a memberwise initializer that generated code can call.
  let hasMemberwiseInitializer: Bool
  /// Whether the type would have a default initializer if no other were generated.
  let hasDefaultInitializer: Bool

  var key: StoredProperty? { properties.first { $0.isKey } }
  /// Whether reading a document requires its key.
  var readsKey: Bool { isClass || key != nil }

  /// Parses a declaration; nil if it cannot be a model.
  ///
  /// - Parameter enclosing: The enclosing declarations, innermost first.
  init?(
    _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax, _ enclosing: [Syntax],
    _ problems: inout Problems
  ) {
    let type: any NamedDeclSyntax
    switch declaration.kind {
    case .structDecl: type = declaration.cast(StructDeclSyntax.self)
    case .classDecl: type = declaration.cast(ClassDeclSyntax.self)
    default:
      let advice =
        declaration.is(EnumDeclSyntax.self)
        ? "; to store an enum in a property, give it a raw value or conform it to 'Codable'" : ""
      problems.add(
        .error, node, "'@Model' can only be applied to a struct or a final class\(advice)",
        fixes: [.remove(node)])
      return nil
    }
    isClass = declaration.kind == .classDecl
    name = type.name.text.trimmingBackticks
    access = Self.access(of: declaration, enclosing)
    availability = declaration.attributes.filter { $0.name == "available" }
      .map { "\($0.trimmed)\n" }.joined()
    TypeChecks(declaration, node, enclosing).run(&problems)

    let arguments = ModelArguments(node, &problems)
    collectionName = arguments.collection ?? name
    namesCollection = arguments.collection != nil
    version = arguments.version ?? "1"
    expires = arguments.expires
    let members = ModelMembers(declaration, isClass, &problems)
    properties = IdentityCheck(declaration, members.properties).run(&problems)
    inverses = members.inverses
    customized = members.customized
    mirroredNames = members.mirroredNames
    hasMemberwiseInitializer = !isClass && !members.hasInitializer && !members.hasOtherAttributes
    hasDefaultInitializer = isClass && !members.hasInitializer && members.haveInitialValues
    if properties.isEmpty, !problems.hasErrors {
      problems.add(.error, node, "'\(name)' has no stored properties to save; add at least one")
    }
    FieldChecks(properties).run(&problems)
    if let type = declaration.as(ClassDeclSyntax.self), !members.hasInitializer,
      !problems.hasErrors
    {
      InitializerCheck(type, properties).run(&problems)
    }
  }

  /// Returns the access modifier for generated members; members of an extension inherit its access by default.
  private static func access(
    of declaration: some DeclGroupSyntax, _ enclosing: [Syntax]
  ) -> String {
    // Members that mention an enclosing private type cannot be more visible than that type.
    let isHidden = enclosing.contains { around in
      around.asProtocol((any WithModifiersSyntax).self)?.modifiers.contains {
        [.keyword(.private), .keyword(.fileprivate)].contains($0.name.tokenKind)
      } ?? false
    }
    if isHidden { return "fileprivate " }
    let own = access(declaration.modifiers)
    guard own == nil, let around = enclosing.first?.as(ExtensionDeclSyntax.self) else {
      return own ?? ""
    }
    return access(around.modifiers) ?? ""
  }

  /// Returns the access modifier for generated members, or nil if none is written.
  private static func access(_ modifiers: DeclModifierListSyntax) -> String? {
    for modifier in modifiers {
      switch modifier.name.tokenKind {
      case .keyword(.public), .keyword(.open): return "public "
      case .keyword(.package): return "package "
      case .keyword(.internal), .keyword(.fileprivate), .keyword(.private): return ""
      default: continue
      }
    }
    return nil
  }
}

/// The members of a model declaration.
private struct ModelMembers {
  var properties: [StoredProperty] = []
  var inverses: [RelationshipDeclaration] = []
  var customized: [CustomizedMember] = []
  var mirroredNames: [String] = []
  /// Whether an initializer is declared that suppresses the one that the compiler would synthesize.
  var hasInitializer = false
  /// Whether a property has an attribute that may change how it is stored, such as a property wrapper.
  var hasOtherAttributes = false
  /// Whether every property has an initial value.
  var haveInitialValues = true

  init(
    _ declaration: some DeclGroupSyntax, _ isClass: Bool, _ problems: inout Problems
  ) {
    for member in declaration.memberBlock.members {
      if let initializer = member.decl.as(InitializerDeclSyntax.self),
        !(isClass && initializer.delegates)
      {
        hasInitializer = true
      }
      MemberNameChecks(member.decl).run(&problems)
      if let conditional = member.decl.as(IfConfigDeclSyntax.self) {
        ConditionalMembers(conditional).check(&problems)
      }
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
      customized += CustomizedMember.members(of: variable)
      let parser = PropertyParser(variable, isInClass: isClass)
      mirroredNames += parser.mirroredNames
      if let inverse = parser.inverse(&problems) { inverses.append(inverse) }
      let parsed = parser.properties(&problems)
      properties += parsed.stored
      hasOtherAttributes = hasOtherAttributes || parsed.hasOtherAttributes
    }
    haveInitialValues = properties.allSatisfy(\.hasInitialValue)
  }
}

extension InitializerDeclSyntax {
  /// Whether it is a convenience initializer of a class, which calls another initializer. One without parameters could
  /// not exist beside the default initializer.
  fileprivate var delegates: Bool {
    modifiers.contains { $0.name.tokenKind == .keyword(.convenience) }
      && !signature.parameterClause.parameters.isEmpty
  }
}
