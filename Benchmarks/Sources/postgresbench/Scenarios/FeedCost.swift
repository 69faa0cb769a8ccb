// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStore

/// What tracking the changes of a collection costs on one engine: each write with and without it, in alternation.
struct FeedCost {
  let side: Side
  let members: MemberSet
  let rounds: Int

  /// The rows of the table: what was measured, without and with tracking, and the ratio or nothing.
  struct Row {
    var work: String
    var off: Double?
    var on: Double
    var unit: String
    var target: String
  }

  /// Documents of a single commit each. Arbitrary.
  private static let commits = 300
  /// Changes that a page of the feed returns.
  private static let page = 1_000
  /// The documents of a bulk insertion; only reading depends on their number.
  private var many: [Document] { Array(members.documents.prefix(100_000)) }

  func rows() throws -> [Row] {
    [
      try writing("insert one document per commit", "1.3", Self.commits) { collection in
        for document in members.documents.suffix(Self.commits) { try collection.insert(document) }
      },
      try writing("replace one document per commit", "1.3", Self.commits) { collection in
        for document in members.documents.prefix(Self.commits) { try collection.save(document) }
      },
      try writing("insert, 10,000 per call", "1.2", many.count, isEmpty: true) { collection in
        for batch in members.batches(many) { try collection.insert(batch) }
      },
      try size(), try reading(),
    ]
  }

  /// Returns the time of a document's write.
  private func writing(
    _ work: String, _ target: String, _ count: Int, isEmpty: Bool = false,
    _ write: (DocumentCollection) throws -> Void
  ) throws -> Row {
    var times: [Bool: [Double]] = [false: [], true: []]
    for round in 0..<(rounds + 1) {
      for isTracked in [false, true] {
        let collection = try fresh(isTracked, count: isEmpty ? 0 : 1_000)
        let watch = Stopwatch()
        try watch.measure { try write(collection) }
        // The first round warms up.
        if round > 0 {
          times[isTracked]?.append(Double(watch.wallNanoseconds) / Double(count) / 1_000)
        }
      }
    }
    return Row(
      work: work, off: times[false]?.median, on: times[true]?.median ?? .nan, unit: "µs",
      target: "≤ \(target) ×")
  }

  private func fresh(_ isTracked: Bool, count: Int) throws -> DocumentCollection {
    let collection = side.durable["tracked"]
    try collection.drop()
    if isTracked { try collection.setChangeTracking(.on) }
    try collection.insert(Array(members.documents.prefix(count)))
    return collection
  }

  /// Returns the bytes that the store grows by for each document.
  private func size() throws -> Row {
    func bytes(_ isTracked: Bool) throws -> Double {
      let collection = try fresh(isTracked, count: 0)
      try side.durable.compact()
      let before = try used()
      for batch in members.batches(many) { try collection.insert(batch) }
      try side.durable.compact()
      return Double(try used() - before) / Double(many.count)
    }
    return Row(
      work: "space of a document", off: try bytes(false), on: try bytes(true), unit: "bytes",
      target: "≤ 40 bytes more")
  }

  private func used() throws -> Int {
    let statistics = try side.durable.statistics()
    return statistics.size - statistics.unused
  }

  /// Returns the time of reading the entries of new documents among all others.
  private func reading() throws -> Row {
    let collection = try fresh(true, count: 0)
    for batch in members.batches(members.documents) { try collection.insert(batch) }
    var position: FeedPosition?
    while case .entries(_, let next, true) = try collection.changes(
      since: position, limit: 50_000)
    { position = next }
    guard case .entries(_, let end, _) = try collection.changes(since: position, limit: 100_000)
    else { return Row(work: "", off: nil, on: .nan, unit: "", target: "") }
    try side.durable.compact()
    for document in members.documents.prefix(Self.page) {
      _ = try collection.update(document.key ?? "", set: ["age": 1])
    }
    var times: [Double] = []
    for _ in 0...rounds {
      let watch = Stopwatch()
      let page = try watch.measure { try collection.changes(since: end, limit: Self.page) }
      guard case .entries(let entries, _, _) = page, entries.count == Self.page else {
        throw WrongAnswer(
          scenario: "feed", variant: "changes", answer: nil, baseline: "changes",
          expected: Self.page)
      }
      times.append(Double(watch.wallNanoseconds) / 1_000)
    }
    return Row(
      work: "`changes(since:)`, 1,000 changed documents among \(members.count)", off: nil,
      on: times.dropFirst().map { $0 }.median, unit: "µs", target: "≤ 5,000 µs")
  }
}

extension FeedCost {
  /// Returns the table for docs/CHANGE-FEEDS.md.
  static func report(_ contest: Contest, _ members: MemberSet, rounds: Int) throws -> String {
    let sides = [contest.sqlite, contest.postgres]
    let rows = try sides.map {
      try FeedCost(side: $0, members: members, rounds: rounds).rows()
    }
    var table = Table(
      header: [
        "", "file: without", "with a feed", "ratio", "server: without", "with a feed", "ratio",
        "target",
      ])
    table.rows = zip(rows[0], rows[1]).map { file, server in
      ["\(file.work) (\(file.unit))"] + file.cells + server.cells + [file.target]
    }
    return """
      \(table.markdown)

      \(members.count) documents, \(rounds.roundsText), commits that wait for the disk; \
      \(contest.machine.description), on the same machine.

      """
  }
}

extension FeedCost.Row {
  fileprivate var cells: [String] {
    [
      off.map { String(format: "%.0f", $0) } ?? "", String(format: "%.0f", on),
      off.map { (on / $0).ratioText } ?? "",
    ]
  }
}
