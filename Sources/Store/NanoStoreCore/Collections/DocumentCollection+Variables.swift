// SPDX-License-Identifier: MIT

public import NanoDocument

/// The calls that take fields, for literals with variables in them.
extension DocumentCollection {
  /// Stores a new document whose fields are given with variables.
  ///
  /// ```swift
  /// try films.insert(["title": title, "year": year], key: "alien")
  /// ```
  ///
  /// - Throws: As ``insert(_:key:)-(DocumentObject,_)``.
  @discardableResult
  @_disfavoredOverload
  public func insert(_ fields: DocumentFields, key: String? = nil) throws -> Document {
    try insert(DocumentObject(fields), key: key)
  }
  @discardableResult
  @_disfavoredOverload
  public func insert(_ fields: DocumentFields, key: String? = nil) async throws -> Document {
    try await insert(DocumentObject(fields), key: key)
  }

  /// Stores a document whose fields are given with variables under its key, replacing the one that has it.
  ///
  /// - Throws: As ``save(_:key:)-(DocumentObject,_)``.
  @discardableResult
  @_disfavoredOverload
  public func save(_ fields: DocumentFields, key: String? = nil) throws -> Document {
    try save(DocumentObject(fields), key: key)
  }
  @discardableResult
  @_disfavoredOverload
  public func save(_ fields: DocumentFields, key: String? = nil) async throws -> Document {
    try await save(DocumentObject(fields), key: key)
  }

  /// Changes some fields of a document to values of variables.
  ///
  /// ```swift
  /// try people.update("ada", set: ["age": age, "address.city": city])
  /// ```
  ///
  /// - Throws: As ``update(_:set:remove:)-(_,KeyValuePairs<FieldPath,DocumentValue>,_)``.
  @discardableResult
  @_disfavoredOverload
  public func update(
    _ key: String, set: KeyValuePairs<FieldPath, any DocumentValueConvertible & Sendable>,
    remove: [FieldPath] = []
  ) throws -> Document { try update(key, FieldChanges(set: set, remove: remove)) }
  @discardableResult
  @_disfavoredOverload
  public func update(
    _ key: String, set: KeyValuePairs<FieldPath, any DocumentValueConvertible & Sendable>,
    remove: [FieldPath] = []
  ) async throws -> Document { try await update(key, FieldChanges(set: set, remove: remove)) }
}

extension DocumentQuery {
  /// Changes some fields of everything that is found to values of variables; see ``update(_:)-(FieldChanges)``.
  @discardableResult
  @_disfavoredOverload
  public func update(
    set: KeyValuePairs<FieldPath, any DocumentValueConvertible & Sendable>,
    remove: [FieldPath] = []
  ) throws -> Int { try update(FieldChanges(set: set, remove: remove)) }
  @discardableResult
  @_disfavoredOverload
  public func update(
    set: KeyValuePairs<FieldPath, any DocumentValueConvertible & Sendable>,
    remove: [FieldPath] = []
  ) async throws -> Int { try await update(FieldChanges(set: set, remove: remove)) }
}

extension FieldChanges {
  /// Changes to values of variables.
  @_disfavoredOverload
  public init(
    set: KeyValuePairs<FieldPath, any DocumentValueConvertible & Sendable>,
    remove: [FieldPath] = []
  ) {
    self.init(remove: remove)
    self.set = set.map { ($0.key, $0.value.documentValue) }
  }
}
