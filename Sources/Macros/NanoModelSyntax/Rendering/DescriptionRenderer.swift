// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder

/// Renders the metadata of a model: its collection, version and fields.
struct DescriptionRenderer {
  private let model: ModelDeclaration

  /// The name of the type; in a class, `Self` could be a subclass.
  private let type: String
  /// The type as a single identifier, because the formatter changes key paths with other types.
  private var root: String { model.isClass ? "_$Model" : "Self" }

  init(_ model: ModelDeclaration, _ type: some TypeSyntaxProtocol) {
    self.model = model
    self.type = model.isClass ? type.trimmedDescription : "Self"
  }

  var members: [DeclSyntax] {
    let access = model.access
    let fields = model.properties.map(field).joined(separator: ",\n")
    var members: [DeclSyntax] = [
      "\(raw: access)static var collectionName: Swift.String { \(raw: FieldText.literal(model.collectionName)) }",
      "\(raw: access)static var modelVersion: Swift.Int { \(raw: model.version) }",
      """
      \(raw: access)static var modelFields: [NanoStoreModels.ModelField<\(raw: type)>] {
      \(raw: model.isClass ? "typealias _$Model = \(type)\n" : "")return [
      \(raw: fields)
      ]
      }
      """,
    ]
    if let rule = model.expires {
      members.append(
        "\(raw: access)static var expirationRule: NanoStoreModels.ExpirationRule? { \(raw: rule) }")
    }
    if model.namesCollection {
      members.append("\(raw: access)static var _$namesCollection: Swift.Bool { true }")
    }
    if let key = model.key {
      members.append(
        """
        \(raw: access)var documentKey: NanoStoreModels.DocumentKey? {
        get throws(NanoStoreModels.StoreError) {
        try NanoStoreModels.ModelCoding.key(self.\(raw: key.name))
        }
        }
        """)
    }
    return members
  }

  private func field(_ property: StoredProperty) -> String {
    var arguments = [
      FieldText.literal(property.storedName), "\\\(root).\(property.name)",
      "\\\(root)?.?.\(property.name)",
    ]
    if !property.formerNames.isEmpty {
      let names = property.formerNames.map(FieldText.literal).joined(separator: ", ")
      arguments.append("formerNames: [\(names)]")
    }
    let traits =
      [
        ("Indexed", "indexed"), ("Unique", "unique"), ("TextIndexed", "textIndexed"),
      ]
      .filter { property.isMarked($0.0) }.map { ".\($0.1)" }
      + (property.isKey ? [".key"] : [])
      + (property.relationship != nil ? [".relationship"] : [])
      + (property.hasComputedDefault ? [".computedDefault"] : [])
    if !traits.isEmpty { arguments.append("traits: [\(traits.joined(separator: ", "))]") }
    if property.relationship == nil, let constant = property.constant {
      arguments.append("constant: { \(constant) }")
    }
    return "NanoStoreModels.ModelField(\(arguments.joined(separator: ", ")))"
  }
}
