// SPDX-License-Identifier: MIT

public import NanoDocument

/// A type of your own that is kept in a collection, one document for each value.
///
/// ``Model(collection:version:)`` writes everything that is asked for here:
///
/// ```swift
/// @Model struct Person {
///   var firstName: String
///   @Indexed var lastName: String
///   var emails: [String] = []
/// }
/// let people = store[Person.self]
/// try people.insert(Person(firstName: "Grace", lastName: "Hopper"))
/// try people.find(\.lastName == "Hopper").first()?.firstName      // "Grace"
/// ```
public protocol Model: DocumentRepresentable {
  /// The name of the collection that keeps the values.
  static var collectionName: String { get }
  /// Whether the type names its collection itself, and may share it with another type that does; false unless
  /// declared.
  static var _$namesCollection: Bool { get }
  /// Goes up when documents of before need an upgrade; 1 at first.
  static var modelVersion: Int { get }
  /// The fields that are stored, in the order of their declaration.
  static var modelFields: [ModelField<Self>] { get }
  /// Indexes beside those of ``Indexed()`` and ``Unique()``; none unless declared.
  static var indexes: [ModelIndex<Self>] { get }
  /// What makes older documents readable that defaults and former names do not; none unless declared.
  static var upgrades: [ModelUpgrade] { get }

  /// Reads a document whose key is not among its fields.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  init(reading reader: inout JSONReader, key: BorrowedKey) throws(StoreError)
  /// Writes the fields but the key.
  func writeDocument(to writer: inout JSONWriter)
  /// The key to store it under; nil to have one made.
  ///
  /// - Throws: ``StoreError/Code/invalidKey``.
  var documentKey: DocumentKey? { get throws(StoreError) }

  /// What its document holds beside the declared fields.
  var _$unknownFields: UnknownFields { get set }
}

/// A model whose values say the key of their document: it has a property marked with ``Key()``, or is `Identifiable`
/// by a stored `id`.
///
/// ``Model(collection:version:)`` writes the conformance. Such a value can be saved again and again, and deleted, as it
/// is. A value of another model does not know which document it was read from: read it with
/// ``ModelQuery/firstStored()-()`` and save what that gives.
public protocol KeyedModel: Model {}

extension Model {
  public static var _$namesCollection: Bool { false }
  public static var indexes: [ModelIndex<Self>] { [] }
  public static var upgrades: [ModelUpgrade] { [] }

  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader, key: BorrowedKey) throws(StoreError) {
    try self.init(reading: &reader)
  }
  @inlinable @inline(__always)
  public func writeDocument(to writer: inout JSONWriter) { write(to: &writer) }
  @inlinable @inline(__always)
  public var documentKey: DocumentKey? { nil }

  /// The fields of its document that the type does not declare, as another version of the program may
  /// have written them. They are saved back with it.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  public var unknownFields: DocumentObject {
    get throws(StoreError) { try _$unknownFields.object() }
  }

  /// What stands in a document's column for the version.
  @inlinable
  package static var storedVersion: Int64? { modelVersion > 1 ? Int64(modelVersion) : nil }
}
