// SPDX-License-Identifier: MIT

public import NanoStore

/// A reader of a change feed, which applies its entries to what it knows.
public final class Follower {
  public private(set) var position: FeedPosition?
  /// The `n` of each document, by row ID.
  public private(set) var values: [Int64: Int64] = [:]
  public private(set) var deletedKeys: [String] = []
  public private(set) var resets: [FeedReset] = []

  public init() {}

  public func apply(_ event: FeedEvent) throws {
    switch event {
    case .reset(let reason):
      resets.append(reason)
      values = [:]
      position = nil
    case .entry(let entry):
      values[entry.rowID] = entry.isDeleted ? nil : try Self.value(of: entry.document)
      if entry.isDeleted, let key = entry.key { deletedKeys.append(key) }
      position = entry.position
    }
  }

  public static func value(of document: Document?) throws -> Int64? {
    guard case .int(let number)? = try document?.object()["n"] else { return nil }
    return number
  }

  /// Reads everything after the position.
  public func catchUp(_ films: DocumentCollection, limit: Int = 1_000) throws {
    while true {
      switch try films.changes(since: position, limit: limit, withDocuments: true) {
      case .reset(let reason): try apply(.reset(reason))
      case .entries(let entries, let next, let hasMore):
        for entry in entries { try apply(.entry(entry)) }
        position = next
        guard hasMore else { return }
      }
    }
  }
}
