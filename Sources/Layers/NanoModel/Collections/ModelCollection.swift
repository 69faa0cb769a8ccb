// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
public import NanoStoreCore

/// The collection of a model's values in a store.
///
/// A `ModelCollection` holds no documents; it can be kept and passed to any task.
///
/// ```swift
/// let people = store[Person.self]
/// try people.insert(Person(firstName: "Grace", lastName: "Hopper"), key: "grace")
/// try people.get("grace")?.lastName                       // "Hopper"
/// try people.find(\.lastName == "Hopper").count()         // 1
/// ```
public struct ModelCollection<M: Model>: Sendable {
  /// The underlying collection of untyped documents.
  public let documents: DocumentCollection

  /// Creates a view of a collection as values of the model.
  public init(_ documents: DocumentCollection) { self.documents = documents }

  /// The store of the collection.
  public var store: Store { documents.store }
  /// The name of the collection.
  public var name: String { documents.name }

  @inlinable
  var decoder: ModelDecoder<M> { ModelDecoder(name) }
}

extension Store {
  /// The collection of a model, under the name that the model declares. No I/O happens until an
  /// operation is called.
  ///
  /// If two model types use the same collection of a store, operations on the second one throw
  /// ``StoreError/Code/invalidArgument`` with both types, unless both name the collection with
  /// ``Model(collection:version:expires:)``. The check covers the types that one process uses with one
  /// `Store`.
  public subscript<M: Model>(type: M.Type) -> ModelCollection<M> {
    ModelCollection(documents(of: type))
  }
}

extension DocumentCollection {
  /// Returns the collection as values of a model.
  ///
  /// ```swift
  /// let archived = store["archive"].models(Person.self)
  /// ```
  public func models<M: Model>(_ type: M.Type = M.self) -> ModelCollection<M> {
    ModelCollection(self)
  }
}

extension ModelCollection {
  /// Returns the value with this key, or nil if there is none.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` with the field if the document does not decode as
  ///   the model, and the errors of the model's upgrades.
  public func get(_ key: String) throws -> M? { try getStored(key)?.value }

  /// Returns the value with this key, or nil if there is none.
  public func get(_ key: some ModelKey) throws -> M? {
    guard let key = try key.documentKey else { return nil }
    return try get(key.description)
  }

  /// Returns the value with this row ID, or nil if there is none.
  public func get(rowID: Int64) throws -> M? {
    try documents.get(rowID: rowID).map { try decoder.value($0) }
  }

  /// Returns the value with this key and its metadata, or nil if there is none.
  public func getStored(_ key: String) throws -> Stored<M>? {
    try documents.get(key).map { try stored($0) }
  }

  /// Returns the value with this key and its metadata, or nil if there is none.
  public func getStored(_ key: some ModelKey) throws -> Stored<M>? {
    guard let key = try key.documentKey else { return nil }
    return try getStored(key.description)
  }

  /// Returns the values with these keys, in their order. Keys without a document are skipped.
  public func get(keys: [String]) throws -> [M] {
    let decoder = decoder
    return try documents.get(keys: keys).map { try decoder.value($0) }
  }

  /// Returns the values with these keys, in their order. Keys without a document are skipped.
  public func get(keys: [some ModelKey]) throws -> [M] {
    try get(keys: keys.compactMap { try $0.documentKey?.description })
  }

  func stored(_ document: Document) throws -> Stored<M> {
    Stored(try decoder.value(document), document.header)
  }
}

/// Asynchronous forms. Values that are not `Sendable` are transferred to the caller.
extension ModelCollection {
  /// The asynchronous form of `get(_:)`, which does not block the calling thread.
  public func get(_ key: String) async throws -> sending M? {
    try await documents.fromReader { try self.get(key) }
  }
  /// The asynchronous form of `get(_:)` for a typed key, which does not block the calling thread.
  public func get(_ key: some ModelKey & Sendable) async throws -> sending M? {
    try await documents.fromReader { try self.get(key) }
  }
  /// The asynchronous form of ``get(rowID:)``, which does not block the calling thread.
  public func get(rowID: Int64) async throws -> sending M? {
    try await documents.fromReader { try self.get(rowID: rowID) }
  }
  /// The asynchronous form of `getStored(_:)`, which does not block the calling thread.
  public func getStored(_ key: String) async throws -> sending Stored<M>? {
    try await documents.fromReader { try self.getStored(key) }
  }
  /// The asynchronous form of `getStored(_:)` for a typed key, which does not block the calling
  /// thread.
  public func getStored(_ key: some ModelKey & Sendable) async throws -> sending Stored<M>? {
    try await documents.fromReader { try self.getStored(key) }
  }
  /// The asynchronous form of `get(keys:)`, which does not block the calling thread.
  public func get(keys: [String]) async throws -> sending [M] {
    try await documents.fromReader { try self.get(keys: keys) }
  }
  /// The asynchronous form of `get(keys:)` for typed keys, which does not block the calling thread.
  public func get(keys: [some ModelKey & Sendable]) async throws -> sending [M] {
    try await documents.fromReader { try self.get(keys: keys) }
  }
}
