// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import Synchronization

/// The fields of a stored document that its type does not declare, preserved when the value is
/// saved.
///
/// They are ignored otherwise: values that differ only in unknown fields are equal, and `Codable`
/// skips them.
@frozen
public struct UnknownFields: Sendable {
  /// Immutable, except that it keeps the stored form once it is known.
  @usableFromInline
  final class Storage: Sendable {
    /// The fields with their names, each preceded by a comma, as stored in the document.
    @usableFromInline let bytes: [UInt8]
    /// The version that the document keeps, if it differs from the type's version.
    private let keptVersion: Int64?
    /// The folded name of the only collection in which the document keeps the version; nil for all collections.
    private let collection: ExactName?
    /// The fields in stored form, or why they have none. Nil until the first write: most values that are read are
    /// never saved.
    private let stored = Mutex<Result<[UInt8], StoreError>?>(nil)

    init(_ bytes: [UInt8], keptVersion: Int64? = nil, in collection: ExactName? = nil) {
      self.bytes = bytes
      self.keptVersion = keptVersion
      self.collection = collection
    }

    @usableFromInline
    func version(_ own: Int64?, in name: String) -> Int64? {
      guard let keptVersion, collection == nil || collection == name.folded else { return own }
      // The first version is stored as none.
      return keptVersion > 1 ? keptVersion : nil
    }

    /// The fields as an object.
    var text: [UInt8] { [UInt8(ascii: "{")] + bytes.dropFirst() + [UInt8(ascii: "}")] }

    /// Returns the fields in stored form, which those of a document of another program need not have.
    func storedBytes() throws(StoreError) -> [UInt8] {
      let result: Result<[UInt8], StoreError> = stored.withLock { known in
        if let known { return known }
        let converted = self.converted
        known = converted
        return converted
      }
      return try result.get()
    }

    private var converted: Result<[UInt8], StoreError> {
      let rewritten = text.withUnsafeBytes { bytes in
        Result { () throws(StoreError) in try CanonicalBody.rewritten(bytes) }
      }
      return rewritten.map { object in
        guard var fields = object else { return bytes }
        fields[0] = UInt8(ascii: ",")
        fields.removeLast()
        return fields
      }
    }
  }

  @usableFromInline var storage: Storage?

  /// Creates an empty set of fields.
  @inlinable @inline(__always)
  public init() {}

  /// - Parameter bytes: The fields with their names, each preceded by a comma.
  init(_ bytes: [UInt8]) {
    storage = bytes.isEmpty ? nil : Storage(bytes)
  }

  /// Whether there are no unknown fields.
  @inlinable
  public var isEmpty: Bool { storage?.bytes.isEmpty ?? true }

  /// Writes the fields after the declared ones, in stored form.
  ///
  /// Fields of another program that have no stored form are recorded as a failure, and written as they are.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) {
    if let storage { Self.write(storage, to: &writer) }
  }

  @usableFromInline @inline(never)
  static func write(_ storage: Storage, to writer: inout JSONWriter) {
    guard !storage.bytes.isEmpty else { return }
    let isFirst = writer.bytes.last == UInt8(ascii: "{")
    var stored = storage.bytes
    do throws(StoreError) {
      stored = try storage.storedBytes()
    } catch {
      let position = writer.count
      writer.fail(.unknownFieldsNotStorable(error))
      writer.truncate(to: position)
    }
    stored.withUnsafeBytes { bytes in
      writer.raw(isFirst ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst()) : bytes)
    }
  }

  /// Returns the version to store the document with: the one that it keeps in this collection, or else the given one.
  @inlinable
  package func version(_ own: Int64?, in collection: String) -> Int64? {
    guard let storage else { return own }
    return storage.version(own, in: collection)
  }

  /// Makes the document keep a version that differs from that of the type.
  ///
  /// - Parameter collection: The folded name of the only collection in which it does; nil for all.
  package mutating func keep(version: Int64, in collection: ExactName? = nil) {
    storage = Storage(storage?.bytes ?? [], keptVersion: version, in: collection)
  }

  func object() throws(StoreError) -> DocumentObject {
    guard let storage, !storage.bytes.isEmpty else { return [:] }
    let object = storage.text.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in
        var reader = JSONReader(bytes)
        return try reader.object()
      }
    }
    return try object.get()
  }
}

extension StoreError {
  private static let unknownFieldsMessage = "Fields that another program wrote have no stored form"

  fileprivate static func unknownFieldsNotStorable(_ reason: StoreError) -> StoreError {
    StoreError(
      .valueNotStorable, unknownFieldsMessage,
      [.actual: reason.message, .hint: "change the document with SQL, or delete the fields"])
  }

  /// Whether ``UnknownFields/write(to:)`` recorded the error. The declared fields are written completely.
  var isOfUnknownFields: Bool { message == Self.unknownFieldsMessage }
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
