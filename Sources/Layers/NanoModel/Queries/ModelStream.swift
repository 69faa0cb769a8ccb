// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

/// An asynchronous sequence of the results of a query, read from a snapshot that is taken when the
/// first value is requested; see ``DocumentStream``.
///
/// ```swift
/// for try await person in people.find().stream() { … }
/// ```
public struct ModelStream<M: Model & Sendable>: AsyncSequence, Sendable {
  public typealias Element = M
  let query: ModelQuery<M>
  /// Called with documents that do not decode; nil if they end the loop.
  var onFailure: (@Sendable (SkippedDocument) -> Void)?

  public func makeAsyncIterator() -> Iterator { Iterator(query, onFailure) }

  /// The iterator of a stream.
  public struct Iterator: AsyncIteratorProtocol {
    private let query: ModelQuery<M>
    private let onFailure: (@Sendable (SkippedDocument) -> Void)?
    private var documents: DocumentStream.Iterator?

    init(_ query: ModelQuery<M>, _ onFailure: (@Sendable (SkippedDocument) -> Void)?) {
      self.query = query
      self.onFailure = onFailure
    }

    /// Returns the next value, or nil after the last one.
    ///
    /// - Throws: The errors of ``ModelQuery/fetch()-()->[M]``; `CancellationError`.
    public mutating func next() async throws -> M? {
      if documents == nil {
        documents = try await query.onReader { try $0.documentQuery() }.stream()
          .makeAsyncIterator()
      }
      while let document = try await documents?.next() {
        do {
          return try query.collection.decoder.value(document)
        } catch {
          guard let onFailure else { throw error }
          onFailure(
            SkippedDocument(key: document.key, rowID: document.rowID ?? 0, error: error))
        }
      }
      return nil
    }
  }
}
