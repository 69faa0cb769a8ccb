// SPDX-License-Identifier: MIT

public import NanoDocument

/// What a stored document holds beside the properties of its type, kept so that saving the value does not
/// lose it.
///
/// It takes part in nothing else: two values that differ in it alone are equal, and Codable passes it by.
@frozen
public struct UnknownFields: Sendable {
  /// Never changed after it is made.
  @usableFromInline
  final class Kept: Sendable {
    /// The fields with their names, a comma before each, as they stand in the document.
    @usableFromInline let bytes: [UInt8]
    /// The version that wrote it, if that is newer than the type's own.
    @usableFromInline let newerVersion: Int64?

    @usableFromInline
    init(_ bytes: [UInt8], _ newerVersion: Int64?) {
      self.bytes = bytes
      self.newerVersion = newerVersion
    }
  }

  @usableFromInline var kept: Kept?

  @inlinable @inline(__always)
  public init() {}

  /// Whether there is nothing to keep.
  @inlinable
  public var isEmpty: Bool { kept?.bytes.isEmpty ?? true }

  /// Writes the fields behind those that are declared.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) {
    if let kept { Self.write(kept, to: &writer) }
  }

  @usableFromInline @inline(never)
  static func write(_ kept: Kept, to writer: inout JSONWriter) {
    let isFirst = writer.bytes.last == UInt8(ascii: "{")
    kept.bytes.withUnsafeBytes { bytes in
      writer.raw(isFirst ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst()) : bytes)
    }
  }

  /// The version to store a document with, which stays a newer one.
  @inlinable
  package func version(_ own: Int64?) -> Int64? {
    guard let newer = kept?.newerVersion else { return own }
    return newer
  }

  @usableFromInline
  package mutating func keep(newerVersion: Int64) { kept = Kept(kept?.bytes ?? [], newerVersion) }

  /// The version that wrote them, if that is newer than the type's own.
  package var newerVersion: Int64? { kept?.newerVersion }

  func object() throws(StoreError) -> DocumentObject {
    guard let kept, !kept.bytes.isEmpty else { return [:] }
    let text = [UInt8(ascii: "{")] + kept.bytes.dropFirst() + [UInt8(ascii: "}")]
    let object = text.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in
        var reader = JSONReader(bytes)
        return try reader.object()
      }
    }
    return try object.get()
  }
}

extension UnknownFields {
  /// Gathers fields while a document is read whose fields are not all where they were expected.
  public struct Collector {
    private var bytes: [UInt8] = []

    public init() {}

    /// Keeps the field whose name was just read, and leaves the cursor behind its value.
    ///
    /// - Throws: ``StoreError/Code/corruptDocument``.
    package mutating func keep(
      _ name: JSONReader.Name, _ reader: inout JSONReader
    ) throws(StoreError) {
      reader.skipWhitespace()
      let value = reader.rest
      try reader.skipValue()
      bytes.append(UInt8(ascii: ","))
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: name.bytes)
      bytes.append(UInt8(ascii: "\""))
      bytes.append(UInt8(ascii: ":"))
      bytes.append(contentsOf: value.prefix(value.count - reader.rest.count))
    }

    /// What was kept.
    public var fields: UnknownFields {
      var fields = UnknownFields()
      if !bytes.isEmpty { fields.kept = Kept(bytes, nil) }
      return fields
    }
  }
}

extension UnknownFields: Hashable {
  public static func == (a: UnknownFields, b: UnknownFields) -> Bool { true }
  public func hash(into hasher: inout Hasher) {}
}

extension UnknownFields: Codable {
  public init(from decoder: any Decoder) {}
  public func encode(to encoder: any Encoder) {}
}

// The code that the compiler writes for a Codable type calls these in place of the general ones, so that
// there is no field of this name.
extension KeyedEncodingContainer {
  public func encode(_ fields: UnknownFields, forKey key: Key) {}
}

extension KeyedDecodingContainer {
  public func decode(_ type: UnknownFields.Type, forKey key: Key) -> UnknownFields {
    UnknownFields()
  }
}
