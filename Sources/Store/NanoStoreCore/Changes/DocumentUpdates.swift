// SPDX-License-Identifier: MIT

/// What a query finds, first now and then after each commit that changed it.
///
/// ```swift
/// for try await adults in try people.find("[age] > 30").updates() { print(adults.count) }
/// ```
///
/// An element is the whole answer at one moment. A loop that is slow gets the newest one, and those
/// between are left out. docs/CHANGES.md says what is promised.
public struct DocumentUpdates<Document: Sendable>: LiveSequence {
  public typealias Element = [Document]
  let question: LiveQueryEvaluator<[Document]>

  public func makeAsyncIterator() -> Iterator { Iterator(reader: LiveReader(question)) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: LiveReader<[Document]>

    /// - Throws: ``StoreError``, which ends the sequence; `CancellationError`.
    public mutating func next() async throws -> [Document]? { try await reader.next()?.value }
  }
}

/// One value computed from what a query finds, first now and then after each commit that changed it.
///
/// ```swift
/// for try await count in try people.find("[age] > 30").countUpdates() { print(count) }
/// ```
public struct ValueUpdates<Value: Sendable>: LiveSequence {
  public typealias Element = Value
  let question: LiveQueryEvaluator<Value>

  public func makeAsyncIterator() -> Iterator { Iterator(reader: LiveReader(question)) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: LiveReader<Value>

    /// - Throws: ``StoreError``, which ends the sequence; `CancellationError`.
    public mutating func next() async throws -> Value? { try await reader.next()?.value }
  }
}

extension DocumentUpdates {
  /// Each answer with what makes it of the one before.
  ///
  /// ```swift
  /// for try await update in query.updates().differences() {
  ///   update.difference.apply(to: &rows, update.documents)
  /// }
  /// ```
  ///
  /// The first one is the difference from nothing. Each one after that is the difference from the
  /// answer that the loop got last, also where some between were left out.
  public func differences() -> DifferenceUpdates<Document> {
    DifferenceUpdates(question: question)
  }
}

/// What a query finds, each time with the difference from the time before.
public struct DifferenceUpdates<Document: Sendable>: LiveSequence {
  public typealias Element = DocumentsUpdate<Document>
  let question: LiveQueryEvaluator<[Document]>

  public func makeAsyncIterator() -> Iterator { Iterator(reader: LiveReader(question)) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: LiveReader<[Document]>

    /// - Throws: ``StoreError``, which ends the sequence; `CancellationError`.
    public mutating func next() async throws -> DocumentsUpdate<Document>? {
      guard let next = try await reader.next() else { return nil }
      return DocumentsUpdate(
        documents: next.value,
        difference: DocumentDifference(
          from: next.before?.documents ?? [], to: next.mark.documents))
    }
  }
}

/// What is found, and how it differs from what was found before.
public struct DocumentsUpdate<Document: Sendable>: Sendable {
  /// All that is found now, in order.
  public let documents: [Document]
  /// What makes it of the documents before.
  public let difference: DocumentDifference
}
