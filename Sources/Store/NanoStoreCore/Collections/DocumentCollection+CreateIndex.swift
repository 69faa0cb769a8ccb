// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine

extension DocumentCollection {
  /// Creates an index. Does nothing if the same index exists.
  ///
  /// ```swift
  /// try films.createIndex("year", "title")                    // filter and sort by both
  /// try people.createIndex("email", unique: true)
  /// try films.createIndex("genres")                           // each element, if the field holds arrays
  /// try films.createIndex("year", concurrently: true)         // others write in the meantime
  /// ```
  ///
  /// - Parameters:
  ///   - paths: The fields, most significant first. A leading `-` means descending.
  ///   - unique: Whether two documents may not have the same values. Documents without a value
  ///     never collide. Of arrays, elements collide if the index is on elements, and otherwise equal whole arrays.
  ///   - elements: Whether each element of an array is indexed (a multi-valued index). If nil,
  ///     elements are indexed if there is a single field, it has held an array so far, and its path
  ///     addresses no element by number.
  ///   - name: The name of the index; derived from the fields if nil.
  ///   - concurrently: Whether others can write to the collection while the index is built, which
  ///     takes longer: on a server for every index (`CREATE INDEX CONCURRENTLY`), in a file for an
  ///     index of elements that is not unique. Other indexes of a file are built in one step, as
  ///     without this option. If the call is canceled or the program ends, no query uses the index,
  ///     but writes maintain what was built: call it again, or ``dropIndex(_:)-(_)``. Not possible in
  ///     a `write` block.
  /// - Returns: The new or existing index.
  /// - Throws: ``StoreError/Code/uniqueViolation`` if documents already collide,
  ///   ``StoreError/Code/alreadyExists`` if the name belongs to a different index,
  ///   ``StoreError/Code/locked`` if the same index is being created concurrently. No index is then
  ///   created.
  @discardableResult
  public func createIndex(
    _ paths: String..., unique: Bool = false, elements: Bool? = nil, name: String? = nil,
    concurrently: Bool = false
  ) throws -> IndexDefinition {
    try createIndex(
      paths: paths, unique: unique, elements: elements, name: name, concurrently: concurrently)
  }
  /// The asynchronous form of `createIndex(_:unique:elements:name:concurrently:)`, which does not
  /// block the calling thread. With `concurrently`, it does not wait for writes that were called
  /// before, nor do later ones wait for it.
  @discardableResult
  public func createIndex(
    _ paths: String..., unique: Bool = false, elements: Bool? = nil, name: String? = nil,
    concurrently: Bool = false
  ) async throws -> IndexDefinition {
    try await createIndex(
      paths: paths, unique: unique, elements: elements, name: name, concurrently: concurrently)
  }

  /// Creates an index on fields given as an array; see
  /// ``createIndex(_:unique:elements:name:concurrently:)-(String...,_,_,_,_)``.
  @discardableResult
  public func createIndex(
    paths: [String], unique: Bool = false, elements: Bool? = nil, name: String? = nil,
    concurrently: Bool = false
  ) throws -> IndexDefinition {
    let columns = paths.map { IndexDefinition.Column(signed: $0) }
    try InternalCollection.refuse(self.name)
    guard concurrently else {
      return try writing(atomic: true) { writer in
        try createIndex(columns, unique: unique, elements: elements, named: name, writer)
      }
    }
    let index = try reading(.call) {
      try definition(columns, unique: unique, elements: elements, named: name, $0)
    }
    try createConcurrently(index)
    return index
  }
  /// The asynchronous form of `createIndex(paths:unique:elements:name:concurrently:)`, which does
  /// not block the calling thread.
  @discardableResult
  public func createIndex(
    paths: [String], unique: Bool = false, elements: Bool? = nil, name: String? = nil,
    concurrently: Bool = false
  ) async throws -> IndexDefinition {
    @Sendable func create() throws -> IndexDefinition {
      try self.createIndex(
        paths: paths, unique: unique, elements: elements, name: name, concurrently: concurrently)
    }
    return concurrently ? try await onReader(create) : try await onWriter(create)
  }

  /// Creates an index from a definition; see
  /// ``createIndex(_:unique:elements:name:concurrently:)-(String...,_,_,_,_)``.
  public func createIndex(_ index: IndexDefinition) throws {
    try InternalCollection.refuse(name)
    try writing(atomic: true) { try $0.createIndex(index, in: name) }
  }
  /// The asynchronous form of `createIndex(_:)`, which does not block the calling thread.
  public func createIndex(_ index: IndexDefinition) async throws {
    try await onWriter { try self.createIndex(index) }
  }

  func createIndex(
    _ columns: [IndexDefinition.Column], unique: Bool, elements: Bool?, named name: String?,
    _ writer: any EngineWriter
  ) throws -> IndexDefinition {
    let index = try definition(columns, unique: unique, elements: elements, named: name, writer)
    try writer.createIndex(index, in: self.name)
    return index
  }

  private func definition(
    _ columns: [IndexDefinition.Column], unique: Bool, elements: Bool?, named name: String?,
    _ reader: any EngineReader
  ) throws -> IndexDefinition {
    let isList =
      try elements
      ?? (columns.count == 1 && !columns[0].path.addressesElement
        && reader.observedPaths(in: self.name).contains { $0.isList(at: columns[0].path) })
    return IndexDefinition(
      name: name, columns: columns, isUnique: unique, kind: isList ? .elements : .fields)
  }

  /// Creates an index outside of a transaction.
  private func createConcurrently(_ index: IndexDefinition) throws {
    try store.requireNoTransaction()
    // The values of a document that has expired can be used again.
    func deleteExpired() throws -> Bool {
      let expiring = try reading(.call) { try $0.expiringCollections() }
      guard expiring.contains(where: { $0.folded == name.folded }) else { return false }
      _ = try store.deleteExpired(in: name)
      return true
    }
    guard index.isUnique, try deleteExpired() else { return try build(index) }
    do {
      try build(index)
    } catch let error as StoreError where error.code == .uniqueViolation {
      // Documents that expired during the build, or that others deleted during it, collide in its snapshot.
      _ = try deleteExpired()
      try build(index)
    }
  }

  /// Builds an index in steps if the engine has no other way.
  private func build(_ index: IndexDefinition) throws {
    // Without waiting for queued calls, as documented.
    try store.flush()
    let engine = try store.engine()
    guard try !engine.createIndexConcurrently(index, in: name, Interruption.current) else {
      return
    }
    var isComplete = try engine.write(Interruption.current) { writer in
      try store.removingSweptReferences(writer) { try $0.beginIndex(index, in: name) }
    }
    while !isComplete {
      isComplete = try engine.write(Interruption.current) {
        try $0.continueIndex(index.name, in: name, documents: Self.documentsPerStep)
      }
    }
  }

  /// Arbitrary: others wait a few milliseconds for a step.
  private static var documentsPerStep: Int { 500 }
}

extension ObservedPath {
  /// Whether this is the path of an array, at the end or along the way.
  fileprivate func isList(at field: FieldPath) -> Bool {
    // Observed paths omit the quotes that distinguish a numeric name from an element index.
    let names = FieldPath(components: field.components).description
    return path.contains("[]") && path.replacing("[]", with: "").hasSameBytes(as: names)
  }
}
