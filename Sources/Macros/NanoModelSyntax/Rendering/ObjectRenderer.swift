// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes what a class has beyond a struct: its place in a context, how its content comes and goes, and its
/// relationships.
struct ObjectRenderer {
  private let model: ModelDeclaration
  private let type: String

  init(_ model: ModelDeclaration, _ type: String) {
    self.model = model
    self.type = type
  }

  /// What properties of a class ask for, where an error keeps all else from being written: they cause no errors of
  /// their own then.
  static var placeholders: [DeclSyntax] {
    [
      "private var _$object = NanoStoreModels.ObjectState()",
      "private init(_$fault: Swift.Void) { Swift.fatalError() }",
      "private func _$load() {}",
      "private func _$willChange() {}",
    ]
  }

  /// Members of the class itself.
  var members: [DeclSyntax] {
    let access = model.access
    let read = model.properties.enumerated().map { "self.\($1.place) = _$read.\($0)" }
    let nothing = model.properties.map {
      "self.\($0.place) = \($0.relationship == nil ? "nil" : ".init()")"
    }
    return [
      // Looked at in passing only, by what is written here and by the context, and so often that checking for
      // overlapping accesses would be felt.
      "@exclusivity(unchecked) \(raw: access)var _$object = NanoStoreModels.ObjectState()",
      """
      \(raw: access)init(_$fault: Swift.Void) {
      \(raw: nothing.joined(separator: "\n"))
      }
      """,
      """
      \(raw: access)func _$fill(_ _$reader: inout NanoStoreModels.JSONReader, _ _$key: NanoStoreModels.BorrowedKey) \
      throws(NanoStoreModels.StoreError) {
      let _$read = try Self._$read(&_$reader, _$key)
      \(raw: read.joined(separator: "\n"))
      self._$unknownFields = _$read.\(raw: model.properties.count)
      }
      """,
      """
      \(raw: access)func _$fillWithFirstValues() {
      \(raw: model.properties.map(firstValue).joined(separator: "\n"))
      }
      """,
    ]
  }

  private func firstValue(_ property: StoredProperty) -> String {
    if property.relationship != nil { return "self.\(property.place) = .init()" }
    if case .value(let value) = property.absence {
      // The place is an optional, in which `.none` would be nil and not a case of the type.
      return "self.\(property.place) = \(value) as \(property.type.text)"
    }
    if property.type.isOptional { return "self.\(property.place) = nil" }
    return "self.\(property.place) = NanoStoreModels.ModelCoding.firstValue()"
  }

  /// Members of the extension.
  var relationships: [DeclSyntax] {
    let stored = model.properties.compactMap(\.relationship)
    var members: [DeclSyntax] = []
    if !stored.isEmpty {
      members.append(list("_$relationships", "GraphRelationship", stored, model.properties))
    }
    if !model.inverses.isEmpty {
      members.append(list("_$inverses", "GraphInverse", model.inverses, []))
    }
    return members
  }

  private func list(
    _ name: String, _ element: String, _ relationships: [RelationshipDeclaration],
    _ properties: [StoredProperty]
  ) -> DeclSyntax {
    let items = relationships.map { relationship in
      let stored = properties.first { $0.relationship?.name == relationship.name }?.storedName
      var arguments = [
        FieldText.literal(stored ?? relationship.name.trimmingBackticks),
        "\\_$Model.\(relationship.place)",
      ]
      if let stored, stored != relationship.name.trimmingBackticks {
        arguments.append("property: \(FieldText.literal(relationship.name.trimmingBackticks))")
      }
      if let inverse = relationship.inverse {
        arguments.append("inverse: \(FieldText.literal(inverse))")
      }
      if let rule = relationship.rule { arguments.append("delete: \(rule)") }
      return "NanoStoreModels.\(element)(\(arguments.joined(separator: ", ")))"
    }
    return """
      \(raw: model.access)static var \(raw: name): [NanoStoreModels.\(raw: element)<\(raw: type)>] {
      typealias _$Model = \(raw: type)
      return [
      \(raw: items.joined(separator: ",\n"))
      ]
      }
      """
  }
}
