// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// Writes documents to a collection with a change feed. The baseline is the same collection without one, and the ratio
/// is what tracking costs. The result is the number of documents.
struct FeedScenario: Scenario {
  enum Kind: String {
    case commit, update, insert
  }
  let workload: Workload
  let kind: Kind

  var name: String { "feed-\(kind)" }
  var work: String {
    switch kind {
    case .commit: "insert one document per commit with a change feed, relative to none"
    case .update: "save one existing document per commit with a change feed, relative to none"
    case .insert: "insert all documents at once with a change feed, relative to none"
    }
  }
  var unit: String { kind == .insert ? "document" : "commit" }
  var operations: Int { kind == .insert ? workload.people.count : workload.commits }

  var raw: Variant { variant("NanoStore without a feed", nil, .off) }
  var record: Variant? { nil }
  var ours: [Variant] { [variant("with a feed", kind == .insert ? 1.2 : 1.3, .on)] }

  private func variant(_ name: String, _ target: Double?, _ tracking: ChangeTracking) -> Variant {
    Variant(name, target: target) { [workload, kind, operations] folder in
      { watch in
        let store = try Store.untuned(folder.freshFile("feed.db"))
        let people = store["people"]
        try await people.setChangeTracking(tracking)
        if kind == .update {
          try await people.insert(workload.people.prefix(operations))
        }
        let keys = try await people.find().fetch().compactMap(\.key)
        try watch.measure {
          switch kind {
          case .insert: try { _ = try people.insert(workload.people) }()
          case .commit:
            for number in 0..<operations {
              try people.insert(CollectionOfOne(workload.people[number]))
            }
          case .update:
            for number in 0..<operations {
              try people.save(workload.people[number], key: keys[number])
            }
          }
        }
        return try await people.count()
      }
    }
  }
}

/// Reads the last thousand entries of the change feed of all documents. The result is their number.
struct FeedReadScenario: Scenario {
  let workload: Workload
  private static let count = 1_000

  let name = "feed-read"
  let work = "changes since a position, 1,000 of all documents, relative to the documents by row ID"
  let unit = "page"
  var operations: Int { 1 }
  var record: Variant? { nil }

  var raw: Variant {
    variant("find, limit(1_000)") { people, _ in try people.find().limit(Self.count).fetch().count }
  }
  var ours: [Variant] {
    [
      variant("entries") { people, position in
        try Self.entries(people.changes(since: position, limit: Self.count)).count
      },
      variant("entries with documents") { people, position in
        try Self.entries(people.changes(since: position, limit: Self.count, withDocuments: true))
          .count
      },
    ]
  }

  private static func entries(_ page: FeedPage) throws -> [FeedEntry] {
    guard case .entries(let entries, _, _) = page else { return [] }
    return entries
  }

  private func variant(
    _ name: String, _ work: @escaping @Sendable (DocumentCollection, FeedPosition?) throws -> Int
  ) -> Variant {
    Variant(name) { [workload] folder in
      let store = try Store.untuned(folder.freshFile("feed.db"))
      let people = store["people"]
      try await people.setChangeTracking(.on)
      try await people.insert(workload.people)
      var last: FeedPosition?
      var hasMore = true
      while hasMore {
        guard
          case .entries(_, let next, let more) = try await people.changes(
            since: last, limit: 100_000)
        else { break }
        (last, hasMore) = (next, more)
      }
      let position = last
      try await people.insert(workload.people.prefix(Self.count))
      // Otherwise the first page would be read through the log of all insertions.
      try store.close()
      try store.reopen()
      _ = try await people.count()
      return { watch in try watch.measure { try work(people, position) } }
    }
  }
}
