// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@testable import nanostore_stress

@Suite("Checks of the stress tests")
struct OutcomeTests {
  /// - Parameter numbers: What the values are the sum or the average of, if they are.
  private func agree(
    _ a: DocumentValue, _ b: DocumentValue, adding numbers: [DocumentValue]? = nil,
    isAverage: Bool = false
  ) -> Bool {
    let sums = numbers.map { [[0: Outcome.Sum(of: $0, isAverage: isAverage)]] } ?? []
    return Outcome.values([[a]], sums: sums).agrees(with: .values([[b]]))
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
    let numbers: [DocumentValue] = [.double(0.1), .double(0.2), "a"]

    #expect(agree(.double(0.3), .double(0.1 + 0.2), adding: numbers))
    #expect(agree(.double(0.15), .double((0.1 + 0.2) / 2), adding: numbers, isAverage: true))
    #expect(!agree(.double(0.3), .double(0.31), adding: numbers))
    #expect(!agree(.double(0.3), .double(0.1 + 0.2)))
    #expect(!agree(.double(1e16), .double(1.1e16), adding: [.double(1e16)]))
  }

  @Test("A sum agrees within the rounding errors of its own group")
  func groups() {
    let large = DocumentValue.double(.greatestFiniteMagnitude)
    let sums = [[1: Outcome.Sum(of: [large, .double(1)])], [1: Outcome.Sum(of: [.double(1.5)])]]
    let expected = Outcome.values([["a", large], ["b", .double(1.5)]], sums: sums)

    #expect(expected.agrees(with: .values([["a", large], ["b", .double(1.5)]])))
    #expect(!expected.agrees(with: .values([["a", large], ["b", .double(77.5)]])))
    #expect(!expected.agrees(with: .values([["a", large], ["b", 77]])))
    #expect(!expected.agrees(with: .values([["a", .double(0)], ["b", .double(1.5)]])))
    #expect(!expected.agrees(with: .values([["a", large]])))
  }

  @Test("A sum that may overflow is a number or an infinity, and NaN only with infinite terms")
  func overflow() {
    let finite: [DocumentValue] = [.double(1e308), .double(1e308), .double(-1e308)]
    let infinite: [DocumentValue] = finite + [.double(-.infinity)]

    #expect(agree(.double(.infinity), .double(1e308), adding: finite))
    #expect(!agree(.double(1e308), .double(.nan), adding: finite))
    #expect(!agree(.double(.infinity), .double(.nan), adding: finite))
    #expect(agree(.double(-.infinity), .double(.nan), adding: infinite))
    #expect(!agree(.double(-.infinity), .double(1e308), adding: infinite))
    #expect(!agree(.double(.infinity), .double(1), adding: [.double(1)]))
  }

  @Test("Sums of integers and of decimals are exact, unless a partial sum may exceed 64 bits")
  func exactSums() throws {
    let decimal = try #require(DecimalValue("9007199254740992.5"))
    let double = DocumentValue.double(9_007_199_254_740_992)
    let large: [DocumentValue] = [.int(.max), .int(.max), .int(-.max)]

    #expect(!agree(4, 5, adding: [.int(.max), 5, .int(-.max)]))
    #expect(!agree(9_007_199_254_740_993, double, adding: [9_007_199_254_740_992, 1]))
    #expect(!agree(double, 9_007_199_254_740_993, adding: [9_007_199_254_740_992, 1]))
    #expect(!agree(.decimal(decimal), double, adding: large))
    #expect(agree(.int(.max), .double(0x1p63), adding: large))
    #expect(agree(.double(0x1p63), .int(.max), adding: large))
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
    #expect(progress.backups == 0)
    progress.note("begin 4")
    #expect(progress.backedUp == 3)
    for line in ["done 4", "upkeep backup", "begin 5"] { progress.note(line) }
    #expect(progress.backedUp == 4)
    #expect(progress.backups == 2)
  }
}
