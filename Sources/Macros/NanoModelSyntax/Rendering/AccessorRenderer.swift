// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes how properties of objects are looked at and changed.
enum AccessorRenderer {
  private static let load = "if _$object.isFault { _$load() }"
  private static let tell = "if _$object.isWatched { _$willChange() }"

  // MARK: Values

  static func accessors(of property: StoredProperty) -> [AccessorDeclSyntax] {
    let place = property.place
    let value = property.type.isOptional ? place : "\(place)!"
    return [
      """
      @storageRestrictions(initializes: \(raw: place))
      init(initialValue) { \(raw: place) = initialValue }
      """,
      """
      get {
      \(raw: load)
      return \(raw: value)
      }
      """,
      """
      set {
      \(raw: tell)
      \(raw: place) = newValue
      }
      """,
      """
      _modify {
      \(raw: tell)
      yield &\(raw: value)
      }
      """,
    ]
  }

  static func storage(of property: StoredProperty) -> DeclSyntax {
    let type = property.type.text
    // A variable that is optional by a mark need not be given a value.
    let initial = property.isNilAtFirst && property.initialValue == nil ? " = nil" : ""
    let stored = property.type.isOptional ? type : "Swift.Optional<\(type)>"
    return "private var \(raw: property.place): \(raw: stored)\(raw: initial)"
  }

  // MARK: Relationships

  static func storage(of relationship: RelationshipDeclaration) -> DeclSyntax {
    let initial = relationship.isInverse || !relationship.isToMany ? " = .init()" : ""
    return
      "private var \(raw: relationship.place): \(raw: relationship.storage)\(raw: initial)"
  }

  static func accessors(of relationship: RelationshipDeclaration) -> [AccessorDeclSyntax] {
    if relationship.isInverse { return inverse(relationship) }
    let place = relationship.place
    let initializer: AccessorDeclSyntax = """
      @storageRestrictions(initializes: \(raw: place))
      init(initialValue) { \(raw: place) = \(raw: relationship.storage)(initialValue) }
      """
    return [initializer]
      + (relationship.isMixed
        ? mixed(relationship)
        : relationship.isToMany ? toMany(relationship) : toOne(relationship))
  }

  private static func toMany(_ relationship: RelationshipDeclaration) -> [AccessorDeclSyntax] {
    let place = relationship.place
    let (begin, end) = change(relationship, "\(place)._objects")
    return [
      """
      get {
      \(raw: load)
      return \(raw: place).objects(of: self)
      }
      """,
      """
      set {
      \(raw: tell)
      \(raw: begin)
      \(raw: end)
      \(raw: place)._objects = newValue
      }
      """,
      """
      _modify {
      \(raw: tell)
      \(raw: begin)
      \(raw: end)
      yield &\(raw: place)._objects
      }
      """,
    ]
  }

  private static func toOne(_ relationship: RelationshipDeclaration) -> [AccessorDeclSyntax] {
    let place = relationship.place
    let (begin, end) = change(relationship, "\(place)._object.map { [$0] } ?? []")
    return [
      """
      get {
      \(raw: load)
      return \(raw: place).object(of: self)
      }
      """,
      """
      set {
      \(raw: tell)
      \(raw: begin)
      \(raw: end)
      \(raw: place)._object = newValue
      }
      """,
    ]
  }

  /// Only where the other end is told does anyone need what was there before.
  private static func change(
    _ relationship: RelationshipDeclaration, _ after: String
  ) -> (begin: String, end: String) {
    let begin = "\(relationship.place).beginChange(of: self)"
    guard relationship.inverse != nil else { return (begin, "") }
    let name = FieldText.literal(relationship.name.trimmingBackticks)
    return (
      "let _$before = \(begin)",
      "defer { _$didChange(\(name), since: _$before, to: \(after)) }"
    )
  }

  private static func mixed(_ relationship: RelationshipDeclaration) -> [AccessorDeclSyntax] {
    let place = relationship.place
    let getter = relationship.isToMany ? "objects" : "object"
    return [
      """
      get {
      \(raw: load)
      return \(raw: place).\(raw: getter)(of: self, as: (\(raw: relationship.target)).self)
      }
      """,
      """
      set {
      \(raw: tell)
      \(raw: place).replace(with: newValue, of: self)
      }
      """,
    ]
  }

  private static func inverse(_ relationship: RelationshipDeclaration) -> [AccessorDeclSyntax] {
    let place = relationship.place
    let name = FieldText.literal(relationship.name.trimmingBackticks)
    let begin = "let _$before = \(place).beginChange(of: self, \(name))"
    let value = relationship.isToMany ? "_objects" : "_object"
    let after = relationship.isToMany ? "\(place)._objects" : "\(place)._object.map { [$0] } ?? []"
    let end = "defer { _$didChangeInverse(\(name), since: _$before, to: \(after)) }"
    let getter = relationship.isToMany ? "objects" : "object"
    var accessors: [AccessorDeclSyntax] = [
      "get { \(raw: place).\(raw: getter)(of: self, \(raw: name)) }",
      """
      set {
      \(raw: begin)
      \(raw: end)
      \(raw: place).\(raw: value) = newValue
      }
      """,
    ]
    if relationship.isToMany {
      accessors.append(
        """
        _modify {
        \(raw: begin)
        \(raw: end)
        yield &\(raw: place)._objects
        }
        """)
    }
    return accessors
  }
}
