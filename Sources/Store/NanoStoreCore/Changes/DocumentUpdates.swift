// SPDX-License-Identifier: MIT

/// A live view of a query's results: the current ones, and new ones after each commit that changes
/// them.
///
/// ```swift
/// for try await adults in try people.find("[age] > 30").updates() { print(adults.count) }
/// ```
///
/// Each element is the complete result at one moment. A slow loop receives the newest result;
/// intermediate ones are skipped. docs/CHANGES.md lists the guarantees.
public struct DocumentUpdates<Document: Sendable>: LiveSequence {
  /// The complete results of the query.
  public typealias Element = [Document]
  package let evaluator: LiveQueryEvaluator<[Document]>

  package init(evaluator: LiveQueryEvaluator<[Document]>) { self.evaluator = evaluator }

  /// Returns an iterator, which executes the query with its first call.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: LiveReader(evaluator)) }

  /// Iterates over the results of a live query.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: LiveReader<[Document]>

    /// Returns the next result, or nil when the store is closed.
    ///
    /// - Throws: ``StoreError``, which ends the sequence; `CancellationError`.
    public mutating func next() async throws -> [Document]? { try await reader.next()?.value }
  }
}

/// A live view of a single value computed from a query's results.
///
/// ```swift
/// for try await count in try people.find("[age] > 30").countUpdates() { print(count) }
/// ```
public struct ValueUpdates<Value: Sendable>: LiveSequence {
  /// The value computed from the results.
  public typealias Element = Value
  package let evaluator: LiveQueryEvaluator<Value>

  package init(evaluator: LiveQueryEvaluator<Value>) { self.evaluator = evaluator }

  /// Returns an iterator, which executes the query with its first call.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: LiveReader(evaluator)) }

  /// Iterates over the values of a live query.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: LiveReader<Value>

    /// Returns the next value, or nil when the store is closed.
    ///
    /// - Throws: ``StoreError``, which ends the sequence; `CancellationError`.
    public mutating func next() async throws -> Value? { try await reader.next()?.value }
  }
}

extension DocumentUpdates {
  /// Returns each result with its difference from the previous one.
  ///
  /// ```swift
  /// for try await update in query.updates().differences() {
  ///   update.difference.apply(to: &rows, update.documents)
  /// }
  /// ```
  ///
  /// The first difference is from an empty list. Each later one is from the result that the loop
  /// received last, even if intermediate results were skipped.
  public func differences() -> DifferenceUpdates<Document> {
    DifferenceUpdates(evaluator: evaluator)
  }
}

/// A live view of a query's results, each with its difference from the previous one.
public struct DifferenceUpdates<Document: Sendable>: LiveSequence {
  /// The complete results, with their difference from the previous ones.
  public typealias Element = DocumentsUpdate<Document>
  package let evaluator: LiveQueryEvaluator<[Document]>

  /// Returns an iterator, which executes the query with its first call.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: LiveReader(evaluator)) }

  /// Iterates over the results and differences of a live query.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: LiveReader<[Document]>

    /// Returns the next result and difference, or nil when the store is closed.
    ///
    /// - Throws: ``StoreError``, which ends the sequence; `CancellationError`.
    public mutating func next() async throws -> DocumentsUpdate<Document>? {
      guard let next = try await reader.next() else { return nil }
      return DocumentsUpdate(
        documents: next.value,
        difference: DocumentDifference(
          from: next.before?.documents ?? [], to: next.fingerprint.documents))
    }
  }
}

/// The current results of a live query, and their difference from the previous ones.
public struct DocumentsUpdate<Document: Sendable>: Sendable {
  /// The current results, in order.
  public let documents: [Document]
  /// The difference from the previous results.
  public let difference: DocumentDifference
}
