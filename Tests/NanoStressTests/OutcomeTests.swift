// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@testable import nanostore_stress

@Suite("Checks of the stress tests")
struct OutcomeTests {
  private func agree(
    _ a: DocumentValue, _ b: DocumentValue, sums: [Int: Double] = [:]
  ) -> Bool {
    Outcome.values([[a]], sums: sums).agrees(with: .values([[b]]))
  }

  @Test("Values that are no sums agree only if they are equal")
  func exactValues() {
    #expect(agree(1, 1.0))
    #expect(agree(.double(.nan), .double(.nan)))
    #expect(!agree(5, .int(.max)))
    #expect(!agree(.int(.max), .int(.max - 1)))
    #expect(!agree(9_007_199_254_740_993, 9_007_199_254_740_992))
    #expect(!agree(0, 0.0009))
    #expect(!agree("a", "b"))
  }

  @Test("Sums agree within the rounding errors of their terms")
  func sums() {
    #expect(agree(0.3, 0.30000000000000004, sums: [0: 0.2]))
    #expect(agree(4, 5, sums: [0: 9.2e18]))
    #expect(!agree(4, 5, sums: [0: 10]))
    #expect(!agree(1e16, 1.1e16, sums: [0: 1e16]))
    #expect(agree(.double(.infinity), .double(1e308), sums: [0: 1e308]))
    #expect(!agree(.double(.infinity), 1, sums: [0: 1]))
    #expect(!agree(4, 5, sums: [1: 9.2e18]))
  }

  @Test("An error that no program causes is wrong in any call, and so is an error of another type")
  func environmentErrors() {
    for code in [StoreError.Code.corruptFile, .closed, .cannotOpen, .database, .locked] {
      #expect(Outcome(StoreError(code, "A failure")).isBroken(mustSucceed: false))
    }
    #expect(Outcome.several([.done, .failed(.inputOutput)]).isBroken(mustSucceed: false))
    #expect(Outcome(CancellationError()).isBroken(mustSucceed: false))
    #expect(!Outcome.failed(.typeMismatch).isBroken(mustSucceed: false))
  }

  @Test("Calls that always succeed may fail only because of buffered saves")
  func callsThatAlwaysSucceed() {
    for call in [Call.track("things", .on), .feed("things"), .restart, .awaiting(.verify)] {
      #expect(call.alwaysSucceeds)
    }
    #expect(!Call.drop("things").alwaysSucceeds)
    #expect(Outcome.failed(.unsupported).isBroken(mustSucceed: true))
    #expect(!Outcome.failed(.uniqueViolation).isBroken(mustSucceed: true))
  }

  @Test("A backup is acknowledged when the process that makes it continues")
  func acknowledgedBackups() {
    var progress = RoundsSubject.Progress(done: 2, begun: 2)
    for line in ["open", "begin 3", "done 3", "upkeep backup"] { progress.note(line) }
    #expect(progress.sawBackup)
    #expect(progress.backedUp == nil)
    progress.note("begin 4")
    #expect(progress.backedUp == 3)
  }
}
