// SPDX-License-Identifier: MIT

public import Foundation

// @unchecked: what `storage` holds is never written after it is made, and `edits` only while it is not shared.
/// A document: its fields, and what the store knows of it.
///
/// A document from a store keeps its bytes and finds a field when it is asked for, so that reading
/// two fields does not parse the rest. It is a value: changing one changes no other, and nothing in
/// the store until it is saved.
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
    /// Why the stored fields could not be read; thrown when the document is used as a whole.
    var failure: StoreError?
    init(_ object: DocumentObject, _ failure: StoreError?) {
      self.object = object
      self.failure = failure
    }
  }

  /// A new document, not in any store yet. A field `__rowid__` is no field: an integer there is the
  /// row id by which the document may replace a stored one.
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

  /// Copies a document out of a store's bytes, which must be in stored form.
  @inline(__always)
  package init(_ header: Header, copying bytes: UnsafeRawBufferPointer) {
    storage = DocumentStorage.make(header, bytes)
  }

  /// Copies a document out of a row that an engine shows: what is borrowed may end with the call.
  ///
  /// - Parameters:
  ///   - collection: Its name as UTF-8.
  ///   - type: UTF-8; nil for the collection's own.
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

  /// Copies a document out of a row that another program wrote.
  ///
  /// - Parameter isAltered: Whether what is given is not all that stands in the row; then it cannot be written
  ///   anywhere else.
  package init(
    foreignIn collection: UnsafeRawBufferPointer, rowID: Int64, key: BorrowedKey,
    type: UnsafeRawBufferPointer?, version: Int64?, added: Int64?, isAltered: Bool,
    copying body: UnsafeRawBufferPointer
  ) {
    storage = DocumentStorage.make(
      collection: collection, rowID: rowID, key: key, type: type, version: version, added: added,
      revision: nil, isForeign: true, isAltered: isAltered, body: body)
  }

  /// What is known of a document beside its fields.
  package struct Header: Sendable {
    /// The collection that the document was read from or written to.
    package var collection: String?
    /// The integer identity.
    package var rowID: Int64?
    /// The text identity.
    package var key: DocumentKey?
    /// The class name; nil for the collection's own.
    package var type: String?
    /// The version of the class; nil for its first.
    package var version: Int64?
    /// Microseconds since 1970.
    package var added: Int64?
    /// Goes up with each write of the document, from 1, or from anywhere if another program wrote it
    /// meanwhile; nil as long as another program wrote it last, and where a save did not read it.
    package var revision: Int64?
    /// Whether only chosen fields were read.
    package var isPartial: Bool

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
  /// What is known of the document beside its fields, all at once.
  package var header: Header { storage.about }
  /// The name of the collection that the document comes from; nil for a new document.
  public var collection: String? { storage.collection }
  /// The text identity; nil for a new document without one, and in collections known by row id.
  public var key: String? { storage.key?.description }
  /// The integer identity; nil while the document is in no store.
  public var rowID: Int64? { storage.rowID }
  /// The name of the class that it was stored as; nil for the collection's own.
  public var type: String? { storage.type }
  /// The version of that class; nil for its first.
  public var version: Int64? { storage.version }
  /// When the document was stored for the first time, to the microsecond.
  public var added: Date? {
    storage.added.map { Date(timeIntervalSince1970: Double($0) / 1e6) }
  }
  /// Goes up with each write, from 1, or from anywhere if another program wrote it meanwhile; nil as
  /// long as another program wrote it last, and where a save did not read it.
  public var revision: Int64? { storage.revision }
  /// Whether it holds only chosen fields, so that it cannot be saved over the whole document.
  public var isPartial: Bool { storage.isPartial }
  /// Whether something of it is not in the store: it is new, or fields were changed since it was
  /// read or saved. A document that is collected and not written yet has unsaved changes too.
  public var hasUnsavedChanges: Bool { isEdited || rowID == nil }
  /// Whether fields were changed since it was read, or it is new.
  package var isEdited: Bool { edits != nil }

  /// All fields.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if the stored bytes do not decode.
  public func object() throws(StoreError) -> DocumentObject {
    if let edits {
      if let failure = edits.failure { throw failure }
      return edits.object
    }
    return try storage.object()
  }

  /// The value at a path; nil if there is none. Arrays are entered only by number.
  ///
  /// Setting nil removes the field. Objects on the way are made where nothing stands. `__rowid__` is
  /// the true ``rowID``, whatever is stored under this name, and cannot be set.
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

  /// As with a ``FieldPath``; a name without dots and quotes is looked up at once.
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
    if let edits, isKnownUniquelyReferenced(&self.edits) {
      copy = edits
    } else {
      do throws(StoreError) {
        copy = Edits(try object(), nil)
      } catch {
        copy = Edits([:], error)
      }
    }
    do throws(StoreError) {
      try change(&copy.object)
    } catch {
      // A subscript cannot throw; the error comes when the document is saved.
      if copy.failure == nil { copy.failure = error }
    }
    edits = copy
  }

  /// Writes the document in stored form; bytes that were not changed are copied, unless another program
  /// wrote them in another form.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, also for what another program wrote and no document
  ///   can hold, such as two fields of one name; ``StoreError/Code/typeMismatch`` for a field that was
  ///   set where it cannot stand.
  public func write(to writer: inout JSONWriter) throws(StoreError) {
    guard let edits else { return try storage.write(to: &writer) }
    if let failure = edits.failure { throw failure }
    writer.object(edits.object)
  }

  /// The stored form of the fields, for as long as the closure runs.
  package func withBytes<Result>(
    _ read: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    guard edits != nil else { return try storage.withBytes(read) }
    var writer = JSONWriter()
    try write(to: &writer)
    if let failure = writer.failure { throw failure }
    return try read(writer.bytes)
  }

  /// The same fields as another document.
  package func with(_ header: Header) throws(StoreError) -> Document {
    if edits == nil, !storage.isForeign { return storage.withCopy(header) }
    var writer = JSONWriter()
    try write(to: &writer)
    if let failure = writer.failure { throw failure }
    return Document(header, copying: writer.bytes)
  }
}

extension Document {
  /// Whether both are one document that a store handed out twice, as it does from its cache: they
  /// have the same bytes in memory, and neither was changed.
  ///
  /// ```swift
  /// people.cacheSize = 0
  /// let first = try people.get("ada")!
  /// first.hasSameStorage(as: try people.get("ada")!)    // true
  /// ```
  package func hasSameStorage(as other: Document) -> Bool {
    storage === other.storage && edits == nil && other.edits == nil
  }

  /// Whether nobody else has this document.
  package mutating func isUniquelyReferenced() -> Bool { isKnownUniquelyReferenced(&storage) }

  /// Bytes of memory that it takes.
  package var memorySize: Int { storage.memorySize }

  // @unchecked: what `storage` refers to is never written after it is made.
  /// A document that goes away when nobody has it any more.
  package struct Weak: @unchecked Sendable {
    private weak var storage: DocumentStorage?
    package init(_ document: Document) { storage = document.storage }
    package var document: Document? { storage.map { Document($0) } }
  }

  private init(_ storage: DocumentStorage) { self.storage = storage }
}

extension Document: CustomStringConvertible {
  /// The key, row id and type; never a field, since descriptions end up in logs.
  public var description: String {
    let parts = [
      key.map { "key: \($0)" }, rowID.map { "row id: \($0)" }, type.map { "type: \($0)" },
    ]
    return "Document(\(parts.compactMap(\.self).joined(separator: ", ")))"
  }
}
