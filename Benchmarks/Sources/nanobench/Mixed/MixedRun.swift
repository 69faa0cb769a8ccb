// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// Readers and one writer that use an open file for a fixed time.
struct MixedRun: Sendable {
  let product: any MixedProduct
  let data: MixedData
  let load: MixedLoad
  let readers: Int
  let seconds: Double

  /// What was counted.
  struct Counts: Sendable {
    var reads = LatencyHistogram()
    var writes = 0
    /// The number of values that the reads returned.
    var found = 0
  }

  /// The time in which a call is counted if it begins.
  private struct Window {
    let start: UInt64
    let end: UInt64

    init(_ seconds: Double) {
      start = Stopwatch.monotonic + MixedRun.warmUp
      end = start + UInt64(seconds * 1e9)
    }
  }

  /// In nanoseconds. Arbitrary: long enough to open every connection.
  private static let warmUp: UInt64 = 200_000_000

  func run(_ calls: MixedCalls) async throws -> Counts {
    let window = Window(seconds)
    return try await withThrowingTaskGroup(of: Counts.self) { group in
      for number in 0...readers {
        group.addTask {
          switch (calls, number) {
          case (.async, 0): try await writeAsync(window)
          case (.async, _): try await readAsync(number, window)
          case (.sync, 0): try await onThread { try write(window) }
          case (.sync, _): try await onThread { try read(number, window) }
          }
        }
      }
      return try await group.reduce(into: Counts()) { $0.add($1) }
    }
  }

  private func onThread(_ work: @escaping @Sendable () throws -> Counts) async throws -> Counts {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
  }

  private func read(_ reader: Int, _ window: Window) throws -> Counts {
    var random = SplitMix(seed: UInt64(reader))
    var counts = Counts()
    while true {
      let read = load.next(data, &random)
      let start = Stopwatch.monotonic
      guard start < window.end else { return counts }
      let found = try product.read(read)
      if start >= window.start { counts.add(found, since: start) }
    }
  }

  private func readAsync(_ reader: Int, _ window: Window) async throws -> Counts {
    var random = SplitMix(seed: UInt64(reader))
    var counts = Counts()
    while true {
      let read = load.next(data, &random)
      let start = Stopwatch.monotonic
      guard start < window.end else { return counts }
      let found = try await product.readAsync(read)
      if start >= window.start { counts.add(found, since: start) }
    }
  }

  private func write(_ window: Window) throws -> Counts {
    var random = SplitMix(seed: 0)
    var counts = Counts()
    for number in 0... {
      let write = data.write(number, &random)
      let start = Stopwatch.monotonic
      guard start < window.end else { break }
      try product.write(write)
      if start >= window.start { counts.writes += 1 }
    }
    return counts
  }

  private func writeAsync(_ window: Window) async throws -> Counts {
    var random = SplitMix(seed: 0)
    var counts = Counts()
    for number in 0... {
      let write = data.write(number, &random)
      let start = Stopwatch.monotonic
      guard start < window.end else { break }
      try await product.writeAsync(write)
      if start >= window.start { counts.writes += 1 }
    }
    return counts
  }
}

extension MixedRun.Counts {
  fileprivate mutating func add(_ found: Int, since start: UInt64) {
    reads.add(Stopwatch.monotonic - start)
    self.found += found
  }

  fileprivate mutating func add(_ other: MixedRun.Counts) {
    reads.add(other.reads)
    writes += other.writes
    found += other.found
  }
}
