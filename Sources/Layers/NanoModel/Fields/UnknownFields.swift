// SPDX-License-Identifier: MIT

public import NanoDocument

/// The fields of a stored document that its type does not declare, preserved when the value is
/// saved.
///
/// They are ignored otherwise: values that differ only in unknown fields are equal, and `Codable`
/// skips them.
@frozen
public struct UnknownFields: Sendable {
  /// Immutable.
  @usableFromInline
  final class Storage: Sendable {
    /// The fields with their names, each preceded by a comma, as stored in the document.
    @usableFromInline let bytes: [UInt8]
    /// The version that wrote the document, if it is newer than the type's version.
    @usableFromInline let newerVersion: Int64?

    @usableFromInline
    init(_ bytes: [UInt8], _ newerVersion: Int64?) {
      self.bytes = bytes
      self.newerVersion = newerVersion
    }
  }

  @usableFromInline var storage: Storage?

  /// Creates an empty set of fields.
  @inlinable @inline(__always)
  public init() {}

  /// - Parameter bytes: The fields with their names, each preceded by a comma.
  init(_ bytes: [UInt8]) {
    storage = bytes.isEmpty ? nil : Storage(bytes, nil)
  }

  /// Whether there are no unknown fields.
  @inlinable
  public var isEmpty: Bool { storage?.bytes.isEmpty ?? true }

  /// Writes the fields after the declared ones.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) {
    if let storage { Self.write(storage, to: &writer) }
  }

  @usableFromInline @inline(never)
  static func write(_ storage: Storage, to writer: inout JSONWriter) {
    let isFirst = writer.bytes.last == UInt8(ascii: "{")
    storage.bytes.withUnsafeBytes { bytes in
      writer.raw(isFirst ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst()) : bytes)
    }
  }

  /// Returns the version to store the document with: the newer version if it was written by one.
  @inlinable
  package func version(_ own: Int64?) -> Int64? {
    guard let newer = storage?.newerVersion else { return own }
    return newer
  }

  @usableFromInline
  package mutating func keep(newerVersion: Int64) {
    storage = Storage(storage?.bytes ?? [], newerVersion)
  }

  /// The version that wrote the fields, if it is newer than the type's version.
  package var newerVersion: Int64? { storage?.newerVersion }

  func object() throws(StoreError) -> DocumentObject {
    guard let storage, !storage.bytes.isEmpty else { return [:] }
    let text = [UInt8(ascii: "{")] + storage.bytes.dropFirst() + [UInt8(ascii: "}")]
    let object = text.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in
        var reader = JSONReader(bytes)
        return try reader.object()
      }
    }
    return try object.get()
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

// The `Codable` code that the compiler synthesizes prefers these overloads to the generic ones, so
// encoded values have no such field.
extension KeyedEncodingContainer {
  /// Does nothing: unknown fields are not part of a type's `Codable` form.
  public func encode(_ fields: UnknownFields, forKey key: Key) {}
}

extension KeyedDecodingContainer {
  /// Returns no fields: unknown fields are not part of a type's `Codable` form.
  public func decode(_ type: UnknownFields.Type, forKey key: Key) -> UnknownFields {
    UnknownFields()
  }
}
