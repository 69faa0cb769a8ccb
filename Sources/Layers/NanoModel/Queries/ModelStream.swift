// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

/// The values that a query finds, one after the other, from the snapshot that is taken when the first one is
/// asked for; see ``DocumentStream``.
///
/// ```swift
/// for try await person in people.find().stream() { … }
/// ```
public struct ModelStream<M: Model & Sendable>: AsyncSequence, Sendable {
  public typealias Element = M
  let query: ModelQuery<M>

  public func makeAsyncIterator() -> Iterator { Iterator(query) }

  public struct Iterator: AsyncIteratorProtocol {
    private let query: ModelQuery<M>
    private var documents: DocumentStream.Iterator?

    init(_ query: ModelQuery<M>) { self.query = query }

    /// - Throws: As ``ModelQuery/fetch()-()->[M]``; `CancellationError`.
    public mutating func next() async throws -> M? {
      if documents == nil {
        documents = try await query.onReader { try $0.documentQuery() }.stream()
          .makeAsyncIterator()
      }
      return try await documents?.next().map { try query.collection.decoder.value($0) }
    }
  }
}
