// SPDX-License-Identifier: MIT

import SwiftSyntax

/// What a type that is marked as a model says.
struct ModelDeclaration {
  let name: String
  let isClass: Bool
  /// `public ` and the like, to be put before members.
  let access: String
  let collectionName: String
  let version: String
  /// Those that are stored, in order.
  let properties: [StoredProperty]
  /// Whether the compiler writes an initializer with a parameter for each property, which can be called.
  let hasMemberwiseInitializer: Bool

  var key: StoredProperty? { properties.first { $0.isKey } }

  /// Nil if it is not a declaration that can be a model.
  init?(
    _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax, _ problems: inout Problems
  ) {
    switch declaration.kind {
    case .structDecl:
      isClass = false
      name = declaration.cast(StructDeclSyntax.self).name.text
    case .classDecl:
      isClass = true
      let type = declaration.cast(ClassDeclSyntax.self)
      name = type.name.text
      Self.checkFinal(type, &problems)
    default:
      problems.add(.error, node, "'@Model' belongs to a struct or a final class")
      return nil
    }
    access = Self.access(of: declaration)
    let arguments = ModelArguments(node, &problems)
    collectionName = arguments.collection ?? name
    version = arguments.version ?? "1"
    var properties: [StoredProperty] = []
    var hasInitializer = false
    var hasWrappers = false
    for member in declaration.memberBlock.members {
      if member.decl.is(InitializerDeclSyntax.self) { hasInitializer = true }
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
      let parsed = PropertyParser(variable).properties(&problems)
      properties += parsed.stored
      hasWrappers = hasWrappers || parsed.hasOtherAttributes
    }
    self.properties = properties
    hasMemberwiseInitializer = !isClass && !hasInitializer && !hasWrappers
    if properties.isEmpty, !problems.hasErrors {
      problems.add(.error, node, "'\(name)' has no stored properties that a document could hold")
    }
    Self.checkNames(properties, &problems)
    Self.checkKeys(properties, &problems)
  }

  private static func access(of declaration: some DeclGroupSyntax) -> String {
    for modifier in declaration.modifiers {
      switch modifier.name.tokenKind {
      case .keyword(.public), .keyword(.open): return "public "
      case .keyword(.package): return "package "
      default: continue
      }
    }
    return ""
  }

  private static func checkFinal(_ type: ClassDeclSyntax, _ problems: inout Problems) {
    if type.modifiers.contains(where: { $0.name.tokenKind == .keyword(.final) }) { return }
    let keyword = type.classKeyword
    let final = DeclModifierSyntax(
      leadingTrivia: type.modifiers.isEmpty ? keyword.leadingTrivia : [],
      name: .keyword(.final), trailingTrivia: .space)
    var mended = type.detached
    mended.classKeyword.leadingTrivia = []
    mended.modifiers.append(final)
    problems.add(
      .error, keyword, "a class that is a '@Model' has to be final",
      fixes: [.replace(type, mended, "add 'final'")])
  }

  /// Each name of a document's field belongs to one property.
  private static func checkNames(_ properties: [StoredProperty], _ problems: inout Problems) {
    var owners: [String: String] = [:]
    for property in properties {
      for (name, place) in property.names {
        if name.isEmpty {
          problems.add(.error, place, "the name of a field is empty")
        } else if let other = owners[name] {
          problems.add(.error, place, "the field '\(name)' belongs to '\(other)' already")
        }
        owners[name] = property.name
      }
    }
  }

  private static func checkKeys(_ properties: [StoredProperty], _ problems: inout Problems) {
    let keys = properties.filter(\.isKey)
    for extra in keys.dropFirst() {
      guard let mark = extra.marks.first(where: { $0.shortName == "Key" }) else { continue }
      problems.add(
        .error, mark, "'\(keys[0].name)' is the key already", fixes: [.remove(mark)])
    }
    guard let key = keys.first else { return }
    for mark in key.marks where ["Indexed", "Unique"].contains(mark.shortName) {
      problems.add(
        .error, mark, "a key is unique and found quickly without '@\(mark.shortName)'",
        fixes: [.remove(mark)])
    }
  }
}
