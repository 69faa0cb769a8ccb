// SPDX-License-Identifier: MIT

public import NanoDocument
package import NanoEngine

extension Document {
  /// Copies a document from the engine's bytes.
  @inline(__always)
  package init(_ stored: StoredDocument, in collection: String) {
    var collection = collection
    self = collection.withUTF8 { name in
      // Without a revision, another program wrote the row last.
      if stored.revision == nil {
        return Document(foreign: stored, in: UnsafeRawBufferPointer(name))
      }
      return Document(
        in: UnsafeRawBufferPointer(name), rowID: stored.rowID, key: stored.borrowedKey,
        type: stored.borrowedType, version: stored.version, added: stored.added,
        revision: stored.revision, copying: stored.body)
    }
  }

  /// Like ``init(_:in:)``, if possible in the storage of an earlier document of a scan.
  @inline(__always)
  init(
    _ stored: StoredDocument, in collection: UnsafeRawBufferPointer,
    reusing scratch: inout DocumentScratch
  ) {
    guard stored.revision != nil else {
      self.init(foreign: stored, in: collection)
      return
    }
    self.init(
      in: collection, rowID: stored.rowID, key: stored.borrowedKey, type: stored.borrowedType,
      version: stored.version, added: stored.added, revision: stored.revision,
      copying: stored.body, reusing: &scratch)
  }

  /// Copies a row that another program wrote last.
  private init(foreign stored: StoredDocument, in collection: UnsafeRawBufferPointer) {
    self.init(
      foreignIn: collection, rowID: stored.rowID, key: stored.borrowedKey,
      type: stored.borrowedType, version: stored.version, added: stored.added,
      isAltered: stored.isAltered, copying: stored.body)
  }

  /// Returns a value decoded from the fields.
  ///
  /// - Throws: `DecodingError` if the fields do not match the type.
  @_disfavoredOverload
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try withBytes { try DocumentDecoder().decode(type, from: $0) }
  }

  /// Returns a value decoded from the fields by the type's own codec.
  ///
  /// - Throws: The errors of the codec, with the field, the collection and the key: among others
  ///   ``StoreError/Code/typeMismatch`` if the fields do not match the type.
  public func decoded<Value: DocumentRepresentable>(as type: Value.Type = Value.self) throws
    -> Value
  {
    try withBytes { bytes in
      do throws(StoreError) {
        var reader = JSONReader(bytes)
        return try Value(reading: &reader)
      } catch {
        throw located(error, in: bytes)
      }
    }
  }

  private func located(_ error: StoreError, in body: UnsafeRawBufferPointer) -> StoreError {
    let header = header
    var located = error.withField(in: body)
    if let collection = header.collection { located = located.adding(.collection, collection) }
    if let key = header.key { located = located.adding(.key, key.description) }
    return located
  }
}
