// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import Testing

@testable import nanobench

@Suite struct RecordTests {
  private let workload = Workload(documents: 1000)

  @Test("Both kinds of GRDB record return the same people")
  func sameResults() throws {
    let folder = try Folder.temporary()
    let codable = try RecordTable<PersonRecord>.filled(folder.subfolder("codable"), workload)
    let written = try RecordTable<PersonRow>.filled(folder.subfolder("written"), workload)
    let key = workload.keys[7]
    let name = workload.people[7].lastName

    let (one, other) = try codable.queue.read { first in
      try written.queue.read { second in
        (
          try #require(try PersonRecord.get(first, key)),
          try #require(try PersonRow.get(second, key))
        )
      }
    }

    #expect(one.emails == workload.people[7].emails && other.emails == one.emails)
    #expect(one.address.zip == other.zip && one.salary == other.salary)
    #expect(other.joined == workload.people[7].joined)
    #expect(
      try codable.queue.read { try PersonRecord.find($0, lastName: name).map(\.id) }
        == written.queue.read { try PersonRow.find($0, lastName: name).map(\.id) })
    #expect(
      try codable.queue.read { try PersonRecord.lowestSalaries($0, limit: 20).map(\.id) }
        == written.queue.read { try PersonRow.lowestSalaries($0, limit: 20).map(\.id) })
    try folder.remove()
  }

  @Test("Repeated people have different keys")
  func repeatedPeople() {
    let repeated = Workload(documents: 2500, distinct: 1000)

    #expect(repeated.people[2007] == repeated.people[7])
    #expect(
      repeated.stored.body(2007).elementsEqual(Array(repeated.people[7].storedJSON.utf8)))
    #expect(!repeated.stored.key(2007).elementsEqual(repeated.stored.key(7)))
    #expect(repeated.stored.count == 2500)
  }

  @Test(
    "Every variant of a scenario returns the same result in each round",
    arguments: [
      "insert", "insert-indexed", "insert-elements", "get", "scan", "scan-kept", "find", "filter",
      "sort", "average", "update-indexed",
    ])
  func sameAnswers(name: String) async throws {
    let folder = try Folder.temporary()
    let scenario = try #require(allScenarios(workload).first { $0.name == name })

    // The runner stops at a different result.
    let result = try await Runner(rounds: 2, folder: folder).run(scenario)

    #expect(!result.variants(as: .ours).isEmpty)
    #expect(result.variants.count > 1)
    try folder.remove()
  }

  @Test(
    "Every library answers the reads of a mixed load beside a writer", arguments: [true, false])
  func mixed(isAsync: Bool) async throws {
    let folder = try Folder.temporary()
    let data = MixedData(workload)
    for contestant in MixedContestant.all {
      for load in MixedLoad.allCases {
        var counts = MixedRun.Counts()
        // On a busy machine, readers or the writer may begin only after the end.
        for seconds in [0.05, 0.5, 5, 50] where counts.writes == 0 || counts.reads.count == 0 {
          // Each run inserts the same people.
          let file = try folder.freshFile("mixed.db")
          try contestant.fill(file, data)
          let product = try contestant.open(file, data)
          let run = MixedRun(
            product: product, data: data, load: load, readers: 2, seconds: seconds)
          counts = try await run.run(isAsync ? .async : .sync)
          try product.close()
        }
        #expect(counts.writes > 0)
        #expect(counts.reads.count > 0 && counts.found > 0)
      }
    }
    try folder.remove()
  }
}
