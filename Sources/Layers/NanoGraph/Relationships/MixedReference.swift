// SPDX-License-Identifier: MIT

import NanoDocument

/// A stored reference to an object of any class: `{"collection":"Song","id":7}`.
struct MixedReference: FieldCodable, Equatable {
  let collection: String
  let id: Int64

  static func == (a: MixedReference, b: MixedReference) -> Bool {
    a.id == b.id && a.collection.hasSameBytes(as: b.collection)
  }

  init(_ object: any GraphObject) {
    collection = type(of: object).collectionName
    id = object.referenceID
  }

  init(reading reader: inout JSONReader) throws(StoreError) {
    var collection: String?
    var id: Int64?
    try reader.fields { (reader: inout JSONReader, name) throws(StoreError) in
      if name.matches("collection") {
        collection = try reader.string()
      } else if name.matches("id") {
        id = try reader.integer(as: Int64.self)
      } else {
        try reader.skipValue()
      }
    }
    guard let collection, let id else {
      throw StoreError(
        .typeMismatch, "A reference to an object has no collection or id",
        [.expected: "an object with the fields 'collection' and 'id'"])
    }
    self.collection = collection
    self.id = id
  }

  func write(to writer: inout JSONWriter) { write(to: &writer, isDocument: true) }

  func write(to writer: inout JSONWriter, isDocument: Bool) {
    guard writer.enter() else { return }
    writer.literal(#"{"collection":"#)
    writer.string(collection)
    writer.literal(#","id":"#)
    writer.reference(id, isDocument: isDocument)
    writer.literal("}")
    writer.leave()
  }

  /// Returns the object; nil if its class is not registered, which is reported like an object that
  /// cannot be loaded.
  func object(in context: ObjectContext) -> (any GraphObject)? {
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
