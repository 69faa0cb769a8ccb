// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
public import NanoStoreCore

extension ModelQuery {
  /// Returns what is found, and skips documents that are no values of the model.
  ///
  /// ```swift
  /// let (people, skipped) = try people.find().fetchSkippingFailures()
  /// for document in skipped { print(document.key ?? "", document.error) }
  /// ```
  ///
  /// - Returns: The values in order, and the documents that were skipped, each with an error that names the field.
  /// - Throws: ``StoreError`` for the query itself, such as one on a property that is not stored.
  public func fetchSkippingFailures() throws -> (values: [M], skipped: [SkippedDocument]) {
    var (values, skipped): ([M], [SkippedDocument]) = ([], [])
    try eachDecoded({ skipped.append($0) }) { values.append($0) }
    return (values, skipped)
  }
  public func fetchSkippingFailures() async throws
    -> sending (
      values: [M], skipped: [SkippedDocument]
    )
  { try await fromReader { try $0.fetchSkippingFailures() } }

  /// Shows one value after the other, and reports documents that are no values of the model, without keeping
  /// them. As ``each(_:)`` otherwise.
  ///
  /// - Throws: What a closure throws, which ends the query.
  public func each(
    onFailure: (SkippedDocument) throws -> Void, _ show: (M) throws -> Void
  ) throws {
    guard collection.store.isInTransaction else { return try eachDecoded(onFailure, show) }
    // What a closure writes could be found again, without end.
    let (values, skipped) = try fetchSkippingFailures()
    for document in skipped { try onFailure(document) }
    for value in values { try show(value) }
  }
  public func each(
    onFailure: @escaping @Sendable (SkippedDocument) throws -> Void,
    _ show: @escaping @Sendable (M) throws -> Void
  ) async throws {
    try await onReader { try $0.each(onFailure: onFailure, show) }
  }

  private func eachDecoded(
    _ onFailure: (SkippedDocument) throws -> Void, _ show: (M) throws -> Void
  ) throws {
    let decoder = collection.decoder
    try documentQuery().showStored { stored in
      let value: M
      do throws(StoreError) {
        value = try decoder.value(stored)
      } catch {
        try onFailure(SkippedDocument(stored, error))
        return true
      }
      try show(value)
      return true
    }
  }
}

extension ModelQuery where M: Sendable {
  /// What is found, as an asynchronous sequence in constant memory that skips documents that are no values of
  /// the model.
  ///
  /// ```swift
  /// for try await person in people.find().stream(onFailure: { log($0.rowID, $0.error) }) { … }
  /// ```
  ///
  /// - Parameter onFailure: Called with each skipped document, by the loop, before the next value.
  public func stream(
    onFailure: @escaping @Sendable (SkippedDocument) -> Void
  ) -> ModelStream<M> { ModelStream(query: self, onFailure: onFailure) }
}
