// SPDX-License-Identifier: MIT

/// The bytes of a document and its metadata, in one allocation.
///
/// It contains no reference-counted properties: a scan creates one instance per document, and the
/// strings of a header would double its cost.
final class DocumentStorage: ManagedBuffer<DocumentStorage.Contents, UInt8> {
  /// The fixed-size header. The body, the key if it is text, the type and the collection name follow
  /// it.
  struct Contents {
    var rowID: Int64 = 0
    var version: Int64 = 0
    var added: Int64 = 0
    var revision: Int64 = 0
    var uuid: (high: UInt64, low: UInt64) = (0, 0)
    var bodyCount: Int
    var keyCount: Int32 = 0
    var typeCount: Int32 = 0
    var collectionCount: Int32 = 0
    var present: Present = []

    var count: Int { bodyCount + Int(keyCount) + Int(typeCount) + Int(collectionCount) }
  }

  /// The parts that a document has, and its flags.
  struct Present: OptionSet {
    let rawValue: UInt16
    static let collection = Present(rawValue: 1)
    static let rowID = Present(rawValue: 2)
    static let uuid = Present(rawValue: 4)
    static let keyText = Present(rawValue: 8)
    static let type = Present(rawValue: 16)
    static let version = Present(rawValue: 32)
    static let added = Present(rawValue: 64)
    static let revision = Present(rawValue: 128)
    /// A flag: only selected fields were read.
    static let partial = Present(rawValue: 256)
    /// A flag: another program wrote the body, possibly not in stored form.
    static let foreign = Present(rawValue: 512)
    /// A flag: the row contains a value that no document can represent.
    static let altered = Present(rawValue: 1024)
  }

  /// Copies everything; the borrowed buffers need to be valid only during the call.
  ///
  /// - Parameter take: Returns an instance with room for this many bytes that nothing refers to, if there is one.
  @inline(__always)
  static func make(
    collection: UnsafeRawBufferPointer?, rowID: Int64?, key: BorrowedKey,
    type: UnsafeRawBufferPointer?, version: Int64?, added: Int64?, revision: Int64?,
    isPartial: Bool = false, isForeign: Bool = false, isAltered: Bool = false,
    body: UnsafeRawBufferPointer, reusing take: (Int) -> DocumentStorage? = { _ in nil }
  ) -> DocumentStorage {
    var contents = Contents(bodyCount: body.count)
    var present: Present = isPartial ? .partial : []
    if isForeign { present.insert(isAltered ? [.foreign, .altered] : .foreign) }
    if let rowID {
      contents.rowID = rowID
      present.insert(.rowID)
    }
    if let version {
      contents.version = version
      present.insert(.version)
    }
    if let added {
      contents.added = added
      present.insert(.added)
    }
    if let revision {
      contents.revision = revision
      present.insert(.revision)
    }
    var keyText: UnsafeRawBufferPointer?
    switch key {
    case .none: break
    case .uuid(let high, let low):
      contents.uuid = (high, low)
      present.insert(.uuid)
    case .text(let bytes):
      contents.keyCount = Int32(bytes.count)
      present.insert(.keyText)
      keyText = bytes
    }
    if let type {
      contents.typeCount = Int32(type.count)
      present.insert(.type)
    }
    if let collection {
      contents.collectionCount = Int32(collection.count)
      present.insert(.collection)
    }
    contents.present = present
    let instance: ManagedBuffer<Contents, UInt8>
    if let spare = take(contents.count) {
      spare.withUnsafeMutablePointerToHeader { $0.pointee = contents }
      instance = spare
    } else {
      instance = DocumentStorage.create(minimumCapacity: contents.count) { _ in contents }
    }
    instance.withUnsafeMutablePointerToElements { start in
      var position = UnsafeMutableRawPointer(start)
      append(body, at: &position)
      if let keyText { append(keyText, at: &position) }
      if let type { append(type, at: &position) }
      if let collection { append(collection, at: &position) }
    }
    // `ManagedBuffer.create` returns an instance of the class that it is called on, typed as the superclass.
    return unsafeDowncast(instance, to: DocumentStorage.self)
  }

  @inline(__always)
  private static func append(
    _ bytes: UnsafeRawBufferPointer, at position: inout UnsafeMutableRawPointer
  ) {
    guard let source = bytes.baseAddress else { return }
    position.copyMemory(from: source, byteCount: bytes.count)
    position += bytes.count
  }

  static func make(_ header: Document.Header, _ body: UnsafeRawBufferPointer) -> DocumentStorage {
    withBytes(of: header.collection) { collection in
      withBytes(of: header.type) { type in
        DocumentKey.withBorrowed(header.key) { key in
          make(
            collection: collection, rowID: header.rowID, key: key, type: type,
            version: header.version, added: header.added, revision: header.revision,
            isPartial: header.isPartial, body: body)
        }
      }
    }
  }

