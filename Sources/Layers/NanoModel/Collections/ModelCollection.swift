// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
public import NanoStoreCore

/// The values of one model in a store.
///
/// A value that may be kept and handed to any task; it holds no documents itself.
///
/// ```swift
/// let people = store[Person.self]
/// try people.insert(Person(firstName: "Grace", lastName: "Hopper"), key: "grace")
/// try people.get("grace")?.lastName                       // "Hopper"
/// try people.find(\.lastName == "Hopper").count()         // 1
/// ```
public struct ModelCollection<M: Model>: Sendable {
  /// The same documents without their types.
  public let documents: DocumentCollection

  /// The values in a collection of any name.
  public init(_ documents: DocumentCollection) { self.documents = documents }

  /// The store that it belongs to.
  public var store: Store { documents.store }
  /// The collection's name.
  public var name: String { documents.name }

  @inlinable
  var decoder: ModelDecoder<M> { ModelDecoder(name) }
}

extension Store {
  /// The values of a model, in the collection that the model names. Nothing is looked up or made before it
  /// is used.
  ///
  /// Two models of one store that have the same collection would read each other's documents: operations on the
  /// second one throw ``StoreError/Code/invalidArgument`` with both types, unless both name the collection with
  /// ``Model(collection:version:)``. That is known of the types that one process uses with one `Store`.
  public subscript<M: Model>(type: M.Type) -> ModelCollection<M> {
    ModelCollection(documents(of: type))
  }
}

extension DocumentCollection {
  /// The documents as values of a model.
  ///
  /// ```swift
  /// let archived = store["archive"].models(Person.self)
  /// ```
  public func models<M: Model>(_ type: M.Type = M.self) -> ModelCollection<M> {
    ModelCollection(self)
  }
}

extension ModelCollection {
  /// The value with this key; nil if there is none.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` with the field if the document is no such value, and what
  ///   an upgrade throws.
  public func get(_ key: String) throws -> M? { try getStored(key)?.value }

  /// The value with this key.
  public func get(_ key: some ModelKey) throws -> M? {
    guard let key = try key.documentKey else { return nil }
    return try get(key.description)
  }

  /// The value with this row id; nil if there is none.
  public func get(rowID: Int64) throws -> M? {
    try documents.get(rowID: rowID).map { try decoder.value($0) }
  }

  /// The value with this key, and what the store knows of it.
  public func getStored(_ key: String) throws -> Stored<M>? {
    try documents.get(key).map { try stored($0) }
  }

  /// The value with this key, and what the store knows of it.
  public func getStored(_ key: some ModelKey) throws -> Stored<M>? {
    guard let key = try key.documentKey else { return nil }
    return try getStored(key.description)
  }

  /// The values with these keys, in their order; a key that no document has is left out.
  public func get(keys: [String]) throws -> [M] {
    let decoder = decoder
    return try documents.get(keys: keys).map { try decoder.value($0) }
  }

  /// The values with these keys, in their order; a key that no document has is left out.
  public func get(keys: [some ModelKey]) throws -> [M] {
    try get(keys: keys.compactMap { try $0.documentKey?.description })
  }

  func stored(_ document: Document) throws -> Stored<M> {
    Stored(try decoder.value(document), document.header)
  }
}

/// The same with `await`. Values that are not `Sendable` are made for the caller and handed over.
extension ModelCollection {
  public func get(_ key: String) async throws -> sending M? {
    try await documents.fromReader { try self.get(key) }
  }
  public func get(_ key: some ModelKey & Sendable) async throws -> sending M? {
    try await documents.fromReader { try self.get(key) }
  }
  public func get(rowID: Int64) async throws -> sending M? {
    try await documents.fromReader { try self.get(rowID: rowID) }
  }
  public func getStored(_ key: String) async throws -> sending Stored<M>? {
    try await documents.fromReader { try self.getStored(key) }
  }
  public func getStored(_ key: some ModelKey & Sendable) async throws -> sending Stored<M>? {
    try await documents.fromReader { try self.getStored(key) }
  }
  public func get(keys: [String]) async throws -> sending [M] {
    try await documents.fromReader { try self.get(keys: keys) }
  }
  public func get(keys: [some ModelKey & Sendable]) async throws -> sending [M] {
    try await documents.fromReader { try self.get(keys: keys) }
  }
}
