// SPDX-License-Identifier: MIT

public import Foundation

// @unchecked: the contents of `storage` are immutable, and `edits` is changed only while uniquely
// referenced.
/// A document: its fields and its metadata.
///
/// A document read from a store keeps its encoded bytes and decodes a field on access, so that reading
/// two fields does not parse the others. It is a value: changing it affects no copy, and nothing in the
/// store until it is saved.
///
/// ```swift
/// var ada = try people.get("ada")!
/// ada["Address.City"]            // "London"
/// ada["born"] = 1815
/// try people.save(ada)
/// ```
public struct Document: @unchecked Sendable {
  private var storage: DocumentStorage
  private var edits: Edits?

  private final class Edits {
    var object: DocumentObject
    /// The error from decoding the stored fields, thrown when the whole document is used.
    var failure: StoreError?
    init(_ object: DocumentObject, _ failure: StoreError?) {
      self.object = object
      self.failure = failure
    }
  }

  /// Creates a document that is not in a store yet.
  ///
  /// A top-level field `__rowid__` is not stored as a field: if it is an integer, it becomes the row
  /// ID, so that saving the document can replace the stored document with that ID.
  ///
  /// - Throws: ``StoreError/Code/invalidKey``.
  public init(_ object: DocumentObject = [:], key: String? = nil, type: String? = nil)
    throws(StoreError)
  {
    storage = DocumentStorage.make(
      Header(
        rowID: object[DocumentObject.rowIDName]?.int64,
        key: try key.map { (key) throws(StoreError) in try DocumentKey(key) }, type: type),
      UnsafeRawBufferPointer(start: nil, count: 0))
    edits = Edits(object.withoutRowID, nil)
  }

  /// Creates a document by copying a store's bytes, which must be in stored form.
  @inline(__always)
  package init(_ header: Header, copying bytes: UnsafeRawBufferPointer) {
    storage = DocumentStorage.make(header, bytes)
  }

  /// Creates a document by copying an engine's row. The borrowed buffers need to be valid only during
  /// the call.
  ///
  /// - Parameters:
  ///   - collection: The collection's name in UTF-8.
  ///   - type: The type name in UTF-8; `nil` for the collection's default type.
  ///   - body: The fields in stored form.
  package init(
    in collection: UnsafeRawBufferPointer, rowID: Int64, key: BorrowedKey,
    type: UnsafeRawBufferPointer?,
    version: Int64?, added: Int64?, revision: Int64?, copying body: UnsafeRawBufferPointer
  ) {
    storage = DocumentStorage.make(
      collection: collection, rowID: rowID, key: key, type: type, version: version, added: added,
      revision: revision, body: body)
  }

  /// Creates a document by copying an engine's row, if possible into the storage of an earlier document that no longer
  /// exists.
  @inline(__always)
  package init(
    in collection: UnsafeRawBufferPointer, rowID: Int64, key: BorrowedKey,
    type: UnsafeRawBufferPointer?, version: Int64?, added: Int64?, revision: Int64?,
    copying body: UnsafeRawBufferPointer, reusing scratch: inout DocumentScratch
  ) {
    storage = DocumentStorage.make(
      collection: collection, rowID: rowID, key: key, type: type, version: version, added: added,
      revision: revision, body: body, reusing: { scratch.take($0) })
  }

  /// Lets the next document of a scan use the storage, unless the program has kept this one.
  @inline(__always)
  package consuming func recycle(into scratch: inout DocumentScratch) { scratch.put(storage) }

  /// Creates a document by copying a row that another program wrote.
  ///
  /// - Parameter isAltered: Whether the row contains values that the other parameters cannot represent.
  ///   Such a document cannot be written elsewhere.
  package init(
    foreignIn collection: UnsafeRawBufferPointer, rowID: Int64, key: BorrowedKey,
    type: UnsafeRawBufferPointer?, version: Int64?, added: Int64?, isAltered: Bool,
    copying body: UnsafeRawBufferPointer
  ) {
    storage = DocumentStorage.make(
      collection: collection, rowID: rowID, key: key, type: type, version: version, added: added,
      revision: nil, isForeign: true, isAltered: isAltered, body: body)
  }

