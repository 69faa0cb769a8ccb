// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// Opens a large file in a new process and gets one document by key, with the file in the page cache. A round is the
/// median of several processes, each with another document. The result is the number of documents found.
struct ColdStartScenario: Scenario {
  let documents: Int

  let name = "cold-start"
  let work = "open a file and get a document in a new process"
  let unit = "start"
  let operations = 1
  var clock: Clock { .wall }

  /// In nanoseconds.
  static let longestStart = 3_000_000.0
  /// Arbitrary.
  private static let processes = 10

  /// Returns the number of documents in a file of about this many megabytes: a document and its key take about 300
  /// bytes of a table in raw SQLite.
  static func documents(inMegabytes size: Int) -> Int { size * 1_000_000 / 325 }

  var raw: Variant { variant("raw SQLite C", .raw) }
  var others: [Variant] { [variant(Comparison.handWritten, .grdb)] }
  var ours: [Variant] { [variant("lazy document", target: 1.3, .ours)] }

  private func variant(_ name: String, target: Double? = nil, _ product: ColdProduct) -> Variant {
    Variant(name, target: target) { [documents] folder in
      let file = try folder.freshFile("cold.db")
      try product.fill(file, documents: documents)
      var random = SplitMix(seed: 31)
      let keys = try (0..<Self.processes).map { _ in
        try product.key(random.below(documents), file)
      }
      return { watch in
        try Self.readWhole(file)
        var starts: [[String: Double]] = []
        for key in keys { starts.append(try ChildProcess.run([product.rawValue, file, key])) }
        func median(_ name: String) -> UInt64 {
          UInt64(starts.compactMap { $0[name] }.median)
        }
        watch.add(cpu: median("cpu"), wall: median("wall"))
        return Int(starts.compactMap { $0["found"] }.reduce(0, +))
      }
    }
  }

  /// Brings a file into the page cache.
  private static func readWhole(_ file: String) throws {
    let handle = try FileHandle(forReadingFrom: URL(filePath: file))
    defer { try? handle.close() }
    while let data = try handle.read(upToCount: 1 << 20), !data.isEmpty {}
  }
}
