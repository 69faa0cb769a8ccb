// SPDX-License-Identifier: MIT

import Dispatch
import NanoStore
import NanoTestSupport
import Synchronization
import Testing

@Suite("Opening a new file in several places at once", .sqlite)
struct ConcurrentOpeningTests {
  @Test(
    "All of them open the store, and one creates it",
    arguments: [.wal, .delete, .persist] as [SQLiteConfiguration.JournalMode])
  func newFile(mode: SQLiteConfiguration.JournalMode) throws {
    let scratch = try Scratch()
    var engine = SQLiteConfiguration()
    engine.journalMode = mode
    let configuration = engine
    let failures = Mutex<[any Error]>([])
    for number in 0..<30 {
      let path = scratch.file("\(number).db")
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        do {
          let store = try Store(.file(path), engine: configuration)
          try store["c"].save(["n": 1], key: "\(thread)")
          try store.close()
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
      #expect(try Store(.file(path), engine: configuration)["c"].count() == 4)
    }
    let found = failures.withLock(\.self)
    #expect(found.isEmpty)
  }
}
