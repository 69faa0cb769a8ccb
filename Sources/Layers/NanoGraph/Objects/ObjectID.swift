// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel

/// The identity of an object, valid in every context, task and process.
///
/// ```swift
/// let id = song.objectID!                          // after the first save
/// Task.detached {
///   let song = try ObjectContext(store).get(id)    // a different instance of the same song
/// }
/// ```
public struct ObjectID<Object: GraphObject>: Hashable, Sendable, Codable {
  /// The row ID of the object's document.
  public let rowID: Int64

  /// Creates the id of the object whose document has this row ID.
  public init(rowID: Int64) { self.rowID = rowID }

  /// The collection of the object's document.
  public var collection: String { Object.collectionName }
}

/// The identity of an object of any class.
public struct AnyObjectID: Hashable, Sendable, Codable {
  /// The collection of the object's document.
  public let collection: String
  /// The row ID of the object's document.
  public let rowID: Int64

  /// Creates an id from a collection and a row ID.
  public init(collection: String, rowID: Int64) {
    self.collection = collection
    self.rowID = rowID
  }
  /// Creates an id from the id of an object of a specific class.
  public init<Object>(_ id: ObjectID<Object>) {
    self.init(collection: Object.collectionName, rowID: id.rowID)
  }

  public static func == (a: AnyObjectID, b: AnyObjectID) -> Bool {
    a.rowID == b.rowID && a.collection.hasSameBytes(as: b.collection)
  }
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rowID)
    hasher.combine(ExactName(collection))
  }
}
