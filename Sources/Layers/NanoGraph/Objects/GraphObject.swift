// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoModel
import NanoStoreCore
public import Observation

/// An object of a graph: an instance of a final class marked as a model.
///
/// ``Model(collection:version:expires:)`` generates the requirements. Create objects like any others; an
/// object belongs to a context once it is inserted there, fetched from it, or reached from another
/// object:
/// ```swift
/// @Model final class Song {
///   var title = ""
///   @Inverse var playlists: [Playlist]
/// }
/// @Model final class Playlist {
///   var title = ""
///   @Relationship(inverse: \Song.playlists) var songs: [Song] = []
/// }
/// let context = ObjectContext(store)
/// let road = try context.insert(Playlist(title: "Road"))
/// road.songs.append(Song(title: "Gin"))
/// try context.save()
/// ```
///
/// An object must be used where its context is used. To refer to it from another task, send its
/// ``ObjectID``.
public protocol GraphObject: Model, Observable, AnyObject {
  /// The state of the object in its context.
  var _$object: ObjectState { get set }
  /// The relationships that are stored in the object's document.
  static var _$relationships: [GraphRelationship<Self>] { get }
  /// The relationships of other classes that refer to this class.
  static var _$inverses: [GraphInverse<Self>] { get }

  // Redeclared for classes: setting it does not require a mutable reference.
  /// The fields of the document that the class does not declare.
  var _$unknownFields: UnknownFields { get set }
  /// Creates an object without content.
  init(_$fault: Void)
  /// Reads the content of a document, or of a snapshot of ``_$writeSnapshot(to:)`` if there is no
  /// key.
  func _$fill(_ reader: inout JSONReader, _ key: BorrowedKey) throws(StoreError)
  /// Sets all properties to placeholder values, for an object whose content is unavailable.
  func _$fillWithFirstValues()
  /// Writes all properties, including the key.
  func _$writeSnapshot(to writer: inout JSONWriter)

  /// Called once when the object is deleted from its context, after its delete rules were applied.
  ///
  /// Implement this method to delete or change other objects where rules are not sufficient. The
  /// default implementation does nothing.
  ///
  /// - Throws: Any error, to prevent the deletion.
  func prepareForDelete(in context: ObjectContext) throws
}

extension GraphObject {
  /// The default: no stored relationships.
  public static var _$relationships: [GraphRelationship<Self>] { [] }
  /// The default: no inverse relationships.
  public static var _$inverses: [GraphInverse<Self>] { [] }
  /// Does nothing.
  public func prepareForDelete(in context: ObjectContext) throws {}

  /// The context of the object; nil before it is inserted, and after its deletion is saved or its
  /// context is closed.
  public var context: ObjectContext? {
    guard let context = _$object.table?.context, !context.isSuccessor else { return nil }
    return _$object.flags.contains(.removed) ? nil : context
  }
  /// The object's identity across contexts and processes; nil until it is saved for the first time.
  public var objectID: ObjectID<Self>? {
    willRead(\.objectID)
    return _$object.rowID > 0 ? ObjectID(rowID: _$object.rowID) : nil
  }
  /// Whether the content is not loaded yet. Accessing a property loads it.
  public var isFault: Bool { _$object.isFault }
  /// Whether the object is deleted, saved or not.
  public var isDeleted: Bool {
    willRead(\.isDeleted)
    return _$object.isDeleted
  }
  /// Whether the object is new or changed, and not saved.
  public var hasChanges: Bool {
    willRead(\.hasChanges)
    return _$object.flags.hasChanges
  }

  /// Loads the content if it is not loaded yet.
  ///
  /// Properties load the content automatically, but cannot throw: if loading fails, they have
  /// placeholder values, and ``ObjectContext/loadFailureHandler`` is called. Such an object is
  /// never saved; if it was changed, the next save throws an ``ObjectConflictError``. The placeholder
  /// is the initial value, or else an empty value or the first case of a `CaseIterable` enum. To read
  /// a property of another type without an initial value then stops the program.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the document was deleted in the meantime,
  ///   ``StoreError/Code/typeMismatch`` and others.
  public func load() throws {
    guard let table = _$object.table else {
      guard isFault else { return }
      throw StoreError(
        .closed, "An object without content no longer has a context",
        [.collection: Self.collectionName])
    }
    try table.loadContent(of: self)
  }

  /// Loads the content. Called by generated property accessors.
  public func _$load() {
    guard let table = _$object.table else {
      _$object.flags.remove(.fault)
      _$object.flags.insert(.failed)
      return _$fillWithFirstValues()
    }
    table.loadOrFail(self)
  }

  /// Notifies the context before a change. Called by generated property accessors while the object
  /// is watched.
  public func _$willChange() {
    if let table = _$object.table { return table.willChange(self) }
    if isFault { _$load() }
  }
}
