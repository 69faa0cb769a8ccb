// SPDX-License-Identifier: MIT

public import NanoDocument

/// A description of the classes in a BNRPersistence store.
///
/// The store's files contain neither field names nor types: each class wrote its fields in an order that
/// only its code knows. Describe each class by reading its `readContentFromBuffer:` from top to bottom:
///
/// | Objective-C | Field type |
/// |---|---|
/// | `readUInt8`, `readUInt32` | `uint8`, `uint32` |
/// | `readFloat32`, `readFloat64` | `float32`, `float64` |
/// | `readString`, `readData`, `readDate` | `text`, `data`, `date` |
/// | `readObjectReferenceOfClass:usingStore:` | `reference` with `class` |
/// | `readObjectReferenceOfUnknownClassUsingStore:` | `anyReference` |
/// | `readArrayOfClass:usingStore:` | `array` with `class` |
/// | `readHeteroArrayUsingStore:` | `mixedArray` |
/// | `readArchiveableObject` | `archive` |
///
/// ```swift
/// let schema = try BNRSchema(
///   classes: [
///     .init("Song", [.init("title", .text), .init("seconds", .uint32)], textIndexes: ["title"]),
///     .init("Playlist", [.init("title", .text), .init("songs", .array(of: "Song"))]),
///   ])
/// ```
///
/// The same description as JSON, for ``init(json:)`` and the command-line tool:
///
/// ```json
/// {
///   "classes": {
///     "Song": {
///       "fields": [
///         {"name": "title", "type": "text"},
///         {"name": "seconds", "type": "uint32"}
///       ],
///       "textIndexes": ["title"]
///     },
///     "Playlist": {
///       "fields": [
///         {"name": "title", "type": "text"},
///         {"name": "songs", "type": "array", "class": "Song"}
///       ]
///     }
///   }
/// }
/// ```
public struct BNRSchema: Sendable, Hashable {
  /// The classes, each with a different name.
  public let classes: [ClassDescription]
  /// The named buffers, each with a different name.
  public let namedBuffers: [BufferDescription]

  /// Creates a schema.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if two classes, two named buffers or two fields that a
  ///   record can both have share a name, if a field refers to a class that is not described, if a text
  ///   index names a field that does not exist or is not text, or if a field depends on the version of
  ///   records that have none; `field` is the location in the schema's JSON form.
  public init(
    classes: [ClassDescription], namedBuffers: [BufferDescription] = []
  ) throws(StoreError) {
    self.classes = classes
    self.namedBuffers = namedBuffers
    try validate()
  }

  /// The description of a class.
  public struct ClassDescription: Sendable, Hashable {
    /// The name of the Objective-C class, which is the name of its file.
    public var name: String
    /// The fields in the order in which the class reads them.
    public var fields: [Field]
    /// Whether a version byte precedes the fields of each record.
    public var versionByte: VersionByte
    /// The names of the fields in `textIndexedAttributes`.
    public var textIndexes: [String]

    /// Creates the description of a class.
    public init(
      _ name: String, _ fields: [Field], versionByte: VersionByte = .detect,
      textIndexes: [String] = []
    ) {
      self.name = name
      self.fields = fields
      self.versionByte = versionByte
      self.textIndexes = textIndexes
    }
  }

  /// The description of a named buffer.
  public struct BufferDescription: Sendable, Hashable {
    /// The name of the buffer. A name that ends with `*` describes all buffers whose names begin with the
    /// part before it and that no other name describes better.
    public var name: String
    /// The fields in the order in which they were written.
    public var fields: [Field]

    /// Creates the description of a named buffer.
    public init(_ name: String, _ fields: [Field]) {
      self.name = name
      self.fields = fields
    }
  }

  /// A field of a class or named buffer.
  public struct Field: Sendable, Hashable {
    /// The name that the field gets in documents.
    public var name: String
    /// The type, which determines the bytes that the field consists of.
    public var type: FieldType
    /// The first version whose records have the field; `nil` if all older versions have it.
    public var since: UInt8?
    /// The first version whose records no longer have the field; `nil` if all newer versions have it.
    public var before: UInt8?

    /// Creates a field.
    ///
    /// The condition `if ([buffer versionOfData] >= 2)` becomes `since: 2`, and its `else` `before: 2`.
    public init(_ name: String, _ type: FieldType, since: UInt8? = nil, before: UInt8? = nil) {
      self.name = name
      self.type = type
      self.since = since
      self.before = before
    }
  }

  /// Whether the records of a class begin with a version byte.
  public enum VersionByte: String, Sendable, Hashable, CaseIterable {
    /// Each record has a version byte, which is the default of BNRPersistence since March 2010.
    case yes
    /// No record has a version byte: the application set `usesPerInstanceVersioning` to `NO`, or the store
    /// is older. Fields that depend on the version see version 0.
    case no
    /// Decode all records in both ways, and use the one that fits.
    case detect
  }

  /// The type of a field.
  public enum FieldType: Sendable, Hashable {
    /// An integer of 8 bits.
    case uint8
    /// An integer of 32 bits.
    case uint32
    /// A floating-point number of 32 bits.
    case float32
    /// A floating-point number of 64 bits.
    case float64
    /// A string. An empty string becomes null, because BNRPersistence stores both alike.
    case text
    /// Data. Empty data becomes null, because BNRPersistence stores both alike.
    case data
    /// A date. January 1, 2001, 00:00:00 UTC becomes null, because BNRPersistence stores both alike.
    case date
    /// A reference to an object of a class.
    case reference(to: String)
    /// A reference to an object of any class, which is stored with it.
    case anyReference
    /// An array of references to objects of a class.
    case array(of: String)
    /// An array of references to objects of any class.
    case mixedArray
    /// An object of a Foundation class, stored as a keyed archive.
    case archive
  }
}

extension BNRSchema {
  /// Returns the description of a class, or `nil` if there is none.
  func classDescription(_ name: String) -> ClassDescription? {
    classes.first { $0.name.hasSameBytes(as: name) }
  }

  /// Returns the description of a named buffer: the one with its name, or else the one with the longest
  /// prefix of it.
  func bufferDescription(_ name: String) -> BufferDescription? {
    if let exact = namedBuffers.first(where: { $0.name.hasSameBytes(as: name) }) { return exact }
    return namedBuffers.filter { description in
      description.name.hasSuffix("*") && name.utf8.starts(with: description.name.utf8.dropLast())
    }.max { $0.name.utf8.count < $1.name.utf8.count }
  }
}

extension BNRSchema.Field {
  func exists(inVersion version: UInt8) -> Bool {
    version >= since ?? 0 && before.map { version < $0 } ?? true
  }
}
