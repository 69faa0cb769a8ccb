// SPDX-License-Identifier: MIT

package import NanoDocument

/// Errors for documents and definitions that conflict with existing ones. Engines share them, so that a
/// failure has the same text and details on every engine.
extension StoreError {
  package static func duplicateKey(_ key: DocumentKey?, in collection: String) -> StoreError {
    StoreError(
      .duplicateKey, "A document with this key already exists",
      [.collection: collection, .key: key?.description ?? ""])
  }

  package static func duplicateRowID(_ id: Int64, in collection: String) -> StoreError {
    StoreError(
      .duplicateKey, "A document with this row ID already exists",
      [.collection: collection, .rowID: "\(id)"])
  }

  /// - Parameter holder: The document that has the value, if it is known.
  package static func uniqueViolation(
    of index: String, in collection: String, by holder: (rowID: Int64, key: String?)?
  ) -> StoreError {
    var error = StoreError(
      .uniqueViolation, "A unique index already has this value",
      [.collection: collection, .index: index])
    if let holder {
      error = error.adding(.rowID, "\(holder.rowID)")
      if let key = holder.key { error = error.adding(.key, key) }
    }
    return error
  }

  /// The error for an index whose name belongs to an index with another definition.
  package static func indexExists(_ index: String, in collection: String) -> StoreError {
    StoreError(
      .alreadyExists, "An index with this name has a different definition",
      [.collection: collection, .index: index])
  }

  /// The error for an index on elements whose path has a position.
  package static func elementByPosition(_ path: FieldPath, index: String) -> StoreError {
    StoreError(
      .unsupported, "An index on elements cannot address an element by position",
      [.index: index, .field: path.description, .hint: "quote a name that consists of digits"])
  }

  /// The error for an index whose name belongs to a full-text index.
  package static func fullTextIndexExists(_ index: String, in collection: String) -> StoreError {
    StoreError(
      .alreadyExists, "A full-text index has this name",
      [.collection: collection, .index: index])
  }

  /// The error for a collection that exists with another identity.
  package static func collectionExists(_ existing: CollectionDescription) -> StoreError {
    StoreError(
      .alreadyExists, "A collection with this name has a different identity",
      [.collection: existing.name, .actual: existing.identity.rawValue])
  }

  /// The error for a collection whose name belongs to a table of another program.
  package static func tableExists(_ name: String) -> StoreError {
    StoreError(
      .invalidName, "A table with this name exists and is not a collection", [.collection: name])
  }

  /// Whether the error means that a document was rejected, and nothing of it is stored. After other errors it may be: a
  /// trigger of another program can raise one and keep it.
  package var isRejection: Bool {
    [.duplicateKey, .uniqueViolation, .documentTooLarge].contains(code)
  }
}
