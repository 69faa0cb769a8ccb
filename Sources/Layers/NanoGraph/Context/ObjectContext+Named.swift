// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoStoreCore

/// Values and objects stored under a name, such as a favorite or the state of a window.
///
/// The next save stores them together with all other changes as metadata of the store, where
/// ``Store/metadata(_:)-(String)`` reads them. Undo does not affect them.
extension ObjectContext {
  /// Returns the value with this name, including unsaved changes, or nil if there is none.
  public func value(named name: String) throws -> DocumentValue? {
    if let change = namedChanges[ExactName(name)] { return change.value }
    return try store.metadata(name)
  }

  /// Sets the value with this name; nil and a null value remove it, as in
  /// ``Store/setMetadata(_:_:)-(_,String)``.
  public func setValue(_ value: DocumentValue?, named name: String) {
    namedChanges[ExactName(name)] = .value(value == .null ? nil : value)
    noteStatus()
  }

  /// Returns the object with this name, or nil if there is none or it was deleted.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if the name refers to a different value.
  public func object<Object: GraphObject>(
    named name: String, as type: Object.Type = Object.self
  ) throws -> Object? {
    if case .object(let object) = namedChanges[ExactName(name)] {
      guard let found = object as? Object else { throw Self.notAnObject(type) }
      return found._$object.isDeleted ? nil : found
    }
    guard let value = try value(named: name) else { return nil }
    guard value.object?["collection"]?.string == type.collectionName,
      let id = value.object?["id"]?.int64
    else {
      throw Self.notAnObject(type)
    }
    return try get(ObjectID<Object>(rowID: id))
  }

  /// Stores a reference to an object under a name. A new object is inserted.
  ///
  /// ```swift
  /// try context.setObject(song, named: "Favorite")
  /// try context.save()
  /// try context.object(named: "Favorite", as: Song.self)?.title
  /// ```
  ///
  /// - Throws: The errors of ``insert(_:)``.
  public func setObject(_ object: some GraphObject, named name: String) throws {
    namedChanges[ExactName(name)] = .object(try insert(object))
    noteStatus()
  }

  /// Returns the names of all values and objects, including unsaved changes.
  public func names() throws -> [String] {
    var names = Set(try store.metadataNames().map { ExactName($0) })
    for (name, change) in namedChanges {
      if change.value == nil { names.remove(name) } else { names.insert(name) }
    }
    return names.sorted().map(\.text)
  }

  func writeNamed() throws {
    for (name, change) in namedChanges.sorted(by: { $0.key < $1.key }) {
      try store.setMetadata(change.value, name.text)
    }
  }

  private static func notAnObject(_ type: any GraphObject.Type) -> StoreError {
    StoreError(
      .typeMismatch, "The value with this name is not an object of the class",
      [.expected: type.collectionName])
  }
}

/// An unsaved change of a named value.
enum NamedChange {
  case value(DocumentValue?)
  case object(any GraphObject)

  /// The value to store; nil if the value is removed, or the object deleted.
  var value: DocumentValue? {
    switch self {
    case .value(let value): value
    case .object(let object) where object._$object.isDeleted: nil
    case .object(let object):
      [
        "collection": .string(type(of: object).collectionName), "id": .int(object._$object.rowID),
      ]
    }
  }
}
