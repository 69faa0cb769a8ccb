// SPDX-License-Identifier: MIT

import NanoEngine
import NanoServer
import NanoStoreCore

/// Maintenance of the store.
extension Inspector {
  func verify() async throws -> Wire {
    let clock = ContinuousClock()
    let start = clock.now
    let problems = try await store.verify()
    return [
      "milliseconds": .double((clock.now - start) / .milliseconds(1)),
      "count": .int(problems.count),
      "problems": .array(
        problems.prefix(Self.maximumProblems).map {
          ["subject": .string($0.subject), "message": .string($0.message)]
        }),
    ]
  }

  /// The number of problems that are listed.
  private static let maximumProblems = 200

  func compact() async throws -> Wire {
    let before = try await store.statistics().size
    try await store.compact()
    return ["before": .int(before), "after": .int(try await store.statistics().size)]
  }
}
