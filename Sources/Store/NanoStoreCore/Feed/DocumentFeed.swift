// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine
public import NanoQuery

/// An asynchronous sequence of the changes of a collection since a position, which then follows live.
///
/// ```swift
/// for try await event in films.changeFeed(since: position) {
///   switch event {
///   case .entry(let entry):
///     try index.update(entry)
///     position = entry.position
///   case .reset:
///     try index.removeAll()
///   }
/// }
/// ```
///
/// Changes of a document that follow each other faster than they are read are one entry. The loop ends when the store
/// is closed.
public struct DocumentFeed: AsyncSequence, Sendable {
  /// An entry, or that the feed starts again.
  public typealias Element = FeedEvent
  fileprivate let request: FeedRequest
  fileprivate let position: FeedPosition?

  /// Returns an iterator, which begins after the position of the sequence.
  public func makeAsyncIterator() -> Iterator { Iterator(FeedFollower(request, position)) }

  /// Iterates over the changes of a collection.
  public struct Iterator: AsyncIteratorProtocol {
    private let follower: FeedFollower
    fileprivate init(_ follower: FeedFollower) { self.follower = follower }

    /// Returns the next event, or nil when the store is closed.
    ///
    /// - Throws: ``StoreError/Code/invalidArgument`` if changes are not tracked, also if tracking is turned off during
    ///   the loop; ``StoreError/Code/closed`` if the store was closed when the loop began; `CancellationError`.
    public mutating func next() async throws -> FeedEvent? { try await follower.next() }
  }
}

extension DocumentCollection {
  /// Returns the changes since a position as a sequence, which catches up and then follows live.
  ///
  /// The parameters are those of ``changes(since:limit:matching:keys:withDocuments:)-(_,Int,_,_,_)``; see
  /// ``DocumentFeed``.
  public func changeFeed(
    since position: FeedPosition?, matching condition: Condition? = nil, keys: Set<String>? = nil,
    withDocuments: Bool = false
  ) -> DocumentFeed {
    DocumentFeed(
      request: FeedRequest(
        collection: self, limit: FeedFollower.pageSize, condition: condition, keys: keys,
        withDocuments: withDocuments),
      position: position)
  }
}

/// Reads a feed page by page, and waits for commits at its end. Confined to the iterating task.
private final class FeedFollower {
  /// Arbitrary.
  static let pageSize = 500
  /// The pause before entries are read again that transactions of a server delay. Arbitrary.
  private static let delay = Duration.milliseconds(20)

  private let request: FeedRequest
  private var position: FeedPosition?
  private var subscription: CommitSubscription?
  private var waiting: ArraySlice<FeedEvent> = []

  init(_ request: FeedRequest, _ position: FeedPosition?) {
    self.request = request
    self.position = position
  }

  func next() async throws -> FeedEvent? {
    while true {
      try Task.checkCancellation()
      if let event = waiting.popFirst() { return event }
      do {
        guard try await fill() else { return nil }
      } catch let error as StoreError where error.code == .closed && subscription != nil {
        return nil
      }
    }
  }

  /// Reads the next page, or waits if there is none; returns false when the store is closed.
  private func fill() async throws -> Bool {
    // Before the first read, so that no commit is missed.
    let subscription = try subscription ?? CommitSubscription(request.collection.store)
    self.subscription = subscription
    let (request, position) = (request, position)
    let (page, isDelayed) = try await request.collection.onReader {
      try request.validate()
      try InternalCollection.refuse(request.collection.name)
      return try request.page(after: position)
    }
    switch page {
    case .reset(let reason):
      self.position = nil
      waiting = [.reset(reason)]
    case .entries(let entries, let next, let hasMore):
      self.position = next
      waiting = entries.map { .entry($0) }[...]
      guard entries.isEmpty, !hasMore else { return true }
      guard !isDelayed else {
        try await Task.sleep(for: Self.delay)
        return true
      }
      repeat {
        guard let commit = await subscription.next() else {
          try Task.checkCancellation()
          return false
        }
        if commit.change(in: request.collection.name) != nil { return true }
      } while true
    }
    return true
  }
}
