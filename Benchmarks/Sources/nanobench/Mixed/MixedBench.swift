// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// Measures readers beside a writer. Every run begins with a copy of the same file, so that a fast writer does not leave
/// more documents to the next run.
struct MixedBench {
  let workload: Workload
  let rounds: Int
  let seconds: Double
  let folder: Folder
  /// The loads to measure; nil for all.
  var only: ScenarioNames?
  /// Measures only libraries whose name contains this text; nil for all.
  var variant: String?

  static let readers = [1, 4, 8]

  /// All runs of a library with one load.
  struct Line {
    let load: MixedLoad
    let readers: Int
    let calls: MixedCalls
    let product: String
    var reads = LatencyHistogram()
    /// Per second, in each round.
    var readRates: [Double] = []
    var writeRates: [Double] = []
  }

  func run() async throws -> [Line] {
    let loads = try chosenLoads()
    let contestants = MixedContestant.all.filter { contestant in
      variant.map { contestant.name.contains($0) } ?? true
    }
    let data = MixedData(workload)
    var files: [String: String] = [:]
    for contestant in contestants {
      let file = try folder.freshFile(contestant.name + ".db")
      try contestant.fill(file, data)
      files[contestant.name] = file
    }
    // The libraries alternate, so that a slow period of the machine affects all of them.
    var lines: [Line] = []
    for load in loads {
      for readers in Self.readers {
        for calls in MixedCalls.allCases {
          lines += contestants.map {
            Line(load: load, readers: readers, calls: calls, product: $0.name)
          }
        }
      }
    }
    for _ in 0..<rounds {
      for index in lines.indices {
        guard let contestant = contestants.first(where: { $0.name == lines[index].product }),
          let file = files[contestant.name]
        else { continue }
        try await lines[index].measure(contestant, folder.copy(file), data, seconds)
      }
    }
    return lines
  }

  private func chosenLoads() throws -> [MixedLoad] {
    guard let only else { return MixedLoad.allCases }
    return try only.chosen(from: MixedLoad.allCases, name: \.rawValue)
  }
}

extension MixedBench.Line {
  fileprivate mutating func measure(
    _ contestant: MixedContestant, _ file: String, _ data: MixedData, _ seconds: Double
  ) async throws {
    let opened = try contestant.open(file, data)
    let counts = try await MixedRun(
      product: opened, data: data, load: load, readers: readers, seconds: seconds
    ).run(calls)
    try opened.close()
    // Reads that find nothing are not comparable.
    guard counts.found >= counts.reads.count / 2 else {
      throw WrongAnswer(
        scenario: load.text, variant: product, answer: counts.found, baseline: "reads",
        expected: counts.reads.count)
    }
    reads.add(counts.reads)
    readRates.append(Double(counts.reads.count) / seconds)
    writeRates.append(Double(counts.writes) / seconds)
  }
}
