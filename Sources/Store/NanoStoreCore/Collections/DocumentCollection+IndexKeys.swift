// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine
import NanoQuery

extension DocumentCollection {
  /// Creates an index on fields written as text, which may contain aliases.
  ///
  /// Does nothing if a declared index of the same fields and directions exists, whatever its name
  /// and spelling. An adaptive one becomes a declared index.
  ///
  /// ```swift
  /// try people.createIndex(keys: "[last], [address.city] DESC")
  /// try people.createIndex(keys: "[email]", unique: true)
  /// ```
  ///
  /// A single field gets a multi-valued index if it has held an array so far, as with
  /// ``createIndex(_:unique:elements:name:concurrently:)-(String...,_,_,_,_)``.
  ///
  /// - Returns: The new or existing index.
  /// - Throws: ``StoreError/Code/invalidQuery`` if the text is not a list of fields,
  ///   ``StoreError/Code/uniqueViolation`` if documents already collide. No index is then created,
  ///   and the collection works as before.
  @discardableResult
  public func createIndex(keys: String, unique: Bool = false) throws -> IndexDefinition {
    let columns = try fields(in: keys)
    try InternalCollection.refuse(name)
    return try writing(atomic: true) { writer in
      let known = try writer.indexes(in: name).first {
        $0.columns == columns && $0.isUnique == unique && $0.origin == .declared
      }
      if let known { return known }
      return try createIndex(columns, unique: unique, elements: nil, named: nil, writer)
    }
  }
  /// The asynchronous form of `createIndex(keys:unique:)`, which does not block the calling thread.
  @discardableResult
  public func createIndex(keys: String, unique: Bool = false) async throws -> IndexDefinition {
    try await onWriter { try self.createIndex(keys: keys, unique: unique) }
  }

  /// Parses a list of fields with their directions.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` for an empty list, and for anything other than
  ///   fields.
  func fields(in text: String) throws(StoreError) -> [IndexDefinition.Column] {
    var columns: [IndexDefinition.Column] = []
    for ordering in try parsed(text, { (text) throws(StoreError) in try QueryText.orderings(text) })
    {
      guard case .field(let path) = ordering.expression else { throw Self.noField }
      columns.append(IndexDefinition.Column(path, descending: ordering.descending))
    }
    guard !columns.isEmpty else { throw Self.noField }
    return columns
  }

  private static let noField = StoreError(
    .invalidQuery, "The text is not a list of fields",
    [.expected: "fields in square brackets, separated by commas"])
}

extension IndexDefinition {
  /// The fields of the index as text, such as `[last], [address.city] DESC`.
  public var keys: String {
    columns.map { Ordering($0.path, descending: $0.descending).queryText }.joined(separator: ", ")
  }
}
