// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// The contents of the shared file, and the invariants that must hold at any moment and at the end.
struct SharedFile: Sendable {
  let folder: String

  static let accounts = 20
  static let balance: Int64 = 1_000
  static let bag = "shared"
  static let batchSize = 25
  static let slots = 40

  var file: String { folder + "/store.db" }
  func events(_ process: Int) -> String { folder + "/events-\(process).tsv" }

  static var engine: SQLiteConfiguration {
    var engine = SQLiteConfiguration()
    engine.busyTimeout = WorkerPool.busyTimeout
    return engine
  }

  func prepare() throws {
    let store = try Store(.file(file), engine: Self.engine)
    let accounts = store["accounts"]
    for number in 0..<Self.accounts {
      try accounts.insert(["balance": .int(Self.balance), "moves": 0], key: "a\(number)")
    }
    try store["slots"].createIndex("slot", unique: true)
    try store["notes"].createFullTextIndex("body", name: "words")
    try store.bag(named: Self.bag).save()
    try store.close()
  }

  /// Checks the invariants in a snapshot: nothing is lost, and no transaction is partially visible.
  static func audit(_ store: Store) throws {
    try store.read {
      let accounts = store["accounts"]
      let documents = try accounts.fetch()
      let sum = documents.reduce(0) { $0 + ($1["balance"]?.int ?? 0) }
      let expected = Int64(Self.accounts) * balance
      try require(documents.count == Self.accounts, "\(documents.count) accounts")
      try require(sum == expected, "the balances add up to \(sum), not \(expected)")
      let total = try accounts.find().sum("balance")
      try require(total == .int(expected), "the balances add up to \(total) in one aggregate")
      let moves = documents.reduce(0) { $0 + ($1["moves"]?.int ?? 0) }
      try require(moves % 2 == 0, "a transfer is partially visible")
      for row in try store["batches"].find().grouped(by: "batch", aggregates: [.count]) {
        try require(
          row.values == [.int(Int64(batchSize))], "batch \(row.group) has \(row.values) documents")
      }
      for row in try store["slots"].find().grouped(by: "slot", aggregates: [.count]) {
        try require(row.values == [.int(1)], "slot \(row.group) is taken by \(row.values)")
      }
    }
  }

  /// Compares the file with the results that all processes got.
  func check(processes: Int, _ figures: inout Figures) throws {
    let store = try Store(.file(file), engine: Self.engine)
    defer { try? store.close() }
    try Self.audit(store)
    let problems = try store.verify()
    try require(
      problems.isEmpty, "verify reports: \(problems.map { "\($0.subject): \($0.message)" })")
    let moves = try store["accounts"].find().sum("moves")
    let transfers = figures["transfer"]
    try require(
      moves == .int(Int64(2 * transfers)), "\(moves) moves for \(transfers) transfers")

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
    try require(Set(members).count == members.count, "the bag has a duplicate member")
    let there = [
      "bag": Set(members), "note": Set(try store["notes"].find().keys()),
      "batch": Set(try store["batches"].find().distinct("batch").compactMap(\.string)),
    ]
    for promise in promises {
      try require(
        there[promise.kind]?.contains(promise.key) == promise.isThere,
        "the \(promise.kind) \(promise.key) is \(promise.isThere ? "missing" : "present")")
    }
  }
}

extension Bag {
  fileprivate func keys() throws -> [String] { try contents.keys() }
}
