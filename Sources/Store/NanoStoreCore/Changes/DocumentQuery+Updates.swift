// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
public import NanoQuery

extension DocumentQuery {
  /// What is found, at once and again after each commit that changed it.
  ///
  /// ```swift
  /// for try await adults in try people.find("[age] > 30").sorted(by: "name").updates() {
  ///   list.show(adults)
  /// }
  /// ```
  ///
  /// Only what is committed is seen, also when the loop begins inside of a transaction; saves that are
  /// collected come when they are written. With ``select(_:)-(String...)`` only changes of those
  /// fields count. Commits of other processes are seen within
  /// a tenth of a second, if the configuration says nothing else.
  ///
  /// - Throws: While it runs: ``StoreError``, among others ``StoreError/Code/closed`` if the store is
  ///   closed when the loop begins, ``StoreError/Code/unsupported`` if the engine tells of no commits.
  ///   The loop is over then.
  public func updates() -> DocumentUpdates<Document> { updates { $0 } }

  /// As ``updates()``, with values of your own type made from the documents.
  ///
  /// - Throws: While it runs, also `DecodingError` for a document whose fields do not fit.
  public func updates<Value: Decodable & Sendable>(
    as type: Value.Type
  ) -> DocumentUpdates<Value> {
    updates { try $0.decoded(as: type) }
  }

  /// As ``updates()``, with values that read themselves.
  public func updates<Value: DocumentRepresentable & Sendable>(
    as type: Value.Type
  ) -> DocumentUpdates<Value> {
    updates { try $0.decoded(as: type) }
  }

  /// As ``updates()``, with what a closure makes of each document.
  public func updates<Value: Sendable>(
    _ make: @escaping @Sendable (Document) throws -> Value
  ) -> DocumentUpdates<Value> {
    DocumentUpdates(question: question { documents in try documents.map(make) })
  }

  /// The first document that is found, nil if there is none, at once and again after each commit that
  /// changed it.
  public func firstUpdates() -> ValueUpdates<Document?> {
    ValueUpdates(question: limit(Swift.min(1, query.limit ?? 1)).question { $0.first })
  }

  /// How many documents are found, at once and again after each commit that changed the number.
  ///
  /// ```swift
  /// for try await count in try mails.find("[read] = false").countUpdates() { print(count) }
  /// ```
  public func countUpdates() -> ValueUpdates<Int> {
    ValueUpdates(
      question: question(query, query.usedFields) { [query, name = collection.name] reader in
        let count = try reader.count(query, in: name)
        return LiveAnswer(.values(Array("\(count)".utf8))) { count }
      })
  }

  /// What ``aggregate(_:)`` gives, at once and again after each commit that changed it.
  public func aggregateUpdates(_ aggregates: [Aggregate]) -> ValueUpdates<[DocumentValue]> {
    aggregateUpdates(AggregateQuery(query, aggregates: aggregates)) { $0.first?.values ?? [] }
  }

  /// What ``grouped(by:aggregates:)`` gives, at once and again after each commit that changed it.
  public func groupedUpdates(
    by paths: String..., aggregates: [Aggregate]
  ) -> ValueUpdates<[AggregateRow]> {
    aggregateUpdates(
      AggregateQuery(query, groups: paths.map { FieldPath($0) }, aggregates: aggregates)
    ) { $0 }
  }

  private func aggregateUpdates<Value: Sendable>(
    _ asked: AggregateQuery, _ make: @escaping @Sendable ([AggregateRow]) -> Value
  ) -> ValueUpdates<Value> {
    ValueUpdates(
      question: question(asked.query, asked.usedFields) { [name = collection.name] reader in
        try asked.validate()
        let rows = try reader.aggregate(asked, in: name)
        return LiveAnswer(try .values(of: rows)) { make(rows) }
      })
  }
}

extension DocumentQuery {
  private func question<Value: Sendable>(
    _ query: Query, _ fields: [FieldPath],
    _ read: @escaping @Sendable (any EngineReader) throws -> LiveAnswer<Value>
  ) -> LiveQueryEvaluator<Value> {
    LiveQueryEvaluator(store: collection.store, collection: collection.name, query: query) {
      [self] reader in
      try collection.checkFailure()
      try logUnknown(fields, reader)
      return try read(reader)
    }
  }

  /// The documents, and what is made of them.
  private func question<Value: Sendable>(
    _ make: @escaping @Sendable ([Document]) throws -> Value
  ) -> LiveQueryEvaluator<Value> {
    question(query, query.usedFields) { [self] reader in
      var documents: [Document] = []
      var marks: [DocumentMark] = []
      try reader.find(query, in: collection.name) { stored in
        let document = try document(stored, query.fields)
        marks.append(
          query.fields == nil ? DocumentMark(stored) : try DocumentMark(selected: document))
        documents.append(document)
        return true
      }
      return LiveAnswer(.documents(marks)) { [documents] in try make(documents) }
    }
  }
}
