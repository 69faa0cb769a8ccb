// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Trials, in their short form")
struct TrialTests {
  @Test("The program of trials says what it can do")
  func help() throws { #expect(try TrialRun("--help").status == 0) }
}
