// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStore

/// Measures the memory of models, faults and scans, each in a new process.
struct MemoryBench {
  let rounds: Int
  let folder: Folder
  /// The number of models, faults and documents relative to 100,000 models, and 1,000,000 of the others.
  let scale: Double

  /// One row of the table.
  struct Line {
    var name: String
    var result: String
    var target: String
    var isMissed: Bool
    /// The most resident memory, in bytes.
    var peak: Double
  }

  /// The allocated and most resident bytes of a process, as medians over the rounds.
  private struct Sample {
    var allocated: Double
    var peak: Double
  }

  private static let modelTarget = 1.2
  private static let faultTarget = 40.0
  private static let scanTarget = 5.0

  func run() throws -> [Line] {
    let models = max(1_000, Int(100_000 * scale))
    let many = max(10_000, Int(1_000_000 * scale))
    let small = try filled("small.db", models)
    let large = try filled("large.db", many)
    return try [modelLine(small, models), faultLine(small, many), scanLine(large, many)]
  }

  private func modelLine(_ file: String, _ count: Int) throws -> Line {
    let start = try sample(.start, file, count)
    let structs = try sample(.structs, file, count)
    let open = try sample(.open, file, count)
    let models = try sample(.models, file, count)
    let plain = (structs.allocated - start.allocated) / Double(count)
    let ours = (models.allocated - open.allocated) / Double(count)
    let ratio = ours / plain
    return Line(
      name: "\(count.groupedText) models in an array, relative to plain structs",
      result: "\(ratio.ratioText) (\(ours.bytesText) and \(plain.bytesText) bytes each)",
      target: Self.modelTarget.ratioText, isMissed: ratio > Self.modelTarget, peak: models.peak)
  }

  private func faultLine(_ file: String, _ count: Int) throws -> Line {
    let faults = try sample(.faults, file, count)
    let each = faults.allocated / Double(count)
    return Line(
      name: "\(count.groupedText) faults in a context, per fault",
      result: "\(each.bytesText) bytes", target: "\(Self.faultTarget.bytesText) bytes",
      isMissed: each > Self.faultTarget, peak: faults.peak)
  }

  private func scanLine(_ file: String, _ count: Int) throws -> Line {
    let scan = try sample(.scan, file, count)
    let megabytes = scan.allocated / 1e6
    let isSmall = megabytes < 0.1
    return Line(
      name: "scan of \(count.groupedText) documents with `each`, above SQLite's page cache",
      result: isSmall ? "\((scan.allocated / 1e3).bytesText) kB" : "\(megabytes.ratioText) MB",
      target: "\(Self.scanTarget.ratioText) MB",
      isMissed: megabytes >= Self.scanTarget, peak: scan.peak)
  }

  private func sample(_ job: MemoryJob, _ file: String, _ count: Int) throws -> Sample {
    let results = try (0..<rounds).map { _ in
      try ChildProcess.run([job.rawValue, file, "\(count)"])
    }
    return Sample(
      allocated: results.compactMap { $0["allocated"] }.median,
      peak: results.compactMap { $0["peak"] }.median)
  }

  private func filled(_ name: String, _ count: Int) throws -> String {
    let file = try folder.freshFile(name)
    try ColdProduct.ours.fill(file, documents: count)
    return file
  }
}

extension Double {
  fileprivate var bytesText: String { String(format: "%.0f", self) }
}
