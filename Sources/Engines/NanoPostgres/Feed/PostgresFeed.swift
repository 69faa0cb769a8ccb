// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// The change feed of a collection as its catalog row stores it.
struct PostgresFeed: Sendable, Hashable {
  var state: FeedState
  /// The difference between the number of an entry and the ID of the transaction that wrote it.
  ///
  /// A new server counts transactions from the beginning, and numbers must increase.
  var base: Int64
  /// The object ID of the table. A restored dump has another one.
  var table: Int64

  init(_ state: FeedState, base: Int64, table: Int64) {
    self.state = state
    self.base = base
    self.table = table
  }

  init(_ object: DocumentObject) {
    state = FeedState(
      timeline: object["timeline"]?.int64 ?? 0, origin: object["origin"]?.int64,
      pruned: object["pruned"]?.int64 ?? 0)
    base = object["base"]?.int64 ?? 0
    table = object["table"]?.int64 ?? 0
  }

  /// The stored form.
  var object: DocumentObject {
    var object: DocumentObject = [
      "timeline": .int(state.timeline), "pruned": .int(state.pruned), "base": .int(base),
      "table": .int(table),
    ]
    if let origin = state.origin { object["origin"] = .int(origin) }
    return object
  }
}

extension PostgresFeed {
  /// - Throws: ``StoreError/Code/corruptFile`` for a number that other programs must have written.
  static func requireNumber(_ number: Int64, _ collection: String) throws(StoreError) {
    guard !FeedState.numbers.contains(number) else { return }
    throw StoreError(
      .corruptFile, "The number of an entry of the change feed is damaged",
      [
        .collection: collection, .expected: "a number up to \(FeedState.numbers.upperBound)",
        .actual: "\(number)",
      ])
  }
}

extension PostgresCollection {
  /// The qualified and quoted names of the feed's objects.
  func feedObjects(_ names: PostgresNames) -> FeedDefinition {
    FeedDefinition(
      table: table, deletions: names.qualified(PostgresNames.deletions(of: folded)),
      function: names.qualified(PostgresNames.feedFunction(of: folded)))
  }
}

extension PostgresNames {
  static func deletions(of collection: ExactName) -> String {
    "nano_deletions_" + hash(collection.text)
  }
  static func feedFunction(of collection: ExactName) -> String {
    "nano_feed_" + hash(collection.text)
  }
}
