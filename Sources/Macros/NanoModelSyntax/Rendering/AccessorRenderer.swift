// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder

/// Renders the accessors and storage of properties of objects.
enum AccessorRenderer {
  private static let load = "if _$object.isFault { _$load() }"
  private static let notify = "if _$object.isWatched { _$willChange() }"

  // MARK: Values

  static func accessors(of property: StoredProperty) -> [AccessorDeclSyntax] {
    let storage = property.storageName
    let value = property.type.isOptional ? storage : "\(storage)!"
    return [
      """
      @storageRestrictions(initializes: \(raw: storage))
      init(initialValue) { \(raw: storage) = initialValue }
      """,
      """
      get {
      \(raw: load)
      return \(raw: value)
      }
      """,
      """
      set {
      \(raw: notify)
      \(raw: storage) = newValue
      }
      """,
      """
      _modify {
      \(raw: notify)
      yield &\(raw: value)
      }
      """,
    ]
  }

  static func storage(of property: StoredProperty) -> DeclSyntax {
    let type = property.type.text
    // A variable of an optional type is implicitly nil.
    let initial = property.isImplicitlyNil && property.initialValue == nil ? " = nil" : ""
    let stored = property.type.isOptional ? type : "Swift.Optional<\(type)>"
    return "private var \(raw: property.storageName): \(raw: stored)\(raw: initial)"
  }

  // MARK: Relationships

  static func storage(of relationship: RelationshipDeclaration) -> DeclSyntax {
    let initial = relationship.isInverse || !relationship.isToMany ? " = .init()" : ""
    return
      "private var \(raw: relationship.storageName): \(raw: relationship.storage)\(raw: initial)"
  }

  static func accessors(of relationship: RelationshipDeclaration) -> [AccessorDeclSyntax] {
    if relationship.isInverse { return inverse(relationship) }
    let storage = relationship.storageName
    let initializer: AccessorDeclSyntax = """
      @storageRestrictions(initializes: \(raw: storage))
      init(initialValue) { \(raw: storage) = \(raw: relationship.storage)(initialValue) }
      """
    return [initializer]
      + (relationship.isMixed
        ? mixed(relationship)
        : relationship.isToMany ? toMany(relationship) : toOne(relationship))
  }

  private static func toMany(_ relationship: RelationshipDeclaration) -> [AccessorDeclSyntax] {
    let storage = relationship.storageName
    let (begin, end) = change(relationship, "\(storage)._objects")
    let modify: AccessorDeclSyntax = """
      _modify {
      \(raw: notify)
      \(raw: begin)
      \(raw: end)
      yield &\(raw: storage)._objects
      }
      """
    return getterAndSetter(storage, "objects", begin, end) + [modify]
  }

  private static func toOne(_ relationship: RelationshipDeclaration) -> [AccessorDeclSyntax] {
    let storage = relationship.storageName
    let (begin, end) = change(relationship, "\(storage)._object.map { [$0] } ?? []")
    return getterAndSetter(storage, "object", begin, end)
  }

  /// - Parameter content: The name of what the storage holds: `objects` or `object`.
  private static func getterAndSetter(
    _ storage: String, _ content: String, _ begin: String, _ end: String
  ) -> [AccessorDeclSyntax] {
    [
      """
      get {
      \(raw: load)
      return \(raw: storage).\(raw: content)(of: self)
      }
      """,
      """
      set {
      \(raw: notify)
      \(raw: begin)
      \(raw: end)
      \(raw: storage)._\(raw: content) = newValue
      }
      """,
    ]
  }

  /// Returns the code around a change; the previous value is needed only if there is an inverse to update.
  private static func change(
    _ relationship: RelationshipDeclaration, _ after: String
  ) -> (begin: String, end: String) {
    let begin = "\(relationship.storageName).beginChange(of: self)"
    guard relationship.inverse != nil else { return (begin, "") }
    let name = FieldText.literal(relationship.name.trimmingBackticks)
    return (
      "let _$before = \(begin)",
      "defer { _$didChange(\(name), since: _$before, to: \(after)) }"
    )
  }

  private static func mixed(_ relationship: RelationshipDeclaration) -> [AccessorDeclSyntax] {
    let storage = relationship.storageName
    let getter = relationship.isToMany ? "objects" : "object"
    return [
      """
      get {
      \(raw: load)
      return \(raw: storage).\(raw: getter)(of: self, as: (\(raw: relationship.target)).self)
      }
      """,
      """
      set {
      \(raw: notify)
      \(raw: storage).replace(with: newValue, of: self)
      }
      """,
    ]
  }

  private static func inverse(_ relationship: RelationshipDeclaration) -> [AccessorDeclSyntax] {
    let storage = relationship.storageName
    let name = FieldText.literal(relationship.name.trimmingBackticks)
    let begin = "let _$before = \(storage).beginChange(of: self, \(name))"
    let value = relationship.isToMany ? "_objects" : "_object"
    let after =
      relationship.isToMany ? "\(storage)._objects" : "\(storage)._object.map { [$0] } ?? []"
    let end = "defer { _$didChangeInverse(\(name), since: _$before, to: \(after)) }"
    let getter = relationship.isToMany ? "objects" : "object"
    var accessors: [AccessorDeclSyntax] = [
      "get { \(raw: storage).\(raw: getter)(of: self, \(raw: name)) }",
      """
      set {
      \(raw: begin)
      \(raw: end)
      \(raw: storage).\(raw: value) = newValue
      }
      """,
    ]
    if relationship.isToMany {
      accessors.append(
        """
        _modify {
        \(raw: begin)
        \(raw: end)
        yield &\(raw: storage)._objects
        }
        """)
    }
    return accessors
  }
}
