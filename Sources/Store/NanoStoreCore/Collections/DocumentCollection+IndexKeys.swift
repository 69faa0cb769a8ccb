// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine
import NanoQuery

extension DocumentCollection {
  /// Makes an index of fields that are written as text, with aliases; does nothing if there is one of
  /// the same fields in the same directions, however it was written and named.
  ///
  /// ```swift
  /// try people.createIndex(keys: "[last], [address.city] DESC")
  /// try people.createIndex(keys: "[email]", unique: true)
  /// ```
  ///
  /// A single field gets an index on elements if it held an array so far, as with
  /// ``createIndex(_:unique:elements:name:)-(String...,_,_,_)``.
  ///
  /// - Returns: The index that is there now.
  /// - Throws: ``StoreError/Code/invalidQuery`` if the text is no list of fields,
  ///   ``StoreError/Code/uniqueViolation`` if documents collide already. There is no index then, and
  ///   the collection works as before.
  @discardableResult
  public func createIndex(keys: String, unique: Bool = false) throws -> IndexDefinition {
    let columns = try fields(in: keys)
    try InternalCollection.refuse(name)
    return try writing(atomic: true) { writer in
      let known = try writer.indexes(in: name).first {
        $0.columns == columns && $0.isUnique == unique
      }
      if let known { return known }
      return try createIndex(columns, unique: unique, elements: nil, named: nil, writer)
    }
  }
  @discardableResult
  public func createIndex(keys: String, unique: Bool = false) async throws -> IndexDefinition {
    try await onWriter { try self.createIndex(keys: keys, unique: unique) }
  }

  /// The fields of a list, with their directions.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` for an empty list, and for anything but fields.
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
    .invalidQuery, "A list of fields holds something else",
    [.expected: "fields in square brackets, separated by commas"])
}

extension IndexDefinition {
  /// The fields as text: `[last], [address.city] DESC`.
  public var keys: String {
    columns.map { Ordering($0.path, descending: $0.descending).queryText }.joined(separator: ", ")
  }
}
