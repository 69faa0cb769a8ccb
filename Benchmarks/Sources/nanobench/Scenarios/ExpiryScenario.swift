// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStore

/// Uses a collection in which documents expire. The baseline is the same collection without expirations, and the ratio is
/// what they cost. The result is the number of documents.
struct ExpiryScenario: Scenario {
  enum Kind: String {
    case get, count, insert, commit
  }
  /// Which documents expire. None does so during the run.
  private enum Expiring {
    case none, one, all
  }
  let workload: Workload
  let kind: Kind

  var name: String { "expiry-\(kind)" }
  var work: String {
    switch kind {
    case .get: "get one document by key where documents expire, relative to none"
    case .count:
      "count the documents that satisfy a condition where documents expire, relative to none"
    case .insert: "insert all documents at once where documents expire, relative to none"
    case .commit: "insert one document per commit where documents expire, relative to none"
    }
  }
  var unit: String {
    kind == .get ? "document" : kind == .count ? "query" : kind == .insert ? "document" : "commit"
  }
  var operations: Int {
    switch kind {
    case .get: min(20_000, workload.people.count)
    case .count: 3
    case .insert: workload.people.count
    case .commit: workload.commits
    }
  }

  var raw: Variant { variant("NanoStore without expirations", nil, .none) }
  var record: Variant? { nil }
  var ours: [Variant] {
    [variant("one document expires", nil, .one), variant("a rule for all documents", nil, .all)]
  }

  private func variant(_ name: String, _ target: Double?, _ expiring: Expiring) -> Variant {
    Variant(name, target: target) { [workload, kind, operations] folder in
      { watch in
        let store = try Store.untuned(folder.freshFile("expiry.db"))
        let people = store["people"]
        if expiring == .all { try await people.setExpirationRule(.after(.seconds(86_400))) }
        if kind == .get || kind == .count { try await people.insert(workload.people) }
        if expiring == .one {
          let rowID = try await people.insert(workload.people[0]).rowID ?? 0
          try await people.setExpiration(.now.addingTimeInterval(86_400), rowID: rowID)
          if kind == .insert || kind == .commit { try await people.delete(rowID: rowID) }
        }
        let keys =
          kind == .get ? try await people.find().limit(operations).fetch().compactMap(\.key) : []
        try watch.measure {
          switch kind {
          case .get: for key in keys { _ = try people.get(key) }
          case .count:
            for _ in 0..<operations {
              _ = try people.find("[Age] > 50 AND [FirstName] LIKE 'a%'").count()
            }
          case .insert: _ = try { try people.insert(workload.people) }()
          case .commit:
            for number in 0..<operations {
              try people.insert(CollectionOfOne(workload.people[number]))
            }
          }
        }
        return operations
      }
    }
  }
}