  /// The metadata of a document.
  package struct Header: Sendable {
    /// The collection that the document was read from or written to.
    package var collection: String?
    /// The row ID, the document's integer identity.
    package var rowID: Int64?
    /// The key, the document's text identity.
    package var key: DocumentKey?
    /// The class name, or `nil` for the collection's default type.
    package var type: String?
    /// The version of the class, or `nil` for the first version.
    package var version: Int64?
    /// The time of the first save, in microseconds since 1970.
    package var added: Int64?
    /// The revision, which increases with each write of the document.
    ///
    /// It starts at 1, or at any number if another program wrote the document in between. It is `nil`
    /// if another program wrote the document last, and after a save that did not read it.
    package var revision: Int64?
    /// Whether the document contains only selected fields.
    package var isPartial: Bool

    /// Creates document metadata.
    @inlinable
    package init(
      collection: String? = nil, rowID: Int64? = nil, key: DocumentKey? = nil, type: String? = nil,
      version: Int64? = nil,
      added: Int64? = nil, revision: Int64? = nil, isPartial: Bool = false
    ) {
      self.collection = collection
      self.rowID = rowID
      self.key = key
      self.type = type
      self.version = version
      self.added = added
      self.revision = revision
      self.isPartial = isPartial
    }
  }
}

extension Document {
  /// All metadata of the document.
  package var header: Header { storage.metadata }
  /// The name of the collection that the document comes from, or `nil` for a new document.
  public var collection: String? { storage.collection }
  /// The key, or `nil` for a new document without one and in collections identified by row ID.
  public var key: String? { storage.key?.description }
  /// The row ID, or `nil` for a document that is not in a store.
  public var rowID: Int64? { storage.rowID }
  /// The class name that the document was stored with, or `nil` for the collection's default type.
  public var type: String? { storage.type }
  /// The version of the class, or `nil` for the first version.
  public var version: Int64? { storage.version }
  /// The time when the document was first stored, with microsecond precision.
  public var added: Date? {
    storage.added.map { Date(microsecondsSince1970: $0) }
  }
  /// The revision, which increases with each write.
  ///
  /// It starts at 1, or at any number if another program wrote the document in between. It is `nil` if
  /// another program wrote the document last, and after a save that did not read it.
  public var revision: Int64? { storage.revision }
  /// Whether the document contains only selected fields, so that it cannot replace the whole document.
  public var isPartial: Bool { storage.isPartial }
  /// Whether the document differs from the stored one: it is new, or fields were changed after it was
  /// read or saved.
  ///
  /// A document whose save is queued but not written yet also has unsaved changes.
  public var hasUnsavedChanges: Bool { isEdited || rowID == nil }
  /// Whether fields were changed after the document was read, or it is new.
  package var isEdited: Bool { edits != nil }

  /// Returns all fields.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if the stored bytes do not decode, or the error of a
  ///   field that could not be set.
  public func object() throws(StoreError) -> DocumentObject {
    if let edits {
      if let failure = edits.failure { throw failure }
      return edits.object
    }
    return try storage.object()
  }

  /// The value at a path, or `nil` if there is none. Array elements are accessed only by index.
  ///
  /// Setting `nil` removes the field. Missing objects along the path are created. `__rowid__` is always
  /// the actual ``rowID``, even if the document has a field of this name, and cannot be set.
  ///
  /// A field that cannot be set, such as one inside a string, is reported when the document is used as
  /// a whole, for example by ``object()`` or a save.
  public subscript(path: FieldPath) -> DocumentValue? {
    get {
      if path.components.count == 1, path.components[0] == DocumentObject.rowIDName {
        return rowID.map { .int($0) }
      }
      return edits.map { DocumentValue.object($0.object)[path] } ?? storage.value(at: path)
    }
    set {
      if path.components.count == 1, path.components[0] == DocumentObject.rowIDName { return }
      edit { (object) throws(StoreError) in try object.set(newValue, at: path) }
    }
  }

