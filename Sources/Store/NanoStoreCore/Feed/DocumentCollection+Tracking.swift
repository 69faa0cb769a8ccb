// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine

/// Whether a collection keeps a change feed; see ``DocumentCollection/setChangeTracking(_:)-(ChangeTracking)``.
public enum ChangeTracking: String, Sendable, Hashable, CaseIterable {
  /// The collection has no feed.
  case off
  /// The store keeps the position of each document's last change, and of each deletion.
  case on
}

extension DocumentCollection {
  /// Turns the change feed of the collection on or off, which ``changes(since:limit:matching:keys:withDocuments:)-(_,Int,_,_,_)``
  /// and ``changeFeed(since:matching:keys:withDocuments:)`` read.
  ///
  /// ```swift
  /// try films.setChangeTracking(.on)     // once; does nothing the next time
  /// ```
  ///
  /// The feed is kept in the store, by triggers, so that it includes the writes of every program. It has one entry for
  /// each document, and one for each deleted document until ``pruneTombstones(before:)-(Date)``. Turning it off
  /// deletes it: positions that readers have saved lead to ``FeedReset/restarted``.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` if the engine cannot track changes. Nothing has changed.
  public func setChangeTracking(_ tracking: ChangeTracking) throws {
    try InternalCollection.refuse(name)
    try writing(atomic: true) { writer in
      switch (tracking, try writer.feed(of: name)) {
      case (.on, nil):
        try writer.setTracking(FeedState(timeline: FeedState.newTimeline()), of: name)
      case (.off, .some): try writer.setTracking(nil, of: name)
      default: break
      }
    }
  }
  /// The asynchronous form of `setChangeTracking(_:)`, which does not block the calling thread.
  public func setChangeTracking(_ tracking: ChangeTracking) async throws {
    try await onWriter { try self.setChangeTracking(tracking) }
  }

  /// Returns whether the collection keeps a change feed.
  public func changeTracking() throws -> ChangeTracking {
    try reading(.call) { try $0.feed(of: name) } == nil ? .off : .on
  }
  /// The asynchronous form of `changeTracking()`, which does not block the calling thread.
  public func changeTracking() async throws -> ChangeTracking {
    try await onReader { try self.changeTracking() }
  }

  /// Removes the feed's entries of documents that were deleted before a date, and returns their number.
  ///
  /// ```swift
  /// try films.pruneTombstones(before: .now.addingTimeInterval(-90 * 86_400))     // 12
  /// ```
  ///
  /// Readers that have read nothing after the removed entries get ``FeedReset/pruned``, and start again. The last
  /// deletion is kept. Does nothing if changes are not tracked.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a date beyond the year 9999. Nothing has changed.
  @discardableResult
  public func pruneTombstones(before date: Date) throws -> Int {
    try InternalCollection.refuse(name)
    let seconds = date.timeIntervalSince1970
    guard seconds.magnitude < 253_402_300_800 else {
      throw StoreError(.invalidArgument, "A date is out of range", [.limit: "the year 9999"])
    }
    return try writing(atomic: true) {
      try $0.pruneTombstones(before: Int64(seconds.rounded(.up)), in: name)
    }
  }
  /// The asynchronous form of `pruneTombstones(before:)`, which does not block the calling thread.
  @discardableResult
  public func pruneTombstones(before date: Date) async throws -> Int {
    try await onWriter { try self.pruneTombstones(before: date) }
  }
}
