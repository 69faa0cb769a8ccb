// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import Testing

/// Selectors of a replication with a store of the same process.
@Suite struct PullSelectorTests {
  @discardableResult
  private func pull(
    _ a: SyncDatabase, _ b: SyncDatabase, _ selector: DocumentObject
  ) async throws -> SyncStatus {
    var options = ReplicationOptions()
    options.pushes = false
    options.pullFilter = .selector(selector)
    let status = StatusBox()
    try await Replication(a, with: LocalPeer(b), options, report: status.change).run()
    return status.value
  }

  @Test func `Only documents that match are pulled, and no deletions`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    for year in 1975..<1985 as Range<Int64> {
      try await b.collection.save(["year": .int(year)], key: "\(year)")
    }
    try await b.collection.delete("1984")

    let status = try await pull(a, b, ["year": ["$gte": 1980]])

    #expect(status.pulled == 4)
    #expect(
      try await a.collection.find().keys().sorted() == (1980...1983).map { "\($0)" })
    #expect(try a.revision("1984") == nil)
    try await b.collection.update("1975", set: ["year": 2000])
    #expect(try await pull(a, b, ["year": ["$gte": 1980]]).pulled == 1)
    #expect(try await a.collection.get("1975")?["year"] == 2000)
  }

  @Test func `Of several versions, those that match are pulled`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try b.replicate(
      json: #"{"_id":"x","_rev":"1-\#(hash("a"))","v":1}"#,
      #"{"_id":"x","_rev":"1-\#(hash("b"))","v":2}"#)

    try await pull(a, b, ["v": 1])

    #expect(try a.leaves("x") == ["1-\(hash("a"))"])
  }

  @Test func `Dates are selected as dates, and as the objects that JSON has for them`() async throws
  {
    let b = try anyDatabase()
    let dates = [0, 100, 200].map { Date(timeIntervalSince1970: $0) }
    for (index, date) in dates.enumerated() {
      try await b.collection.save(["at": .date(date)], key: "\(index)")
    }
    let text: DocumentValue = ["$date": "1970-01-01T00:01:40.000Z"]
    let selectors: [(DocumentObject, [String])] = [
      (["at": ["$gte": .date(dates[1])]], ["1", "2"]), (["at": .date(dates[1])], ["1"]),
      (["at": ["$gte": text]], ["1", "2"]), (["at": ["$lt": text]], ["0"]),
      (["at.$date": ["$gt": "1970-01-01T00:02"]], ["2"]),
      (["at": ["$type": "object"]], ["0", "1", "2"]), (["at": ["$gt": "x"]], ["0", "1", "2"]),
    ]
    for (selector, keys) in selectors {
      let a = try anyDatabase()
      try await pull(a, b, selector)
      #expect(try await a.collection.find().keys().sorted() == keys, "\(selector)")
    }
  }

  @Test func `A malformed selector ends the replication`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await b.collection.save(["n": 1], key: "x")

    await #expect(throws: SyncError.self) { try await pull(a, b, ["n": ["$unknown": 1]]) }

    #expect(try await a.collection.count() == 0)
  }
}