  private static func withBytes<Result>(
    of text: String?, _ use: (UnsafeRawBufferPointer?) -> Result
  ) -> Result {
    guard var text else { return use(nil) }
    return text.withUTF8 { use(UnsafeRawBufferPointer($0)) }
  }
}

extension DocumentStorage {
  @inline(__always)
  private var contents: Contents { withUnsafeMutablePointerToHeader { $0.pointee } }

  var memorySize: Int {
    contents.count + MemoryLayout<Contents>.size + Self.allocationSize
  }
  /// The overhead of an object beyond its contents, in bytes.
  private static let allocationSize = 32

  var rowID: Int64? { contents.present.contains(.rowID) ? contents.rowID : nil }
  var version: Int64? { contents.present.contains(.version) ? contents.version : nil }
  var added: Int64? { contents.present.contains(.added) ? contents.added : nil }
  var revision: Int64? { contents.present.contains(.revision) ? contents.revision : nil }
  var isPartial: Bool { contents.present.contains(.partial) }
  var isForeign: Bool { contents.present.contains(.foreign) }

  var key: DocumentKey? {
    let contents = contents
    if contents.present.contains(.uuid) { return .uuid(contents.uuid.high, contents.uuid.low) }
    guard contents.present.contains(.keyText) else { return nil }
    return .text(text(contents.bodyCount, contents.keyCount))
  }

  var type: String? {
    let contents = contents
    guard contents.present.contains(.type) else { return nil }
    return text(contents.bodyCount + Int(contents.keyCount), contents.typeCount)
  }

  var collection: String? {
    let contents = contents
    guard contents.present.contains(.collection) else { return nil }
    return text(contents.count - Int(contents.collectionCount), contents.collectionCount)
  }

  private func text(_ start: Int, _ count: Int32) -> String {
    withUnsafeMutablePointerToElements {
      String(
        decoding: UnsafeRawBufferPointer(start: $0 + start, count: Int(count)), as: UTF8.self)
    }
  }

  var metadata: Document.Header {
    Document.Header(
      collection: collection, rowID: rowID, key: key, type: type, version: version, added: added,
      revision: revision, isPartial: isPartial)
  }
}

extension DocumentStorage {
  func withBytes<Result, Failure: Error>(
    _ read: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeMutablePointers { (contents, bytes) throws(Failure) in
      try read(UnsafeRawBufferPointer(start: bytes, count: contents.pointee.bodyCount))
    }
  }

  func withCopy(_ header: Document.Header) -> Document {
    withBytes { Document(header, copying: $0) }
  }

  func write(to writer: inout JSONWriter) throws(StoreError) {
    guard _slowPath(isForeign) else { return withBytes { writer.raw($0) } }
    do throws(StoreError) {
      if contents.present.contains(.altered) { throw CanonicalBody.alteredRow }
      try withBytes { (bytes) throws(StoreError) in
        if let rewritten = try CanonicalBody.rewritten(bytes) {
          rewritten.withUnsafeBytes { writer.raw($0) }
        } else {
          writer.raw(bytes)
        }
      }
    } catch {
      throw located(error)
    }
  }

  func object() throws(StoreError) -> DocumentObject {
    do throws(StoreError) {
      return try withBytes { (bytes) throws(StoreError) in
        var reader = JSONReader(bytes)
        return try reader.object()
      }
    } catch {
      throw located(error)
    }
  }

  /// Returns a decoding error with the document's collection and row ID.
  private func located(_ error: StoreError) -> StoreError {
    let named = collection.map { error.adding(.collection, $0) } ?? error
    return rowID.map { named.adding(.rowID, "\($0)") } ?? named
  }

  /// Finds a top-level field by its bytes. Returns `nil` for a name that must be split or escaped
  /// first.
  func plainField(_ name: String) -> (value: DocumentValue?, Void)? {
    let found: (value: DocumentValue?, Void)?? = name.utf8.withContiguousStorageIfAvailable {
      guard !$0.isEmpty, $0.allSatisfy(Self.isPlain) else { return nil }
      let name = UnsafeRawBufferPointer($0)
      return withBytes { bytes in
        var reader = JSONReader(bytes)
        guard (try? reader.findField(name)) == true else { return (nil, ()) }
        return (try? reader.value(), ())
      }
    }
    return found ?? nil
  }

  /// Returns whether the byte is not a period, quote, backslash, `$` or control character.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x2E && byte != 0x22 && byte != 0x5C && byte != 0x24
  }

  func value(at path: FieldPath) -> DocumentValue? {
    withBytes { bytes in
      var reader = JSONReader(bytes)
      guard (try? reader.findField(StoredName(path.components[0]))) == true,
        let value = try? reader.value()
      else { return nil }
      guard path.components.count > 1 else { return value }
      return value[path[1..<path.components.count]]
    }
  }
}
