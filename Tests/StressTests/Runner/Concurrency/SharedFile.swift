// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// What stands in the file that all use, and what must hold of it at any moment and at the end.
struct SharedFile: Sendable {
  let folder: String

  static let accounts = 20
  static let balance: Int64 = 1_000
  static let bag = "shared"
  static let batchSize = 25
  static let slots = 40

  var file: String { folder + "/store.db" }
  func events(_ process: Int) -> String { folder + "/events-\(process).tsv" }

  static var configuration: Store.Configuration {
    var configuration = Store.Configuration()
    configuration.busyTimeout = Crowd.busyTimeout
    return configuration
  }

  func prepare() throws {
    let store = try Store(.file(file), configuration: Self.configuration)
    let accounts = store["accounts"]
    for number in 0..<Self.accounts {
      try accounts.insert(["balance": .int(Self.balance), "moves": 0], key: "a\(number)")
    }
    try store["slots"].createIndex("slot", unique: true)
    try store["notes"].createTextIndex("body", name: "words")
    try store.bag(named: Self.bag).save()
    try store.close()
  }

  /// What a reader sees at any moment: nothing is lost, nothing half done.
  static func audit(_ store: Store) throws {
    try store.read {
      let accounts = store["accounts"]
      let documents = try accounts.fetch()
      let sum = documents.reduce(0) { $0 + ($1["balance"]?.int ?? 0) }
      let expected = Int64(Self.accounts) * balance
      try require(documents.count == Self.accounts, "\(documents.count) accounts are there")
      try require(sum == expected, "the balances make \(sum), not \(expected)")
      let total = try accounts.find().sum("balance")
      try require(total == .int(expected), "the balances make \(total) at once")
      let moves = documents.reduce(0) { $0 + ($1["moves"]?.int ?? 0) }
      try require(moves % 2 == 0, "half of a transfer is there")
      for row in try store["batches"].find().grouped(by: "batch", aggregates: [.count]) {
        try require(
          row.values == [.int(Int64(batchSize))], "of batch \(row.group) there are \(row.values)")
      }
      for row in try store["slots"].find().grouped(by: "slot", aggregates: [.count]) {
        try require(row.values == [.int(1)], "slot \(row.group) is taken by \(row.values)")
      }
    }
  }

  /// Compares what is in the file with what all processes were told.
  func check(processes: Int, _ figures: inout Figures) throws {
    let store = try Store(.file(file), configuration: Self.configuration)
    defer { try? store.close() }
    try Self.audit(store)
    let problems = try store.verify()
    try require(
      problems.isEmpty, "verify finds: \(problems.map { "\($0.subject): \($0.message)" })")
    let moves = try store["accounts"].find().sum("moves")
    let transfers = figures["transfer"]
    try require(
      moves == .int(Int64(2 * transfers)), "\(moves) moves are left of \(transfers) transfers")

    var lists: [String: ListHistory] = [:]
    var promises: [(kind: String, key: String, isThere: Bool)] = []
    for process in 0..<processes {
      for event in try EventLog.events(of: events(process)) {
        switch event {
        case .append(let list, let token, let start, let end, let done):
          lists[list, default: ListHistory(name: list)].appends[token] =
            ListHistory.Append(start: start, end: end, done: done)
        case .read(let list, let start, let end, let count, let digest):
          lists[list, default: ListHistory(name: list)].reads.append(
            ListHistory.Read(start: start, end: end, count: count, digest: digest))
        case .promise(let kind, let key, let isThere): promises.append((kind, key, isThere))
        }
      }
    }
    for history in lists.values {
      let tokens = try store["lists"].get(history.name)?["items"]?.array ?? []
      try history.check(tokens.compactMap(\.string))
      figures["appends checked"] += history.appends.count
      figures["reads checked"] += history.reads.count
    }
    try check(promises, store)
    figures["promises checked"] = promises.count
  }

  private func check(
    _ promises: [(kind: String, key: String, isThere: Bool)], _ store: Store
  ) throws {
    let bag = try store.bag(named: Self.bag)
    let members = try bag.keys()
    try require(Set(members).count == members.count, "the bag has a member twice")
    let there = [
      "bag": Set(members), "note": Set(try store["notes"].find().keys()),
      "batch": Set(try store["batches"].find().distinct("batch").compactMap(\.string)),
    ]
    for promise in promises {
      try require(
        there[promise.kind]?.contains(promise.key) == promise.isThere,
        "the \(promise.kind) \(promise.key) is \(promise.isThere ? "lost" : "there")")
    }
  }
}

extension Bag {
  fileprivate func keys() throws -> [String] { try contents.keys() }
}
