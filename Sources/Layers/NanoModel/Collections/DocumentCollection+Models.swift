// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoStoreCore

/// The calls for values with a codec of their own. A model also has a key, a version and upgrades, so
/// they do the same as those of ``ModelCollection``.
extension DocumentCollection {
  /// Inserts a value of a model as a new document, like ``ModelCollection/insert(_:key:)``.
  ///
  /// ```swift
  /// let films = store["films"]
  /// try films.insert(Film(id: "ran", year: 1985))          // under the key "ran"
  /// try films.get("ran", as: Film.self)?.year              // 1985
  /// ```
  ///
  /// - Throws: The errors of ``ModelCollection/insert(_:key:)``. Nothing was stored.
  @discardableResult
  public func insert<M: Model>(_ value: M, key: String? = nil) throws -> Document {
    try models(M.self).write(.insert, value, given: key).document
  }
  /// The asynchronous form of `insert(_:key:)`, which does not block the calling thread.
  @discardableResult
  public func insert<M: Model>(_ value: sending M, key: String? = nil) async throws -> Document {
    try await onWriter(sending: value) { try self.insert($0, key: key) }
  }

  /// Saves a value of a model under its own key or a given one, replacing the document with that
  /// key.
  ///
  /// - Throws: The errors of ``ModelCollection/save(_:key:)``; ``StoreError/Code/invalidKey`` if
  ///   there is no key. The stored document is unchanged.
  @discardableResult
  public func save<M: Model>(_ value: M, key: String? = nil) throws -> Document {
    if key == nil, try value.documentKey == nil {
      throw StoreError.savedWithoutKey.adding(.collection, name)
    }
    return try models(M.self).write(.save, value, given: key).document
  }
  /// The asynchronous form of `save(_:key:)`, which does not block the calling thread.
  @discardableResult
  public func save<M: Model>(_ value: sending M, key: String? = nil) async throws -> Document {
    try await onWriter(sending: value) { try self.save($0, key: key) }
  }

  /// Inserts values of a model as new documents, atomically.
  ///
  /// - Returns: Their row IDs, in order.
  /// - Throws: The errors of inserting one value, with its position. Nothing was stored.
  @discardableResult
  public func insert<M: Model>(_ values: some Sequence<M>) throws -> [Int64] {
    try models(M.self).insert(values)
  }
  /// The asynchronous form of `insert(_:)`, which does not block the calling thread.
  @discardableResult
  public func insert<M: Model>(
    _ values: sending some Sequence<M> & SendableMetatype
  ) async throws -> [Int64] {
    try await onWriter(sending: values) { try self.insert($0) }
  }

  /// Returns the value of a model with this key, or nil if there is none.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` with the field if the document does not decode as
  ///   the model, and the errors of the model's upgrades.
  public func get<M: Model>(_ key: String, as type: M.Type) throws -> M? {
    try models(type).get(key)
  }
  /// The asynchronous form of `get(_:as:)`, which does not block the calling thread.
  public func get<M: Model>(_ key: String, as type: M.Type) async throws -> sending M? {
    try await fromReader { try self.get(key, as: type) }
  }
}

extension Document {
  /// Returns the value of a model that the document represents.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` with the field if the document does not decode as
  ///   the model, and the errors of the model's upgrades.
  public func decoded<M: Model>(as type: M.Type = M.self) throws -> M {
    try ModelDecoder<M>(header.collection ?? "").value(self)
  }
}
