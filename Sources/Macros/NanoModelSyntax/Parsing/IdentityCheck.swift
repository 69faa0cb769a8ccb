// SPDX-License-Identifier: MIT

import SwiftSyntax

/// Determines the property that identifies a value if none is marked with `@Key`.
///
/// The `id` of an `Identifiable` value is its identity, so saving the value twice must not create two documents.
struct IdentityCheck {
  private let declaration: any DeclGroupSyntax
  private let properties: [StoredProperty]

  init(_ declaration: some DeclGroupSyntax, _ properties: [StoredProperty]) {
    self.declaration = declaration
    self.properties = properties
  }

  /// - Returns: The properties, with `id` as the key if the type conforms to `Identifiable`.
  func run(_ problems: inout Problems) -> [StoredProperty] {
    guard !properties.contains(where: \.isKey),
      let index = properties.firstIndex(where: { $0.name == "id" && $0.relationship == nil })
    else { return properties }
    var properties = properties
    guard !properties[index].isMarked("Field") else {
      if isIdentifiable, properties[index].storedName != "id", let variable = variable(named: "id")
      {
        problems.add(
          .warning, variable.bindingSpecifier,
          "'id' is a regular field because of its field name, so saving a value twice creates two documents; mark it with '@Key' to make it the key",
          fixes: [.attribute("Key", variable)])
      }
      return properties
    }
    if isIdentifiable {
      properties[index].isIdentity = true
    } else if looksLikeKey(properties[index]), let variable = variable(named: "id") {
      problems.add(
        .warning, variable.bindingSpecifier,
        "'id' is a regular field, so saving a value twice creates two documents; mark it with '@Key' to make it the key, or with '@Field' to silence this warning",
        fixes: [.attribute("Key", variable)])
    }
    return properties
  }

  private var isIdentifiable: Bool {
    declaration.inheritanceClause?.inheritedTypes.contains {
      ["Identifiable", "Swift.Identifiable"].contains($0.type.trimmedDescription)
    } ?? false
  }

  private func looksLikeKey(_ property: StoredProperty) -> Bool {
    let keyTypes: Set<String> = ["String", "UUID", "Int", "Int64", "Foundation.UUID"]
    return keyTypes.contains(property.type.wrapped ?? property.type.text)
      || property.initialValue?.trimmedDescription == "UUID()"
  }

  private func variable(named name: String) -> VariableDeclSyntax? {
    declaration.memberBlock.members.lazy.compactMap { $0.decl.as(VariableDeclSyntax.self) }
      .first {
        $0.bindings.contains {
          $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text == name
        }
      }
  }
}
