// SPDX-License-Identifier: MIT

public import NanoEngine

/// The commits of a store, as they happen.
///
/// ```swift
/// for try await commit in store.changes {
///   if commit.isEverything { index.rebuild() }
///   for change in commit.changes { index.update(change.collection, change.rows) }
/// }
/// ```
///
/// It begins when its iterator is made, as a loop does at its beginning: no commit after that is
/// missing. There is an element for each commit that changed documents. A loop that falls behind by
/// more than 64 commits gets further ones put together, so that nothing grows; then
/// ``Change/Kind/updated`` may also stand for a document that is new to the loop. What is told covers
/// what happened, and may cover more.
public struct ChangeFeed: LiveSequence {
  public typealias Element = Commit
  let store: Store

  public func makeAsyncIterator() -> Iterator { Iterator(FeedReader(store, nil)) }

  public struct Iterator: AsyncIteratorProtocol {
    private let reader: FeedReader
    fileprivate init(_ reader: FeedReader) { self.reader = reader }

    /// - Throws: ``StoreError/Code/closed`` if the store was closed when the loop began,
    ///   ``StoreError/Code/unsupported``, ``StoreError/Code/fileReplaced`` if the file of the store was deleted,
    ///   moved or replaced; `CancellationError`.
    public mutating func next() async throws -> Commit? { try await reader.next() }
  }
}

/// The changes of one collection, as they happen; see ``ChangeFeed``.
public struct CollectionChangeFeed: LiveSequence {
  public typealias Element = Change
  let collection: DocumentCollection

  public func makeAsyncIterator() -> Iterator {
    Iterator(FeedReader(collection.store, collection.name), collection.name)
  }

  public struct Iterator: AsyncIteratorProtocol {
    private let reader: FeedReader
    private let name: String
    fileprivate init(_ reader: FeedReader, _ name: String) {
      self.reader = reader
      self.name = name
    }

    /// - Throws: As ``ChangeFeed/Iterator/next()``.
    public mutating func next() async throws -> Change? {
      try await reader.next()?.change(in: name)
    }
  }
}

extension Store {
  /// What is committed from now on, by this store, other connections and other processes.
  public var changes: ChangeFeed { ChangeFeed(store: self) }
}

extension DocumentCollection {
  /// What commits do to the documents of this collection from now on.
  ///
  /// ```swift
  /// for try await change in people.changes() { print(change.rowIDs(.deleted)) }
  /// ```
  ///
  /// ``Change/rows`` is nil where any document may have changed: after SQL of your own, commits of
  /// other processes, and more than a thousand documents in one transaction.
  public func changes() -> CollectionChangeFeed { CollectionChangeFeed(collection: self) }
}

/// Confined to the task that iterates. Letting go of it ends everything.
private final class FeedReader {
  private let store: Store
  private let buffer: FeedBuffer
  private var failure: (any Error)?

  init(_ store: Store, _ collection: String?) {
    self.store = store
    buffer = FeedBuffer(collection)
    do { try store.hub.add(buffer, on: store.engine()) } catch { failure = error }
  }

  deinit { store.hub.remove(buffer) }

  func next() async throws -> Commit? {
    if let failure {
      buffer.end()
      self.failure = nil
      throw failure
    }
    let commit = await buffer.next()
    guard commit == nil else { return commit }
    store.hub.remove(buffer)
    if let failure = buffer.failure { throw failure }
    try Task.checkCancellation()
    return nil
  }
}