  /// The value at a path in text form. A name without periods and quotes is looked up without parsing.
  public subscript(path: String) -> DocumentValue? {
    get {
      if path.utf8.first == UInt8(ascii: "_"), path == DocumentObject.rowIDName {
        return rowID.map { .int($0) }
      }
      if edits == nil, let found = storage.plainField(path) { return found.value }
      return self[FieldPath(path)]
    }
    set { self[FieldPath(path)] = newValue }
  }

  private mutating func edit(_ change: (inout DocumentObject) throws(StoreError) -> Void) {
    let copy: Edits
    // Before the binding, which is a second reference.
    let isUnique = isKnownUniquelyReferenced(&edits)
    if let edits {
      copy = isUnique ? edits : Edits(edits.object, edits.failure)
    } else {
      do throws(StoreError) {
        copy = Edits(try storage.object(), nil)
      } catch {
        copy = Edits([:], error)
      }
    }
    do throws(StoreError) {
      try change(&copy.object)
    } catch {
      // A subscript setter cannot throw; the error is thrown when the document is saved.
      if copy.failure == nil { copy.failure = error }
    }
    edits = copy
  }

  /// Writes the document in stored form. Unmodified bytes are copied, unless another program wrote them
  /// in a different form.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, also for content written by another program that no
  ///   document can represent, such as duplicate names; ``StoreError/Code/typeMismatch`` for a field
  ///   that could not be set.
  public func write(to writer: inout JSONWriter) throws(StoreError) {
    guard let edits else { return try storage.write(to: &writer) }
    if let failure = edits.failure { throw failure }
    writer.object(edits.object)
  }

  /// Calls the closure with the fields as JSON, which is valid only during the call.
  ///
  /// It is in stored form, unless the document is unmodified and another program wrote it: then it is what that
  /// program wrote. ``write(to:)`` converts it.
  ///
  /// - Throws: The error of a field that could not be set, ``StoreError/Code/valueNotStorable``, or the closure's
  ///   error.
  package func withBytes<Result>(
    _ read: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    guard edits != nil else { return try storage.withBytes(read) }
    var writer = JSONWriter()
    try write(to: &writer)
    if let failure = writer.failure { throw failure }
    return try read(writer.bytes)
  }

  /// Returns a document with the same fields and different metadata.
  ///
  /// - Throws: The errors of ``write(to:)``, or ``StoreError/Code/valueNotStorable``.
  package func with(_ header: Header) throws(StoreError) -> Document {
    if edits == nil, !storage.isForeign { return storage.withCopy(header) }
    var writer = JSONWriter()
    try write(to: &writer)
    if let failure = writer.failure { throw failure }
    return Document(header, copying: writer.bytes)
  }
}

extension Document {
  /// Returns whether both documents share storage and are unmodified, as when a store returns the same
  /// cached document twice.
  ///
  /// ```swift
  /// people.cacheSize = 0
  /// let first = try people.get("ada")!
  /// first.hasSameStorage(as: try people.get("ada")!)    // true
  /// ```
  public func hasSameStorage(as other: Document) -> Bool {
    storage === other.storage && edits == nil && other.edits == nil
  }

  /// Returns whether this is the only reference to the document.
  package mutating func isUniquelyReferenced() -> Bool { isKnownUniquelyReferenced(&storage) }

  /// The document's size in memory, in bytes.
  package var memorySize: Int { storage.memorySize }

  // @unchecked: the referenced storage is immutable.
  /// A weak reference to a document.
  package struct Weak: @unchecked Sendable {
    private weak var storage: DocumentStorage?
    package init(_ document: Document) { storage = document.storage }
    package var document: Document? { storage.map { Document($0) } }
  }

  private init(_ storage: DocumentStorage) { self.storage = storage }
}

extension Document: CustomStringConvertible {
  /// The key, row ID and type. Fields are never included, since descriptions end up in logs.
  public var description: String {
    let parts = [
      key.map { "key: \($0)" }, rowID.map { "row ID: \($0)" }, type.map { "type: \($0)" },
    ]
    return "Document(\(parts.compactMap(\.self).joined(separator: ", ")))"
  }
}
