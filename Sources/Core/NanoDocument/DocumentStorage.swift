// SPDX-License-Identifier: MIT

/// The bytes of a document behind its header, in one allocation.
final class DocumentStorage: ManagedBuffer<DocumentStorage.Contents, UInt8> {
  typealias Header = Document.Header

  struct Contents {
    var about: Document.Header
    var count: Int
  }

  static func make(_ header: Document.Header, _ bytes: UnsafeRawBufferPointer) -> DocumentStorage {
    let made = DocumentStorage.create(minimumCapacity: bytes.count) { _ in
      Contents(about: header, count: bytes.count)
    }
    if let source = bytes.baseAddress {
      made.withUnsafeMutablePointerToElements {
        UnsafeMutableRawPointer($0).copyMemory(from: source, byteCount: bytes.count)
      }
    }
    return unsafeDowncast(made, to: DocumentStorage.self)
  }

  func withBytes<Result, Failure: Error>(
    _ read: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeMutablePointers { (contents, bytes) throws(Failure) in
      try read(UnsafeRawBufferPointer(start: bytes, count: contents.pointee.count))
    }
  }

  func withCopy(_ header: Document.Header) -> Document {
    withBytes { Document(header, copying: $0) }
  }

  func write(to writer: inout JSONWriter) {
    withUnsafeMutablePointers { contents, bytes in
      writer.raw(UnsafeRawBufferPointer(start: bytes, count: contents.pointee.count))
    }
  }

  func object() throws(StoreError) -> DocumentObject {
    try withBytes { (bytes) throws(StoreError) in
      var reader = JSONReader(bytes)
      return try reader.object()
    }
  }

  /// The value of a top-level field, looked up by its bytes; nil for a name that must be split or
  /// escaped first.
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

  /// Neither a dot nor anything that the stored form escapes, nor a quote or a leading `$`.
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
      return value[FieldPath(components: Array(path.components.dropFirst()))]
    }
  }
}
