// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

extension Store {
  /// Returns the existing collections, sorted by name, without the store's internal ones.
  public func collections() throws -> [CollectionDescription] {
    try reading(.call) { try $0.collections().filter { !$0.isInternal } }
  }
  /// The asynchronous form of `collections()`, which does not block the calling thread.
  public func collections() async throws -> [CollectionDescription] {
    try await onReader { try self.collections() }
  }

  /// Creates a collection whose documents have keys or only row IDs. Does nothing if it exists.
  ///
  /// - Returns: The collection.
  /// - Throws: ``StoreError/Code/alreadyExists`` if the collection exists with a different
  ///   identity, ``StoreError/Code/invalidName``.
  @discardableResult
  public func createCollection(
    _ name: String, identity: CollectionIdentity = .key
  ) throws -> DocumentCollection {
    try InternalCollection.refuse(name)
    try writing(atomic: true) {
      try $0.createCollection(CollectionDescription(name: name, identity: identity))
    }
    return self[name]
  }
  /// The asynchronous form of `createCollection(_:identity:)`, which does not block the calling
  /// thread.
  @discardableResult
  public func createCollection(
    _ name: String, identity: CollectionIdentity = .key
  ) async throws -> DocumentCollection {
    try await onWriter { try self.createCollection(name, identity: identity) }
  }

  /// Creates several collections in one transaction, each as
  /// `createCollection(_:identity:)` does.
  ///
  /// Faster than one call for each if there are hundreds, because SQLite reads the definitions of all
  /// existing collections to create another one: 10,000 collections take seconds instead of minutes.
  ///
  /// ```swift
  /// let tenants = try store.createCollections((1...10_000).map { "tenant-\($0)" })
  /// tenants[41].name    // "tenant-42"
  /// ```
  ///
  /// - Returns: The collections, in the order of the names.
  /// - Throws: ``StoreError/Code/alreadyExists`` if one of the collections exists with a different
  ///   identity, ``StoreError/Code/invalidName``. None is created then.
  @discardableResult
  public func createCollections(
    _ names: [String], identity: CollectionIdentity = .key
  ) throws -> [DocumentCollection] {
    for name in names { try InternalCollection.refuse(name) }
    try writing(atomic: true) {
      try $0.createCollections(names.map { CollectionDescription(name: $0, identity: identity) })
    }
    return names.map { self[$0] }
  }
  /// The asynchronous form of `createCollections(_:identity:)`, which does not block the calling
  /// thread.
  @discardableResult
  public func createCollections(
    _ names: [String], identity: CollectionIdentity = .key
  ) async throws -> [DocumentCollection] {
    try await onWriter { try self.createCollections(names, identity: identity) }
  }

  /// Returns the metadata value with this name, or nil if there is none.
  ///
  /// Metadata is stored beside the collections. All names belong to the program: the metadata of an
  /// encrypted store is not visible here. The exceptions are `nano_encryption`, and
  /// `nano_copy` and `nano_import`, which mark an unfinished copy and an unfinished import of an old store.
  public func metadata(_ name: String) throws -> DocumentValue? {
    try reading(.call) { try $0.metadata(name) }
  }
  /// The asynchronous form of `metadata(_:)`, which does not block the calling thread.
  public func metadata(_ name: String) async throws -> DocumentValue? {
    try await onReader { try self.metadata(name) }
  }

  /// Sets or removes a metadata value. Nil and a null value remove it.
  ///
  /// A null value is never stored, because Swift reads the `nil` of an expression such as
  /// `isOn ? nil : value` as the literal of a null ``/NanoDocument/DocumentValue``.
  ///
  /// ```swift
  /// try store.setMetadata("dark", "theme")
  /// try store.setMetadata(usesDefault ? nil : theme, "theme")  // removes it if usesDefault is true
  /// ```
  public func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    try writing { try $0.setMetadata(value == .null ? nil : value, name) }
  }
  /// The asynchronous form of `setMetadata(_:_:)`, which does not block the calling thread.
  public func setMetadata(_ value: DocumentValue?, _ name: String) async throws {
    try await onWriter { try self.setMetadata(value, name) }
  }

  /// Returns the names of all metadata values, sorted.
  public func metadataNames() throws -> [String] { try reading(.call) { try $0.metadataNames() } }
  /// The asynchronous form of `metadataNames()`, which does not block the calling thread.
  public func metadataNames() async throws -> [String] {
    try await onReader { try self.metadataNames() }
  }
}
