// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoModel
import NanoStoreCore

/// An object of a graph: an instance of a final class that is a model.
///
/// ``Model(collection:version:)`` writes everything that is asked for here. An object is made as any other,
/// and belongs to a context once it is inserted there, fetched from there, or reached from another object:
///
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
/// Objects stay where their context is used; what crosses to another task is their ``ObjectID``.
public protocol GraphObject: Model, AnyObject {
  /// Its place in a context.
  var _$object: ObjectState { get set }
  /// The relationships that are kept in its document.
  static var _$relationships: [GraphRelationship<Self>] { get }
  /// The relationships that other classes keep.
  static var _$inverses: [GraphInverse<Self>] { get }

  // Stated again, since here a change of it is none of the reference.
  var _$unknownFields: UnknownFields { get set }
  /// One without content.
  init(_$fault: Void)
  /// Reads the content of a document, or of what ``_$writeSnapshot(to:)`` wrote if the key is none.
  func _$fill(_ reader: inout JSONReader, _ key: BorrowedKey) throws(StoreError)
  /// Gives every property its first value, where there is no content to be had.
  func _$fillWithFirstValues()
  /// Writes all properties, the key among them.
  func _$writeSnapshot(to writer: inout JSONWriter)

  /// Called once when the object is deleted from its context, after its delete rules were followed: the place to
  /// delete or change others where rules are not enough. Does nothing unless written.
  ///
  /// - Throws: What keeps the object from being deleted.
  func prepareForDelete(in context: ObjectContext) throws
}

extension GraphObject {
  public static var _$relationships: [GraphRelationship<Self>] { [] }
  public static var _$inverses: [GraphInverse<Self>] { [] }
  public func prepareForDelete(in context: ObjectContext) throws {}

  /// The context that the object belongs to; nil before it is inserted, and after it was deleted or its context
  /// was closed.
  public var context: ObjectContext? {
    guard let context = _$object.table?.context, !context.isOutlived else { return nil }
    return _$object.flags.contains(.removed) ? nil : context
  }
  /// What the object is known by to everyone; nil until it is saved for the first time.
  public var objectID: ObjectID<Self>? {
    _$object.rowID > 0 ? ObjectID(rowID: _$object.rowID) : nil
  }
  /// Whether the content is not loaded yet. Touching any property loads it.
  public var isFault: Bool { _$object.isFault }
  /// Whether it was deleted, be that saved or not.
  @inlinable
  public var isDeleted: Bool { _$object.flags.contains(.deleted) }
  /// Whether it is new or changed, and not saved.
  public var hasChanges: Bool {
    !isDeleted && !_$object.flags.isDisjoint(with: [.inserted, .changed])
  }

  /// Loads the content if that has not happened yet, and says what is wrong if it cannot be loaded.
  ///
  /// Properties do so by themselves, but cannot throw: an object whose content cannot be loaded has first
  /// values, and ``ObjectContext/loadFailureHandler`` is called. It is never saved; if it was changed, saving
  /// throws an ``ObjectConflictError``.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the document was deleted meanwhile,
  ///   ``StoreError/Code/typeMismatch`` and others.
  public func load() throws {
    guard let table = _$object.table else {
      guard isFault else { return }
      throw StoreError(
        .closed, "An object without content has lost its context",
        [.collection: Self.collectionName])
    }
    try table.loadContent(of: self)
  }

  /// Called by properties of an object whose content is not loaded.
  public func _$load() {
    guard let table = _$object.table else {
      _$object.flags.remove(.fault)
      _$object.flags.insert(.failed)
      return _$fillWithFirstValues()
    }
    table.loadOrFail(self)
  }

  /// Called by properties before they change, as long as the context wants to know.
  public func _$willChange() { _$object.table?.willChange(self) }
}
