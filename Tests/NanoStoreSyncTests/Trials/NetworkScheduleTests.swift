// SPDX-License-Identifier: MIT

import NanoTestSupport
import Testing

@Suite struct NetworkScheduleTests {
  private static let count = TrialCount(
    "random schedules of replicas ran through a faulty network", of: TrialLimits.schedules ?? 4)

  @Test(.sqlite, arguments: 0..<(TrialLimits.schedules ?? 4))
  func `Replicas that sync through a faulty network agree in the end and lose nothing`(
    _ number: Int
  ) async throws {
    try await Self.count.run { try await run(seed: TrialLimits.seed + UInt64(number)) }
  }

  private func run(seed: UInt64) async throws {
    let prepared = try NetworkSchedule(seed: seed)
    let schedule = try await TrialServer.running(prepared.server.store) { port in
      try await FaultyProxy.running(before: port, rate: 0.15, seed: seed) { proxy in
        var schedule = prepared
        try await schedule.run(steps: 60, through: proxy)
        try await schedule.settle(through: proxy)
        return schedule
      }
    }
    try schedule.check()
  }
}
