// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentPipeline {
  /// Returns a live query of the rows: now, and again after each commit that changes them, in any of the
  /// collections that the pipeline reads, including those that conditions on related documents name.
  ///
  /// ```swift
  /// for try await rows in mails.find().grouped(by: ["folder": "folder"], ["mails": .count]).updates() {
  ///   sidebar.show(rows)
  /// }
  /// ```
  ///
  /// - Throws: During iteration, the errors of ``rows()``, and those of ``DocumentQuery/updates()``.
  public func updates() -> ValueUpdates<[DocumentObject]> { updates { $0 } }

  /// Returns a live query of the rows, decoded to a type; see ``updates()``.
  ///
  /// - Throws: During iteration, also `DecodingError` for a row whose fields do not match the type.
  public func updates<Value: Decodable & Sendable>(as type: Value.Type) -> ValueUpdates<[Value]> {
    updates { rows in
      let decoder = DocumentDecoder()
      return try rows.map { try decoder.decode(type, from: .object($0)) }
    }
  }

  private func updates<Value: Sendable>(
    _ make: @escaping @Sendable ([DocumentObject]) throws -> [Value]
  ) -> ValueUpdates<[Value]> {
    ValueUpdates(
      evaluator: LiveQueryEvaluator(
        store: source.collection.store, collection: source.collection.name, query: source.query,
        related: pipeline.otherCollections
      ) { [self] reader in
        try source.collection.checkFailure()
        try source.logUnknown(source.query.usedFields + pipeline.documentFields, reader)
        try source.validateStages(of: pipeline)
        var rows: [DocumentObject] = []
        try run(reader) {
          rows.append($0)
          return true
        }
        var writer = JSONWriter()
        for row in rows { writer.object(row) }
        if let failure = writer.failure { throw failure }
        return LiveResult(.values(Array(writer.bytes))) { [rows] in try make(rows) }
      })
  }
}
