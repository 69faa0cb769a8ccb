// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

/// A type whose values are stored in a collection, one document per value.
///
/// ``Model(collection:version:expires:)`` generates the requirements:
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
  /// The name of the collection that stores the values.
  static var collectionName: String { get }
  /// Whether the type names its collection explicitly, and can share it with other types that do.
  /// The default is false.
  static var _$namesCollection: Bool { get }
  /// The version of the model, starting at 1. Increase it when stored documents need an upgrade.
  static var modelVersion: Int { get }
  /// The stored fields, in declaration order.
  static var modelFields: [ModelField<Self>] { get }
  /// Indexes in addition to those of ``Indexed()`` and ``Unique()``. The default is none.
  static var indexes: [ModelIndex<Self>] { get }
  /// Upgrades of older documents that defaults and former names cannot express. The default is
  /// none.
  ///
  /// While there are any, an aggregate first looks for a document of an older version, in the whole
  /// collection if there is none: remove upgrades when no file can contain such documents.
  static var upgrades: [ModelUpgrade] { get }

  /// When stored values expire. The default is never.
  ///
  /// The first write through a model applies the rule to the collection. If the model stops declaring a rule, the
  /// collection keeps it.
  static var expirationRule: ExpirationRule? { get }
  /// Decodes a document whose key is not among its fields.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  init(reading reader: inout JSONReader, key: BorrowedKey) throws(StoreError)
  /// Writes the fields except the key.
  func writeDocument(to writer: inout JSONWriter)
  /// The key to store the value under, or nil to generate one.
  ///
  /// - Throws: ``StoreError/Code/invalidKey``.
  var documentKey: DocumentKey? { get throws(StoreError) }

  /// The fields of the document that the type does not declare.
  var _$unknownFields: UnknownFields { get set }
}

/// A model whose values contain the key of their document: it has a property marked with ``Key()``,
/// or is `Identifiable` by a stored `id`.
///
/// ``Model(collection:version:expires:)`` generates the conformance. Such a value can be saved repeatedly
/// and deleted directly. A value of any other model does not identify the document it was read
/// from: read it with ``ModelQuery/firstStored()-()`` and save the result.
public protocol KeyedModel: Model {}

extension Model {
  /// The default: the type does not name its collection.
  public static var _$namesCollection: Bool { false }
  /// The default: no indexes over several properties.
  public static var indexes: [ModelIndex<Self>] { [] }
  /// The default: no upgrades.
  public static var upgrades: [ModelUpgrade] { [] }

  /// The default: no rule.
  public static var expirationRule: ExpirationRule? { nil }
  /// Decodes the fields and ignores the key.
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader, key: BorrowedKey) throws(StoreError) {
    try self.init(reading: &reader)
  }
  /// Writes all fields.
  @inlinable @inline(__always)
  public func writeDocument(to writer: inout JSONWriter) { write(to: &writer) }
  /// The default: a key is generated.
  @inlinable @inline(__always)
  public var documentKey: DocumentKey? { nil }

  /// The fields of the document that the type does not declare, for example because a newer version
  /// of the program wrote them. Saving the value preserves them.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  public var unknownFields: DocumentObject {
    get throws(StoreError) { try _$unknownFields.object() }
  }

  /// The value of the document's version column.
  @inlinable
  package static var storedVersion: Int64? { modelVersion > 1 ? Int64(modelVersion) : nil }
}
