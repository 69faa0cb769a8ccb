// SPDX-License-Identifier: MIT

import NanoSync
import Testing

@Suite struct SyncStatusTests {
  @Test func `Failures of keys in different Unicode forms are both listed, each once`() {
    var status = SyncStatus()

    for key in ["\u{E9}", "e\u{301}", "\u{E9}"] {
      status.add(
        SyncFailure(
          collection: "films", key: key, direction: .pull, message: "", isRetried: true))
    }

    #expect(status.failures.map { Array($0.key.utf8).count } == [3, 2])
    status.removeFailures(of: ["\u{E9}"], in: "films", .pull)
    #expect(status.failures.map { Array($0.key.utf8).count } == [3])
    status.removeFailures(of: ["e\u{301}"], in: "films", .push)
    status.removeFailures(of: ["e\u{301}"], in: "people", .pull)
    #expect(status.failures.count == 1)
  }
}
