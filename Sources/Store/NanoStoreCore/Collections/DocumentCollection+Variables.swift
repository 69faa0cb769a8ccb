// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoQuery

// Overloads that accept literals with variables.
extension DocumentCollection {
  /// Inserts a new document whose fields are a literal with variables.
  ///
  /// ```swift
  /// try films.insert(["title": title, "year": year], key: "alien")
  /// ```
  ///
  /// - Throws: The errors of ``insert(_:key:)-(DocumentObject,_)``.
  @discardableResult
  @_disfavoredOverload
  public func insert(_ fields: DocumentFields, key: String? = nil) throws -> Document {
    try insert(DocumentObject(fields), key: key)
  }
  /// The asynchronous form of `insert(_:key:)`, which does not block the calling thread.
  @discardableResult
  @_disfavoredOverload
  public func insert(_ fields: DocumentFields, key: String? = nil) async throws -> Document {
    try await insert(DocumentObject(fields), key: key)
  }

  /// Saves a document whose fields are a literal with variables.
  ///
  /// It replaces the document with the same key.
  ///
  /// - Throws: The errors of ``save(_:key:)-(DocumentObject,_)``.
  @discardableResult
  @_disfavoredOverload
  public func save(_ fields: DocumentFields, key: String? = nil) throws -> Document {
    try save(DocumentObject(fields), key: key)
  }
  /// The asynchronous form of `save(_:key:)`, which does not block the calling thread.
  @discardableResult
  @_disfavoredOverload
  public func save(_ fields: DocumentFields, key: String? = nil) async throws -> Document {
    try await save(DocumentObject(fields), key: key)
  }

  /// Changes some fields of a document to the values of variables.
  ///
  /// ```swift
  /// try people.update("ada", set: ["age": age, "address.city": city])
  /// ```
  ///
  /// - Throws: The errors of
  ///   ``update(_:set:remove:)-(_,KeyValuePairs<FieldPath,DocumentValue>,_)``.
  @discardableResult
  @_disfavoredOverload
  public func update(
    _ key: String, set: KeyValuePairs<FieldPath, any DocumentValueConvertible & Sendable>,
    remove: [FieldPath] = []
  ) throws -> Document { try update(key, FieldChange.list(set, remove)) }
  /// The asynchronous form of `update(_:set:remove:)`, which does not block the calling thread.
  @discardableResult
  @_disfavoredOverload
  public func update(
    _ key: String, set: KeyValuePairs<FieldPath, any DocumentValueConvertible & Sendable>,
    remove: [FieldPath] = []
  ) async throws -> Document { try await update(key, FieldChange.list(set, remove)) }
}

extension DocumentQuery {
  /// Changes some fields of all matching documents to the values of variables; see
  /// ``update(set:remove:)-(KeyValuePairs<FieldPath,DocumentValue>,_)``.
  @discardableResult
  @_disfavoredOverload
  public func update(
    set: KeyValuePairs<FieldPath, any DocumentValueConvertible & Sendable>,
    remove: [FieldPath] = []
  ) throws -> Int { try update(FieldChange.list(set, remove)) }
  /// The asynchronous form of `update(set:remove:)`, which does not block the calling thread.
  @discardableResult
  @_disfavoredOverload
  public func update(
    set: KeyValuePairs<FieldPath, any DocumentValueConvertible & Sendable>,
    remove: [FieldPath] = []
  ) async throws -> Int { try await update(FieldChange.list(set, remove)) }
}

extension FieldChange {
  fileprivate static func list(
    _ set: KeyValuePairs<FieldPath, any DocumentValueConvertible & Sendable>, _ remove: [FieldPath]
  ) -> [FieldChange] {
    set.map { .set($0.key, $0.value.documentValue) } + remove.map { .remove($0) }
  }
}
