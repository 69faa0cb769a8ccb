// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel

/// What an object is known by to every context, task and process.
///
/// ```swift
/// let id = song.objectID!                          // after the first save
/// Task.detached {
///   let song = try ObjectContext(store).get(id)    // another instance of the same song
/// }
/// ```
public struct ObjectID<Object: GraphObject>: Hashable, Sendable, Codable {
  /// The row id of the object's document.
  public let rowID: Int64

  /// The id of the object that the document with this row id holds.
  public init(rowID: Int64) { self.rowID = rowID }

  /// The collection that the object's document is in.
  public var collection: String { Object.collectionName }
}

/// What an object of any class is known by.
public struct AnyObjectID: Hashable, Sendable, Codable {
  /// The collection that the object's document is in.
  public let collection: String
  /// The row id of the document.
  public let rowID: Int64

  public init(collection: String, rowID: Int64) {
    self.collection = collection
    self.rowID = rowID
  }
  public init<Object>(_ id: ObjectID<Object>) {
    self.init(collection: Object.collectionName, rowID: id.rowID)
  }

  public static func == (a: AnyObjectID, b: AnyObjectID) -> Bool {
    a.rowID == b.rowID && a.collection.isSame(as: b.collection)
  }
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rowID)
    hasher.combine(ExactName(collection))
  }
}
