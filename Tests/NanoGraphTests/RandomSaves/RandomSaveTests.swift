// SPDX-License-Identifier: MIT

import Foundation
import NanoTestSupport
import Testing

@MainActor
@Suite("Random edits, undo and saves")
struct RandomSaveTests {
  /// `NANOSTORE_SEED` sets the first seed, `NANOSTORE_PAIRS` the number of programs.
  nonisolated private static let seeds: Range<Int> = {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["NANOSTORE_SEED"].flatMap { Int($0) } ?? 1
    let count = environment["NANOSTORE_PAIRS"].flatMap { Int($0) }
    return first..<first + (count ?? (TestEngine.isServer ? 5 : 20))
  }()

  @Test(
    "After each step, context and store have the expected content, and there is no conflict",
    arguments: RandomSaveTests.seeds)
  func agrees(seed: Int) async throws {
    let program = try StaffProgram(seed: seed)
    do {
      for _ in 0..<60 {
        guard try await program.step() else { return }
      }
    } catch {
      Issue.record("\(error) after \(program.log)")
    }
  }
}
