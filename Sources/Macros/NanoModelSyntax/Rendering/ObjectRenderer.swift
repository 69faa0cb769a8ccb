// SPDX-License-Identifier: MIT

/// Renders the members that a class has in addition to those of a struct: its state in a context, loading and
/// faulting, and relationships.
struct ObjectRenderer {
  private let model: ModelDeclaration
  private let type: String

  init(_ model: ModelDeclaration, _ type: String) {
    self.model = model
    self.type = type
  }

  /// The members that property accessors require, rendered if an error prevents generating the others, so that the
  /// accessors do not cause additional errors.
  static func placeholders(in type: String) -> [String] {
    [
      "private var _$object = NanoStoreModels.ObjectState()",
      "private init(_$fault: Swift.Void) { Swift.fatalError() }",
      "private func _$load() {}",
      "private func _$willChange() {}",
      "private func _$willRead(_ path: Swift.PartialKeyPath<\(type)>) {}",
      "private func _$willReadUnstored(_ path: Swift.PartialKeyPath<\(type)>) {}",
      "private func _$notify(_ path: Swift.PartialKeyPath<\(type)>) {}",
    ]
  }

  /// The members in the class itself.
  var members: [String] {
    let access = model.access
    let read = model.properties.enumerated().map { "self.\($1.storageName) = _$read.\($0)" }
    let empty = model.properties.map {
      "self.\($0.storageName) = \($0.relationship == nil ? "nil" : ".init()")"
    }
    return [
      // Accessed only briefly, by generated code and the context, but so often that dynamic exclusivity checking
      // would be measurable.
      "@exclusivity(unchecked) \(access)var _$object = NanoStoreModels.ObjectState()",
      """
      \(access)init(_$fault: Swift.Void) {
      \(empty.joined(separator: "\n"))
      }
      """,
      """
      \(access)func _$fill(_ _$reader: inout NanoStoreModels.JSONReader, _ _$key: NanoStoreModels.BorrowedKey) \
      throws(NanoStoreModels.StoreError) {
      let _$read = try Self._$read(&_$reader, _$key)
      if _$object.isObserved { return _$replace(with: _$read) }
      \(read.joined(separator: "\n"))
      self._$unknownFields = _$read.\(model.properties.count)
      }
      """,
      replacement,
      """
      \(access)func _$fillWithFirstValues() {
      \(model.properties.map(initialize).joined(separator: "\n"))
      guard _$object.isObserved else { return }
      \(model.properties.map { "_$notify(\\.\(Self.path(of: $0)))" }.joined(separator: "\n"))
      }
      """,
    ]
  }

  /// The function that replaces the content of an object with observers, who are notified of what is different once all
  /// of it is in place. Relationships to the same objects remain resolved.
  private var replacement: String {
    let names = model.properties.enumerated().map {
      (index: $0, storage: $1.storageName, property: $1)
    }
    let compare = names.map { index, storage, property in
      property.relationship == nil
        ? "NanoStoreModels.ModelCoding.isSame(self.\(storage), _$read.\(index))"
        : "self.\(storage).isSame(as: _$read.\(index))"
    }
    let assign = names.map { index, storage, property in
      let assignment = "self.\(storage) = _$read.\(index)"
      let willReplace = "_$willReplace(\\.\(storage))"
      return property.relationship == nil
        ? assignment : "if !_$isSame[\(index)] { \(willReplace); \(assignment) }"
    }
    let notify = names.filter { $0.property.relationship == nil }.map { index, _, property in
      "if !_$isSame[\(index)] { _$notify(\\.\(Self.path(of: property))) }"
    }
    return """
      @inline(never)
      private func _$replace(with _$read: \(ReaderRenderer(model).result)) {
      let _$isSame: [Swift.Bool] = [\(compare.joined(separator: ", "))]
      \(assign.joined(separator: "\n"))
      self._$unknownFields = _$read.\(model.properties.count)
      \(notify.joined(separator: "\n"))
      }
      """
  }

  /// The key path that observers of a property read: see `AccessorRenderer`.
  private static func path(of property: StoredProperty) -> String {
    property.relationship == nil ? property.name : property.storageName
  }

  private func initialize(_ property: StoredProperty) -> String {
    if property.relationship != nil { return "self.\(property.storageName) = .init()" }
    if case .value(let value) = property.absence {
      // The storage is optional, so `.none` without the cast would be nil instead of a case of the type.
      return "self.\(property.storageName) = \(value) as \(property.type.text)"
    }
    if property.type.isOptional { return "self.\(property.storageName) = nil" }
    return
      "self.\(property.storageName) = NanoStoreModels.ModelCoding.firstValue((\(property.type.text)).self)"
  }

  /// The members in the extension.
  var relationships: [String] {
    let stored = model.properties.compactMap(\.relationship)
    var members: [String] = []
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
  ) -> String {
    let items = relationships.map { relationship in
      let stored = properties.first { $0.relationship?.name == relationship.name }?.storedName
      var arguments = [
        FieldText.literal(stored ?? relationship.name.trimmingBackticks),
        "\\_$Model.\(relationship.storageName)",
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
      \(model.access)static var \(name): [NanoStoreModels.\(element)<\(type)>] {
      typealias _$Model = \(type)
      return [
      \(items.joined(separator: ",\n"))
      ]
      }
      """
  }
}
