// SPDX-License-Identifier: MIT

import ArgumentParser
import Dispatch
import Foundation
import NanoStore
import Synchronization

/// Checks that random programs of public calls have the same results on SQLite as on the reference engine.
struct ProgramsStressTest: StressTest {
  static let configuration = CommandConfiguration(
    commandName: "programs",
    abstract:
      "Runs random programs on SQLite and on the reference engine, and compares the results.")

  @Option(help: "The number of programs.") var count = 1_000
  @Option(help: "The seed of the first program. Later programs use consecutive seeds.")
  var seed = UInt64.random(in: 0...1_000_000_000_000)
  @Option(help: "Stops after this number of minutes.") var minutes = 60.0
  @Option(help: "The number of concurrent programs.")
  var jobs = ProcessInfo.processInfo.activeProcessorCount
  @Flag(help: "Prints each program before it runs.") var verbose = false

  /// The progress shared by concurrent programs.
  private struct Progress {
    var next = 0
    var completed = 0
    var calls = 0
    var failure: (any Error)?
  }

  func perform() throws -> Figures {
    let progress = Mutex(Progress())
    let end = ContinuousClock.now + .seconds(minutes * 60)
    DispatchQueue.concurrentPerform(iterations: max(1, jobs)) { _ in
      while ContinuousClock.now < end {
        let number = progress.withLock { progress -> Int? in
          guard progress.failure == nil, progress.next < count else { return nil }
          progress.next += 1
          return progress.next - 1
        }
        guard let number else { return }
        do {
          let calls = try perform(seed &+ UInt64(number))
          let completed = progress.withLock { progress in
            progress.completed += 1
            progress.calls += calls
            return progress.completed
          }
          if completed % 10_000 == 0 { note("\(completed) programs") }
        } catch {
          progress.withLock { $0.failure = $0.failure ?? error }
        }
      }
    }
    return try progress.withLock { progress in
      if let failure = progress.failure { throw failure }
      var figures = Figures()
      figures["programs"] = progress.completed
      figures["calls"] = progress.calls
      figures["seed"] = Int(seed)
      return figures
    }
  }

  /// - Returns: The number of compared calls.
  private func perform(_ seed: UInt64) throws -> Int {
    var generator = ProgramGenerator(seed: seed)
    let program = generator.program()
    if verbose { note("seed \(seed)\n\(program)") }
    guard let difference = try program.run() else { return program.calls.count }
    note("seed \(seed) fails in \(difference.place): \(difference.actual); shrinking its program")
    let smallest = ProgramShrinker { (try? $0.run()).flatMap(\.self) }.shrunk(program)
    let last = (try? smallest.run()).flatMap(\.self) ?? difference
    throw StressTestFailure(
      """
      the store differs from the reference engine in \(last.place)
      expected: \(last.expected)
      actual:   \(last.actual)
      after, \(smallest)
      reproduce with: nanostore-stress programs --seed \(seed) --count 1
      """)
  }
}
