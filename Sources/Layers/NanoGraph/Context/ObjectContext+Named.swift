// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoStoreCore

/// Values and objects that are kept under a name, such as a favourite or the state of a window.
///
/// They are stored by the next save together with all other changes, beside the collections, where
/// ``Store/metadata(_:)-(String)`` finds them. Undoing leaves them as they are.
extension ObjectContext {
  /// The value of this name, as the next save would store it; nil if there is none.
  public func value(named name: String) throws -> DocumentValue? {
    switch namedChanges[ExactName(name)] {
    case nil: try store.metadata(name)
    case .value(let value): value
    case .object(let object): Self.reference(to: object)
    }
  }

  /// Keeps a value under a name; nil removes the entry.
  public func setValue(_ value: DocumentValue?, named name: String) {
    namedChanges[ExactName(name)] = .value(value)
  }

  /// The object that is kept under this name; nil if there is none, or it was deleted.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if something else is kept there.
  public func object<Object: GraphObject>(
    named name: String, as type: Object.Type = Object.self
  ) throws -> Object? {
    if case .object(let object) = namedChanges[ExactName(name)] {
      guard let found = object as? Object else { throw Self.notAnObject(type) }
      return found.isDeleted ? nil : found
    }
    guard let value = try value(named: name) else { return nil }
    guard value.object?["collection"]?.string == type.collectionName,
      let id = value.object?["id"]?.int64
    else {
      throw Self.notAnObject(type)
    }
    return try get(ObjectID<Object>(rowID: id))
  }

  /// Keeps an object under a name, also a new one, which is inserted.
  ///
  /// ```swift
  /// try context.setObject(song, named: "Favorite")
  /// try context.save()
  /// try context.object(named: "Favorite", as: Song.self)?.title
  /// ```
  ///
  /// - Throws: As ``insert(_:)``.
  public func setObject(_ object: some GraphObject, named name: String) throws {
    namedChanges[ExactName(name)] = .object(try insert(object))
  }

  /// The names under which something is kept, as the next save would store it.
  public func names() throws -> [String] {
    var names = Set(try store.metadataNames().map { ExactName($0) })
    for (name, change) in namedChanges {
      if case .value(nil) = change { names.remove(name) } else { names.insert(name) }
    }
    return names.sorted().map(\.text)
  }

  func writeNamed() throws {
    for (name, change) in namedChanges.sorted(by: { $0.key < $1.key }) {
      switch change {
      case .value(let value): try store.setMetadata(value, name.text)
      case .object(let object):
        try store.setMetadata(object.isDeleted ? nil : Self.reference(to: object), name.text)
      }
    }
  }

  private static func reference(to object: any GraphObject) -> DocumentValue {
    [
      "collection": .string(type(of: object).collectionName), "id": .int(object._$object.rowID),
    ]
  }

  private static func notAnObject(_ type: any GraphObject.Type) -> StoreError {
    StoreError(
      .typeMismatch, "What is kept under a name is no object of the class",
      [.expected: type.collectionName])
  }
}

/// What is to be kept under a name.
enum NamedChange {
  case value(DocumentValue?)
  case object(any GraphObject)
}
