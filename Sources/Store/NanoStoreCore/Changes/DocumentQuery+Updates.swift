// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
public import NanoQuery

extension DocumentQuery {
  /// Returns a live query: the results now, and again after each commit that changes them.
  ///
  /// ```swift
  /// for try await adults in try people.find("[age] > 30").sorted(by: "name").updates() {
  ///   list.show(adults)
  /// }
  /// ```
  ///
  /// Only committed changes are visible, even if the loop begins inside a transaction; buffered
  /// saves appear once they are written. With ``select(_:)-(String...)``, only changes of the
  /// selected fields count. By default, commits of other processes are detected within a tenth of a
  /// second.
  ///
  /// - Throws: During iteration, ``StoreError``, including ``StoreError/Code/closed`` if the store
  ///   was closed when the loop began and ``StoreError/Code/unsupported`` if the engine does not
  ///   report commits. An error ends the loop.
  public func updates() -> DocumentUpdates<Document> { decodedUpdates { $0 } }

  /// Returns a live query whose results are decoded to a type; see ``updates()``.
  ///
  /// - Throws: During iteration, also `DecodingError` for a document whose fields do not match the
  ///   type.
  @_disfavoredOverload
  public func updates<Value: Decodable & Sendable>(
    as type: Value.Type
  ) -> DocumentUpdates<Value> {
    decodedUpdates { try $0.decoded(as: type) }
  }

  /// Returns a live query whose results are decoded by the type's own codec; see ``updates()``.
  public func updates<Value: DocumentRepresentable & Sendable>(
    as type: Value.Type
  ) -> DocumentUpdates<Value> {
    decodedUpdates { try $0.decoded(as: type) }
  }

  /// Returns a live query whose results are transformed by a closure; see ``updates()``.
  public func updates<Value: Sendable>(
    _ make: @escaping @Sendable (Document) throws -> Value
  ) -> DocumentUpdates<Value> {
    DocumentUpdates(evaluator: evaluator(isCustom: true) { try $0.map(make) })
  }

  /// Returns a live query whose results are decoded by a closure that depends on their type alone.
  package func decodedUpdates<Value: Sendable>(
    _ decode: @escaping @Sendable (Document) throws -> Value
  ) -> DocumentUpdates<Value> {
    DocumentUpdates(evaluator: evaluator(isCustom: false) { try $0.map(decode) })
  }

  /// Returns a live query of the first matching document, or nil if there is none.
  ///
  /// It returns the document now, and again after each commit that changes it.
  public func firstUpdates() -> ValueUpdates<Document?> { firstUpdates { $0 } }

  /// Returns a live query of the first matching document, decoded by a closure that depends on its
  /// type alone.
  package func firstUpdates<Value: Sendable>(
    _ decode: @escaping @Sendable (Document) throws -> Value
  ) -> ValueUpdates<Value?> {
    let first = limit(Swift.min(1, query.limit ?? 1))
    return ValueUpdates(
      evaluator: first.evaluator(isCustom: false) { try $0.first.map(decode) })
  }

  /// Returns a live query of the number of matching documents.
  ///
  /// ```swift
  /// for try await count in try mails.find("[read] = false").countUpdates() { print(count) }
  /// ```
  public func countUpdates() -> ValueUpdates<Int> {
    ValueUpdates(
      evaluator: evaluator(query, query.usedFields) { [query, name = collection.name] reader in
        let count = try reader.count(query, in: name)
        return LiveResult(.values(Array("\(count)".utf8))) { count }
      })
  }

  /// Returns a live query of the result of ``aggregate(_:)``.
  public func aggregateUpdates(_ aggregates: [Aggregate]) -> ValueUpdates<[DocumentValue]> {
    aggregateUpdates(AggregateQuery(query, aggregates: aggregates)) { $0.first?.values ?? [] }
  }

  /// Returns a live query of the result of ``grouped(by:aggregates:)``.
  public func groupedUpdates(
    by paths: String..., aggregates: [Aggregate]
  ) -> ValueUpdates<[AggregateRow]> {
    aggregateUpdates(
      AggregateQuery(query, groups: paths.map { FieldPath($0) }, aggregates: aggregates)
    ) { $0 }
  }

  private func aggregateUpdates<Value: Sendable>(
    _ aggregateQuery: AggregateQuery, _ make: @escaping @Sendable ([AggregateRow]) -> Value
  ) -> ValueUpdates<Value> {
    ValueUpdates(
      evaluator: evaluator(aggregateQuery.query, aggregateQuery.usedFields) {
        [name = collection.name] reader in
        try aggregateQuery.validate()
        let rows = try reader.aggregate(aggregateQuery, in: name)
        return LiveResult(try .values(of: rows)) { make(rows) }
      })
  }
}

extension DocumentQuery {
  private func evaluator<Value: Sendable>(
    _ query: Query, _ fields: [FieldPath], isCustom: Bool = false,
    _ read: @escaping @Sendable (any EngineReader) throws -> LiveResult<Value>
  ) -> LiveQueryEvaluator<Value> {
    LiveQueryEvaluator(
      store: collection.store, collection: collection.name, query: query, isCustom: isCustom
    ) { [self] reader in
      try collection.checkFailure()
      try logUnknown(fields, reader)
      return try read(reader)
    }
  }

  /// Creates an evaluator that reads the documents and transforms them.
  private func evaluator<Value: Sendable>(
    isCustom: Bool, _ make: @escaping @Sendable ([Document]) throws -> Value
  ) -> LiveQueryEvaluator<Value> {
    evaluator(query, query.usedFields, isCustom: isCustom) { [self] reader in
      var documents: [Document] = []
      var fingerprints: [DocumentFingerprint] = []
      try reader.find(query, in: collection.name) { stored in
        let document = try document(stored, query.fields)
        fingerprints.append(
          query.fields == nil
            ? DocumentFingerprint(stored) : try DocumentFingerprint(selected: document))
        documents.append(document)
        return true
      }
      return LiveResult(.documents(fingerprints)) { [documents] in try make(documents) }
    }
  }
}
