// SPDX-License-Identifier: MIT

/// Renders the accessors and storage of properties of objects.
enum AccessorRenderer {
  private static let willChange = "if _$object.isWatched { _$willChange() }"

  /// Returns code that loads the object if necessary, and reports the read.
  private static func willRead(_ path: String, _ function: String = "_$willRead") -> String {
    "if _$object.interceptsReads { \(function)(\\.\(path)) }"
  }

  /// Returns code around a change of a relationship, which notifies the observers of the relationship.
  private static func observed(_ storage: String) -> String {
    """
    let _$former = _$object.isObserved ? \(storage) : nil
    defer { if let _$former, !_$former.hasSameObjects(as: \(storage)) { _$notify(\\.\(storage)) } }
    """
  }

  // MARK: Values

  static func accessors(of property: StoredProperty) -> [String] {
    let storage = property.storageName
    let value = property.type.isOptional ? storage : "\(storage)!"
    // A key path of the storage would make the compiler check each access to it for exclusivity at run time.
    let path = property.name
    let willRead = willRead(path, property.isTransient ? "_$willReadUnstored" : "_$willRead")
    let willChange = property.isTransient ? "" : willChange
    return [
      """
      @storageRestrictions(initializes: \(storage))
      init(initialValue) { \(storage) = initialValue }
      """,
      """
      get {
      \(willRead)
      return \(value)
      }
      """,
      """
      set {
      \(willChange)
      let _$isSame = _$object.isObserved && NanoStoreModels.ModelCoding.isSame(\(storage), newValue)
      \(storage) = newValue
      if _$object.isObserved, !_$isSame { _$notify(\\.\(path)) }
      }
      """,
      """
      _modify {
      \(willChange)
      let _$former = _$object.isObserved ? \(storage) : nil
      defer {
      if _$object.isObserved, !NanoStoreModels.ModelCoding.isSame(\(storage), _$former) { _$notify(\\.\(path)) }
      }
      yield &\(value)
      }
      """,
    ]
  }

  static func storage(of property: StoredProperty) -> String {
    let type = property.type.text
    // A variable of an optional type is implicitly nil.
    let initial = property.isImplicitlyNil && property.initialValue == nil ? " = nil" : ""
    let stored = property.type.isOptional ? type : "Swift.Optional<\(type)>"
    return "private var \(property.storageName): \(stored)\(initial)"
  }

  // MARK: Relationships

  static func storage(of relationship: RelationshipDeclaration) -> String {
    let initial = relationship.isInverse || !relationship.isToMany ? " = .init()" : ""
    return
      "private var \(relationship.storageName): \(relationship.storage)\(initial)"
  }

  static func accessors(of relationship: RelationshipDeclaration) -> [String] {
    if relationship.isInverse { return inverse(relationship) }
    let storage = relationship.storageName
    let initializer: String = """
      @storageRestrictions(initializes: \(storage))
      init(initialValue) { \(storage) = \(relationship.storage)(initialValue) }
      """
    return [initializer]
      + (relationship.isMixed
        ? mixed(relationship)
        : relationship.isToMany ? toMany(relationship) : toOne(relationship))
  }

  private static func toMany(_ relationship: RelationshipDeclaration) -> [String] {
    let storage = relationship.storageName
    let (begin, end) = change(relationship, "\(storage)._objects")
    // Code that changes the objects in place may read the inverse, which reads this relationship. The copy costs nothing
    // more, because the objects before the change are kept for the inverse in any case.
    let copy =
      relationship.inverse == nil
      ? ""
      : """
      if _$object.isInContext {
      var _$objects = _$before
      defer { \(storage).endChange(_$objects, since: _$before) }
      yield &_$objects
      return
      }
      """
    let modify: String = """
      _modify {
      \(willChange)
      \(begin)
      \(observed(storage))
      \(end)
      \(copy)
      yield &\(storage)._objects
      }
      """
    return getterAndSetter(storage, "objects", begin, end) + [modify]
  }

  private static func toOne(_ relationship: RelationshipDeclaration) -> [String] {
    let storage = relationship.storageName
    let (begin, end) = change(relationship, "\(storage)._object.map { [$0] } ?? []")
    return getterAndSetter(storage, "object", begin, end)
  }

  /// - Parameter content: The name of what the storage holds: `objects` or `object`.
  private static func getterAndSetter(
    _ storage: String, _ content: String, _ begin: String, _ end: String
  ) -> [String] {
    [
      """
      get {
      \(willRead(storage))
      return \(storage).\(content)(of: self)
      }
      """,
      """
      set {
      \(willChange)
      \(begin)
      \(observed(storage))
      \(end)
      \(storage)._\(content) = newValue
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

  private static func mixed(_ relationship: RelationshipDeclaration) -> [String] {
    let storage = relationship.storageName
    let getter = relationship.isToMany ? "objects" : "object"
    return [
      """
      get {
      \(willRead(storage))
      return \(storage).\(getter)(of: self, as: (\(relationship.target)).self)
      }
      """,
      """
      set {
      \(willChange)
      \(observed(storage))
      \(storage).replace(with: newValue, of: self)
      }
      """,
    ]
  }

  private static func inverse(_ relationship: RelationshipDeclaration) -> [String] {
    let storage = relationship.storageName
    let name = FieldText.literal(relationship.name.trimmingBackticks)
    let begin = "let _$before = \(storage).beginChange(of: self, \(name))"
    let value = relationship.isToMany ? "_objects" : "_object"
    let after =
      relationship.isToMany ? "\(storage)._objects" : "\(storage)._object.map { [$0] } ?? []"
    let end = "defer { _$didChangeInverse(\(name), since: _$before, to: \(after)) }"
    let getter = relationship.isToMany ? "objects" : "object"
    var accessors: [String] = [
      """
      get {
      \(willRead(storage, "_$willReadUnstored"))
      return \(storage).\(getter)(of: self, \(name))
      }
      """,
      """
      set {
      \(begin)
      \(observed(storage))
      \(end)
      \(storage).\(value) = newValue
      }
      """,
    ]
    if relationship.isToMany {
      accessors.append(
        """
        _modify {
        \(begin)
        \(observed(storage))
        \(end)
        yield &\(storage)._objects
        }
        """)
    }
    return accessors
  }
}
