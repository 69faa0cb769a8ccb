// SPDX-License-Identifier: MIT

import SwiftSyntax

/// What a type that is marked as a model says.
struct ModelDeclaration {
  let name: String
  let isClass: Bool
  /// `public ` and the like, to be put before members.
  let access: String
  /// The attributes that say where the type is available, each on a line.
  let availability: String
  let collectionName: String
  /// Whether `@Model(collection:)` says the name.
  let namesCollection: Bool
  let version: String
  /// Those that are stored, in order.
  let properties: [StoredProperty]
  /// Relationships that other classes keep.
  let inverses: [RelationshipDeclaration]
  /// Properties that a value shows of itself, also those that are not stored in documents.
  let shownNames: [String]
  /// Whether the compiler writes an initializer with a parameter for each property, which can be called.
  let hasMemberwiseInitializer: Bool
  /// Whether the compiler would write an initializer without parameters, if there were no other.
  let hasPlainInitializer: Bool

  var key: StoredProperty? { properties.first { $0.isKey } }
  /// Whether reading a document asks for its key.
  var readsKey: Bool { isClass || key != nil }

  /// Nil if it is not a declaration that can be a model.
  ///
  /// - Parameter surroundings: The declarations around it, the nearest first.
  init?(
    _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax, _ surroundings: [Syntax],
    _ problems: inout Problems
  ) {
    let type: any NamedDeclSyntax
    switch declaration.kind {
    case .structDecl: type = declaration.cast(StructDeclSyntax.self)
    case .classDecl: type = declaration.cast(ClassDeclSyntax.self)
    default:
      let advice =
        declaration.is(EnumDeclSyntax.self)
        ? "; an enum needs none to be the type of a property, only a raw value or Codable" : ""
      problems.add(
        .error, node, "'@Model' belongs to a struct or a final class\(advice)",
        fixes: [.remove(node)])
      return nil
    }
    isClass = declaration.kind == .classDecl
    name = type.name.text.trimmingBackticks
    access = Self.access(of: declaration, surroundings)
    availability = declaration.attributes.filter { $0.name == "available" }
      .map { "\($0.trimmed)\n" }.joined()
    TypeChecks(declaration, node, surroundings).run(&problems)

    let arguments = ModelArguments(node, &problems)
    collectionName = arguments.collection ?? name
    namesCollection = arguments.collection != nil
    version = arguments.version ?? "1"
    let members = ModelMembers(declaration, isClass, &problems)
    properties = IdentityCheck(declaration, members.properties).run(&problems)
    inverses = members.inverses
    shownNames = members.shownNames
    hasMemberwiseInitializer = !isClass && !members.hasInitializer && !members.hasOtherAttributes
    hasPlainInitializer = isClass && !members.hasInitializer && members.haveAllValues
    if properties.isEmpty, !problems.hasErrors {
      problems.add(.error, node, "'\(name)' has no stored properties that a document could hold")
    }
    FieldChecks(properties).run(&problems)
    if let type = declaration.as(ClassDeclSyntax.self), !members.hasInitializer,
      !problems.hasErrors
    {
      InitializerCheck(type, properties).run(&problems)
    }
  }

  /// Members of an extension have its access unless they say another.
  private static func access(
    of declaration: some DeclGroupSyntax, _ surroundings: [Syntax]
  ) -> String {
    // What names a private type around it is no more visible than that.
    let isHidden = surroundings.contains { around in
      around.asProtocol((any WithModifiersSyntax).self)?.modifiers.contains {
        [.keyword(.private), .keyword(.fileprivate)].contains($0.name.tokenKind)
      } ?? false
    }
    if isHidden { return "fileprivate " }
    let own = access(declaration.modifiers)
    guard own == nil, let around = surroundings.first?.as(ExtensionDeclSyntax.self) else {
      return own ?? ""
    }
    return access(around.modifiers) ?? ""
  }

  /// Nil if none is written.
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

/// What stands in the body of a model.
private struct ModelMembers {
  var properties: [StoredProperty] = []
  var inverses: [RelationshipDeclaration] = []
  var shownNames: [String] = []
  var hasInitializer = false
  /// Whether a property has an attribute that may change how it is stored.
  var hasOtherAttributes = false
  /// Whether an initializer need not give any property a value.
  var haveAllValues = true

  init(
    _ declaration: some DeclGroupSyntax, _ isClass: Bool, _ problems: inout Problems
  ) {
    for member in declaration.memberBlock.members {
      if member.decl.is(InitializerDeclSyntax.self) { hasInitializer = true }
      MemberNameChecks(member.decl).run(&problems)
      if let conditional = member.decl.as(IfConfigDeclSyntax.self) {
        ConditionalMembers(conditional).check(&problems)
      }
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
      let parser = PropertyParser(variable, isInClass: isClass)
      shownNames += parser.shownNames
      if let inverse = parser.inverse(&problems) { inverses.append(inverse) }
      let parsed = parser.properties(&problems)
      properties += parsed.stored
      hasOtherAttributes = hasOtherAttributes || parsed.hasOtherAttributes
    }
    haveAllValues = properties.allSatisfy(\.hasFirstValue)
  }
}
