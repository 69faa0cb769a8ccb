// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@Suite("Acceptance cases of BNRPersistence")
struct BNRCaseTests {
  /// The areas that are run. What a case is about decides, never which case it is.
  static let areas: Set<String> = ["text"]

  private static func cases() throws -> [AcceptanceCase] {
    try AcceptanceCase.all(of: "BNRPersistence")
      .filter { areas.contains($0.fields["area"]?.string ?? "") }
  }

  @Test("What the original's own tests and documents say", arguments: try cases())
  func holds(one: AcceptanceCase) throws { try BNRCaseRunner(one).run() }

  @Test("There are cases of each area")
  func coverage() throws {
    let found = Set(try Self.cases().compactMap { $0.fields["area"]?.string })
    #expect(found == Self.areas)
  }
}
