// SPDX-License-Identifier: MIT

public import NanoStoreCore

extension ModelQuery {
  /// Returns the results and skips documents that do not decode as the model.
  ///
  /// ```swift
  /// let (people, skipped) = try people.find().fetchSkippingFailures()
  /// for document in skipped { print(document.key ?? "", document.error) }
  /// ```
  ///
  /// - Returns: The values in order, and the skipped documents, each with an error that names the
  ///   field.
  /// - Throws: ``StoreError`` for the query itself, such as one on a property that is not stored.
  public func fetchSkippingFailures() throws -> (values: [M], skipped: [SkippedDocument]) {
    var (values, skipped): ([M], [SkippedDocument]) = ([], [])
    try eachDecoded({ skipped.append($0) }) { values.append($0) }
    return (values, skipped)
  }
  /// The asynchronous form of ``fetchSkippingFailures()``, which does not block the calling thread.
  public func fetchSkippingFailures() async throws
    -> sending (
      values: [M], skipped: [SkippedDocument]
    )
  { try await fromReader { try $0.fetchSkippingFailures() } }

  /// Passes the results to a closure one by one, and documents that do not decode to `onFailure`.
  /// Otherwise like ``each(_:)``.
  ///
  /// - Throws: Errors of the closures, which end the query.
  public func each(
    onFailure: (SkippedDocument) throws -> Void, _ body: (M) throws -> Void
  ) throws {
    guard collection.store.isInTransaction else { return try eachDecoded(onFailure, body) }
    // In a transaction, a streaming query could find what a closure writes, endlessly.
    let (values, skipped) = try fetchSkippingFailures()
    for document in skipped { try onFailure(document) }
    for value in values { try body(value) }
  }
  /// The asynchronous form of ``each(onFailure:_:)``, which calls the closures on a thread of the
  /// store.
  public func each(
    onFailure: @escaping @Sendable (SkippedDocument) throws -> Void,
    _ body: @escaping @Sendable (M) throws -> Void
  ) async throws {
    try await onReader { try $0.each(onFailure: onFailure, body) }
  }

  private func eachDecoded(
    _ onFailure: (SkippedDocument) throws -> Void, _ body: (M) throws -> Void
  ) throws {
    try documentQuery().each(as: M.self, onFailure: onFailure, body)
  }
}

extension ModelQuery where M: Sendable {
  /// Returns the results as an asynchronous sequence in constant memory, skipping documents that do
  /// not decode.
  ///
  /// ```swift
  /// for try await person in people.find().stream(onFailure: { log($0.rowID, $0.error) }) { … }
  /// ```
  ///
  /// - Parameter onFailure: Called by the loop with each skipped document, before the next value.
  public func stream(
    onFailure: @escaping @Sendable (SkippedDocument) -> Void
  ) -> ModelStream<M> { ModelStream(query: self, onFailure: onFailure) }
}
