// SPDX-License-Identifier: MIT

import NanoDocument

/// A stored reference to an object of any class: `{"collection":"Song","id":7}`, or `{"classID":3,"rowID":7}` if it was
/// imported from a store of BNRPersistence that had no class with this number.
struct MixedReference: FieldCodable, Equatable {
  /// The collection; empty if the class is unknown.
  let collection: String
  let id: Int64
  /// The number of an unknown class.
  private let classID: Int64?

  static func == (a: MixedReference, b: MixedReference) -> Bool {
    a.id == b.id && a.classID == b.classID && a.collection.hasSameBytes(as: b.collection)
  }

  init(_ object: any GraphObject) {
    collection = type(of: object).collectionName
    id = object.referenceID
    classID = nil
  }

  init(reading reader: inout JSONReader) throws(StoreError) {
    var collection: String?
    var id: Int64?
    var classID: Int64?
    var rowID: Int64?
    try reader.fields { (reader: inout JSONReader, name) throws(StoreError) in
      if name.matches("collection") {
        collection = try reader.string()
      } else if name.matches("id") {
        id = try reader.integer(as: Int64.self)
      } else if name.matches("classID") {
        classID = try reader.integer(as: Int64.self)
      } else if name.matches("rowID") {
        rowID = try reader.integer(as: Int64.self)
      } else {
        try reader.skipValue()
      }
    }
    if let classID, let rowID, collection == nil, id == nil {
      self.collection = ""
      self.id = rowID
      self.classID = classID
      return
    }
    guard let collection, let id else {
      throw StoreError(
        .typeMismatch, "A reference to an object has no collection or id",
        [.expected: "an object with the fields 'collection' and 'id'"])
    }
    self.collection = collection
    self.id = id
    self.classID = nil
  }

  func write(to writer: inout JSONWriter) { write(to: &writer, isDocument: true) }

  func write(to writer: inout JSONWriter, isDocument: Bool) {
    guard writer.enter() else { return }
    if let classID {
      writer.literal(#"{"classID":"#)
      writer.integer(classID)
      writer.literal(#","rowID":"#)
      writer.integer(id)
    } else {
      writer.literal(#"{"collection":"#)
      writer.string(collection)
      writer.literal(#","id":"#)
      writer.reference(id, isDocument: isDocument)
    }
    writer.literal("}")
    writer.leave()
  }

  /// Returns the object; nil if its class is not registered, which is reported like an object that
  /// cannot be loaded.
  func object(in context: ObjectContext) -> (any GraphObject)? {
    if let classID {
      context.didFailToLoad(
        AnyObjectID(collection: collection, rowID: id),
        StoreError(
          .notFound, "A relationship refers to a class that the imported store did not have",
          [.actual: "class \(classID)", .rowID: "\(id)"]))
      return nil
    }
    if let table = context.table(named: collection) { return table.anyObject(id) }
    context.didFailToLoad(
      AnyObjectID(collection: collection, rowID: id),
      StoreError(
        .notFound, "A relationship refers to a collection that belongs to no registered class",
        [
          .collection: collection, .rowID: "\(id)",
          .hint: "register the class with ObjectContext.register(_:)",
        ]))
    return nil
  }
}

/// The storage of a relationship to objects of any class.
protocol MixedRelationshipStorage {
  /// The references that are not resolved to objects.
  var unresolved: [MixedReference] { get }
}
