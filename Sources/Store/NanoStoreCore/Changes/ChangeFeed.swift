// SPDX-License-Identifier: MIT

public import NanoEngine

/// An asynchronous sequence of the commits of a store.
///
/// ```swift
/// for try await commit in store.changes {
///   if commit.isEverything { index.rebuild() }
///   for change in commit.changes { index.update(change.collection, change.rows) }
/// }
/// ```
///
/// The feed starts when its iterator is created, for example at the beginning of a loop: no later
/// commit is missing. There is one element for each commit that changed documents. If the loop
/// falls behind by more than 64 commits, further ones are merged, so that memory use is bounded;
/// ``Change/Kind/updated`` may then also refer to a document that is new to the loop. The reported
/// changes are a superset of the actual ones.
public struct ChangeFeed: LiveSequence {
  /// The changes of a commit.
  public typealias Element = Commit
  let store: Store

  /// Returns an iterator, which receives all commits from now on.
  public func makeAsyncIterator() -> Iterator { Iterator(FeedReader(store, nil)) }

  /// Iterates over the commits of a store.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: FeedReader
    fileprivate init(_ reader: FeedReader) { self.reader = reader }

    /// Returns the next commit, or nil when the store is closed.
    ///
    /// - Throws: ``StoreError/Code/closed`` if the store was closed when the loop began,
    ///   ``StoreError/Code/unsupported``, ``StoreError/Code/fileReplaced`` if the file of the store was deleted,
    ///   moved or replaced; `CancellationError`.
    public mutating func next() async throws -> Commit? { try await reader.next() }
  }
}

/// An asynchronous sequence of the changes of one collection; see ``ChangeFeed``.
public struct CollectionChangeFeed: LiveSequence {
  /// The changes that a commit made to the collection.
  public typealias Element = Change
  let collection: DocumentCollection

  /// Returns an iterator, which receives all commits from now on.
  public func makeAsyncIterator() -> Iterator {
    Iterator(FeedReader(collection.store, collection), collection.name)
  }

  /// Iterates over the changes of a collection.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: FeedReader
    private let name: String
    fileprivate init(_ reader: FeedReader, _ name: String) {
      self.reader = reader
      self.name = name
    }

    /// Returns the next change, or nil when the store is closed.
    ///
    /// - Throws: The errors of ``ChangeFeed/Iterator/next()``; ``StoreError/Code/invalidName`` for an
    ///   internal collection.
    public mutating func next() async throws -> Change? {
      try await reader.next()?.change(in: name)
    }
  }
}

extension Store {
  /// The commits from now on, by this store, other connections and other processes.
  public var changes: ChangeFeed { ChangeFeed(store: self) }
}

extension DocumentCollection {
  /// Returns the changes that commits make to this collection from now on.
  ///
  /// ```swift
  /// for try await change in people.changes() { print(change.rowIDs(.deleted)) }
  /// ```
  ///
  /// ``Change/rows`` is nil if any document may have changed: after direct SQL, after commits of
  /// other processes unless the collection's changes are tracked, and after transactions that change
  /// more than a thousand documents.
  public func changes() -> CollectionChangeFeed { CollectionChangeFeed(collection: self) }
}

/// Reads a feed. Confined to the iterating task; the subscription ends when it is deallocated.
private final class FeedReader {
  private let store: Store
  private let buffer: FeedBuffer
  private var failure: (any Error)?

  init(_ store: Store, _ collection: DocumentCollection?) {
    self.store = store
    buffer = FeedBuffer(collection?.name)
    do {
      try collection?.checkFailure()
      try store.hub.add(buffer, on: store.engine())
    } catch { failure = error }
  }

  deinit { store.hub.remove(buffer) }

  func next() async throws -> Commit? {
    if let failure {
      buffer.end()
      self.failure = nil
      throw failure
    }
    if Task.isCancelled {
      // Without delivering what is buffered.
      store.hub.remove(buffer)
      buffer.end()
      throw CancellationError()
    }
    let commit = await buffer.next()
    guard commit == nil else { return commit }
    store.hub.remove(buffer)
    if let failure = buffer.failure { throw failure }
    try Task.checkCancellation()
    return nil
  }
}
