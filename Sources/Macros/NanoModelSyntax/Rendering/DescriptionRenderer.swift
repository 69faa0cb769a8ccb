// SPDX-License-Identifier: MIT

/// Renders the metadata of a model: its collection, version and fields.
struct DescriptionRenderer {
  private let model: ModelDeclaration

  /// The name of the type; in a class, `Self` could be a subclass.
  private let type: String
  /// The type as a single identifier, with which a key path can begin whatever the text of the type is.
  private var root: String { model.isClass ? "_$Model" : "Self" }

  init(_ model: ModelDeclaration) {
    self.model = model
    type = model.isClass ? model.name : "Self"
  }

  /// The members in the type itself, which repeat its initial values and arguments.
  var fields: [String] {
    let fields = model.properties.map(field).joined(separator: ",\n")
    var members: [String] = [
      """
      nonisolated \(model.access)static var modelFields: [NanoStoreModels.ModelField<\(type)>] {
      \(model.isClass ? "typealias _$Model = \(type)\n" : "")return [
      \(fields)
      ]
      }
      """
    ]
    if let rule = model.expires {
      members.append(
        "nonisolated \(model.access)static var expirationRule: NanoStoreModels.ExpirationRule? { \(rule) }"
      )
    }
    return members
  }

  /// The members in the extension.
  var members: [String] {
    let access = model.access
    var members: [String] = [
      "\(access)static var collectionName: Swift.String { \(FieldText.literal(model.collectionName)) }",
      "\(access)static var modelVersion: Swift.Int { \(model.version) }",
    ]
    if model.namesCollection {
      members.append("\(access)static var _$namesCollection: Swift.Bool { true }")
    }
    if let key = model.key {
      members.append(
        """
        \(access)var documentKey: NanoStoreModels.DocumentKey? {
        get throws(NanoStoreModels.StoreError) {
        try NanoStoreModels.ModelCoding.key(self.\(key.name))
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
