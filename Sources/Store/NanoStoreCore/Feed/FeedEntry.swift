// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

/// An entry of a change feed: the newest state of a document, or that it was deleted.
public struct FeedEntry: Sendable {
  /// The position of the entry, from which a reader that has processed it continues.
  public let position: FeedPosition
  /// The row ID of the document.
  public let rowID: Int64
  /// The key of the document, nil if it has none.
  public let key: String?
  /// The class name of the document, nil for the collection's default class.
  public let type: String?
  /// The revision of the document; nil if it was deleted, and while another program was the last to write it.
  public let revision: Int64?
  /// Whether the document was deleted.
  public let isDeleted: Bool
  /// The document; nil if it was deleted, or not requested.
  public let document: Document?
}

/// The next entries of a change feed.
///
/// ```swift
/// switch try films.changes(since: position, limit: 500) {
/// case .entries(let entries, let next, _):
///   for entry in entries { try index.update(entry) }
///   position = next
/// case .reset:
///   try index.removeAll()
///   position = nil
/// }
/// ```
public enum FeedPage: Sendable {
  /// The entries after the position, in order; the position after them, to be saved; and whether there are more.
  ///
  /// With a filter, `next` may be after the last entry, or different although there is none.
  case entries([FeedEntry], next: FeedPosition, hasMore: Bool)
  /// The feed cannot be continued from the position: start again without one, and forget what the former feed
  /// contained.
  case reset(FeedReset)
}

/// An element of ``DocumentFeed``.
public enum FeedEvent: Sendable {
  /// The newest state of a document, or that it was deleted.
  case entry(FeedEntry)
  /// The feed could not be continued, and starts again from the beginning with the next element.
  case reset(FeedReset)
}
