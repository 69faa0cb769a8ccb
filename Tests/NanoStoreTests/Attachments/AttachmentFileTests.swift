// SPDX-License-Identifier: MIT

import Foundation
import NanoSQLite
import NanoStore
import NanoTesting
import Testing

@Suite("Attachments in files", .sqlite)
struct AttachmentFileTests {
  private func rows(_ store: Store, _ table: String = "nano_blobs") throws -> Int {
    guard try store.sql("SELECT name FROM sqlite_schema WHERE name = ?", table).count > 0
    else { return 0 }
    return try store.sql("SELECT count(*) AS n FROM \(table)").first?["n"]?.int ?? -1
  }

  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func opened(
    _ name: String = "a.db", _ change: (inout SQLiteConfiguration) -> Void = { _ in }
  ) throws -> DocumentCollection {
    let store = try Store.file(scratch.file(name), change)
    if try store["films"].get("alien") == nil {
      try store["films"].save(["title": "Alien"], key: "alien")
    }
    return store["films"]
  }

  @Test(
    "A file without attachments stays as it was, and one with them is refused by older versions")
  func format() throws {
    let films = try opened()
    let version = { try films.store.sql("PRAGMA user_version").first?["user_version"]?.int }
    #expect(try version() == 1)
    #expect(try films.store.sql("SELECT 1 FROM sqlite_schema WHERE name LIKE 'nano_blob%'").isEmpty)
    try films.store.compact()
    #expect(try version() == 1)

    try films.attach(.data(Data([1])), named: "a", to: "alien")
    #expect(try version() == 3)
    try films.setChangeTracking(.on)
    #expect(try version() == 3)
    #expect(try films.store.verify() == [])
  }

  @Test(
    "Attachments work with every journal, and in memory",
    arguments: [SQLiteConfiguration.JournalMode.wal, .delete, .truncate])
  func journals(mode: SQLiteConfiguration.JournalMode) async throws {
    let films = try opened { $0.journalMode = mode }
    let data = AttachmentTests.bytes(1_000_000)
    try await films.attach(.data(data), named: "a", to: "alien")
    var read = Data()
    for try await piece in films.attachments(of: "alien").stream("a") { read.append(piece) }
    #expect(read == data)
  }

  @Test(
    "A read-only store that streams from a file with a rollback journal keeps no program from writing"
  )
  func readOnlyStream() async throws {
    let films = try opened { $0.journalMode = .delete }
    let data = AttachmentTests.bytes(1_000_000)
    try await films.attach(.data(data), named: "a", to: "alien")
    let reader = try opened {
      $0.isReadOnly = true
      $0.journalMode = .delete
    }
    let iterator = reader.attachments(of: "alien").stream("a").makeAsyncIterator()
    var read = try #require(try await iterator.next())

    try await films.save(["title": "Aliens"], key: "aliens")

    while let piece = try await iterator.next() { read.append(piece) }
    #expect(read == data)
  }

  @Test("A stream reads to its end although the attachment was removed and the store compacted")
  func streaming() async throws {
    for mode in [SQLiteConfiguration.JournalMode.wal, .delete] {
      // Compacting waits this long for the stream, which reads on afterward.
      let films = try opened("\(mode).db") {
        $0.journalMode = mode
        $0.busyTimeout = .seconds(2)
      }
      let data = AttachmentTests.bytes(1_000_000)
      try await films.attach(.data(data), named: "a", to: "alien")
      let iterator = films.attachments(of: "alien").stream("a").makeAsyncIterator()
      var read = try #require(try await iterator.next())

      try await films.attachments(of: "alien").remove("a")
      try await films.store.compact()

      while let piece = try await iterator.next() { read.append(piece) }
      #expect(read == data)
      try await films.store.compact()
      #expect(try rows(films.store) == 0)
      #expect(try rows(films.store, "nano_chunks") == 0)
    }
  }

  @Test("Closing a store ends its streams")
  func closing() async throws {
    let films = try opened()
    try await films.attach(.data(AttachmentTests.bytes(1_000_000)), named: "a", to: "alien")
    let iterator = films.attachments(of: "alien").stream("a").makeAsyncIterator()
    _ = try await iterator.next()
    try films.store.close()
    #expect(await asyncCode { _ = try await iterator.next() } == .closed)
  }

  @Test("Many streams at once do not wait for each other")
  func manyStreams() async throws {
    let films = try opened()
    let data = AttachmentTests.bytes(600_000)
    try await films.attach(.data(data), named: "a", to: "alien")
    let iterators = (0..<20).map { _ in
      films.attachments(of: "alien").stream("a").makeAsyncIterator()
    }
    for _ in 0..<3 { for iterator in iterators { _ = try await iterator.next() } }
    for iterator in iterators { #expect(try await iterator.next() == nil) }
  }

  @Test(
    "A process that is killed while it writes leaves nothing visible, and nothing after compacting")
  func killed() throws {
    let films = try opened()
    let helper = try HelperProcess()
    try helper.send("open", scratch.file("a.db"))
    #expect(try helper.send("attach", "films", "alien", "video") == "ok written")
    #expect(try rows(films.store, "nano_chunks") > 0)
    #expect(try films.attachments(of: "alien").all() == [])
    // The process is alive.
    try films.store.compact()
    #expect(try rows(films.store, "nano_chunks") > 0)

    helper.kill()

    #expect(try films.attachments(of: "alien").all() == [])
    #expect(try films.store.verify() == [])
    try films.store.compact()
    #expect(try rows(films.store) == 0)
    #expect(try rows(films.store, "nano_chunks") == 0)
  }

  @Test("Content that concurrent calls add is kept for its lease")
  func concurrentLeases() async throws {
    let store = try opened().store
    let blocked = DispatchSemaphore(value: 0)
    await withCheckedContinuation { continuation in
      // A thread of its own, because it blocks.
      DispatchQueue(label: "writes").async {
        try? store.write {
          continuation.resume()
          blocked.wait()
        }
      }
    }
    let attachments = try await withThrowingTaskGroup(of: NanoStore.Attachment.self) { group in
      for number in 0..<8 as Range<UInt8> {
        group.addTask { try await store.addAttachment(.data(Data([number]))) }
      }
      try await Task.sleep(for: .milliseconds(100))
      blocked.signal()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    try await store.compact()
    for attachment in attachments { #expect(try await store.data(of: attachment).count == 1) }
  }

  @Test(
    "A lease of any duration is accepted", arguments: [.max, .max - 1, 9_223_372_036_854, .min, -1])
  func extremeLeases(seconds: Int64) throws {
    let store = try opened().store
    let attachment = try store.addAttachment(.data(Data([1])))
    try store.compact(attachmentLease: .seconds(seconds))
    #expect(
      code { _ = try store.data(of: attachment) } == (seconds < 0 ? .notFound : nil))
  }

  @Test("Content with any time of another program can be collected", arguments: [Int64.min, .max])
  func extremeTimes(time: Int64) throws {
    let store = try opened { $0.allowsInternalWrites = true }.store
    let attachment = try store.addAttachment(.data(Data([1])))
    try store.execute("UPDATE nano_blobs SET touched = \(time)")
    try store.compact()
    #expect(code { _ = try store.data(of: attachment) } == (time < 0 ? .notFound : nil))
  }

  @Test("Content that was added is kept for its lease without a reference, and then collected")
  func leases() throws {
    let films = try opened()
    let attachment = try films.store.addAttachment(.data(Data([1, 2, 3])))
    try films.store.compact()
    #expect(try films.store.data(of: attachment) == Data([1, 2, 3]))
    try films.store.compact(attachmentLease: .zero)
    #expect(code { _ = try films.store.data(of: attachment) } == .notFound)

    let other = try films.store.addAttachment(.data(Data([4])))
    try films.update("alien", set: ["poster": other.documentValue])
    try films.store.compact()
    try films.update("alien", remove: ["poster"])
    try films.store.compact()
    #expect(try rows(films.store) == 0)
  }

  @Test("References of other programs, however spelled, keep content")
  func foreignReferences() throws {
    let films = try opened()
    let attachment = try films.attach(.data(Data([1])), named: "a", to: "alien")
    let escaped = attachment.digest.replacing("sha", with: "\\u0073h\\u0061")
    try films.store.close()
    try scratch.shell(
      "a.db",
      """
      INSERT INTO films(key, body) VALUES ('b', '{"x":[{"y":"\(escaped)"}]}');
      UPDATE films SET body = '{}' WHERE key = 'alien';
      """)
    try films.store.reopen()
    try films.store.compact()
    #expect(try films.store.data(of: attachment) == Data([1]))
    try films.delete("b")
    try films.store.compact()
    #expect(try rows(films.store) == 0)
  }

  @Test(
    "Damage is reported by reading and by verify, and intact ranges can be read",
    arguments: [
      "UPDATE nano_chunks SET bytes = zeroblob(length(bytes)) WHERE id & 1048575 = 1",
      "DELETE FROM nano_chunks WHERE id & 1048575 = 1",
      "UPDATE nano_chunks SET bytes = substr(bytes, 2) WHERE id & 1048575 = 1",
      "UPDATE nano_chunks SET state = zeroblob(32) WHERE id & 1048575 = 1",
    ])
  func damage(statement: String) async throws {
    let films = try opened { $0.allowsInternalWrites = true }
    let data = AttachmentTests.bytes(1_000_000)
    try await films.attach(.data(data), named: "a", to: "alien")
    let attachments = films.attachments(of: "alien")
    #expect(try await films.store.verify() == [])

    try await films.store.execute(statement)

    #expect(code { _ = try attachments.data("a") } == .corruptFile)
    #expect(code { _ = try attachments.data("a", in: 262_144..<262_145) } == .corruptFile)
    #expect(try await attachments.data("a", in: 0..<262_144) == data[..<262_144])
    var count = 0
    #expect(
      await asyncCode { for try await piece in attachments.stream("a") { count += piece.count } }
        == .corruptFile)
    #expect(count == 262_144)
    #expect(try await films.store.verify().map(\.subject) == ["attachments"])
  }

  @Test("Missing content is reported by verify, and a document that only looks like it is not")
  func missingContent() throws {
    let films = try opened { $0.allowsInternalWrites = true }
    try films.attach(.data(Data([1])), named: "a", to: "alien")
    let digest = "sha256-" + String(repeating: "ab", count: 32)
    try films.save(["sum": .string(digest)], key: "other")
    #expect(try films.store.verify() == [])
    try films.store.execute("DELETE FROM nano_blobs")
    #expect(try films.store.verify().map(\.subject) == ["films"])
  }

  @Test(
    "Whatever call of the engine fails, the document is unchanged and nothing is left after compacting"
  )
  func failures() throws {
    let full = StoreError(.full, "No space is left for the database")
    var failed = 0
    for call in 1... {
      let engine = FailingEngine(try SQLiteEngine(.memory, .init()))
      let store = try Store(opening: { engine })
      let films = store["films"]
      try films.save(["title": "Alien"], key: "alien")
      let before = try films.get("alien")?.object()

      engine.fail(at: call, full)
      let outcome = code {
        try films.attach(.data(AttachmentTests.bytes(5_000_000)), named: "a", to: "alien")
      }
      let calls = engine.calls
      engine.succeed()
      if calls < call {
        #expect(outcome == nil)
        break
      }
      failed += 1
      #expect(outcome == .full)
      let after = try films.get("alien")?.object()
      #expect(after == before)
      try store.compact()
      let left = try engine.read(.snapshot, nil) { try $0.blobs(after: 0, limit: 10) }
      #expect(left.isEmpty)
    }
    #expect(failed > 20)
  }

  @Test("A backup has the attachments")
  func backup() throws {
    let films = try opened()
    let data = AttachmentTests.bytes(700_000)
    try films.attach(.data(data), named: "a", to: "alien")
    try films.store.backup(to: scratch.file("b.db"))
    let copy = try Store.file(scratch.file("b.db"))
    #expect(try copy["films"].attachments(of: "alien").data("a") == data)
    #expect(try copy.verify() == [])
  }

  @Test("Attachments are written while other tasks attach, remove and compact, and none is lost")
  func concurrency() async throws {
    let films = try opened()
    for key in 0..<8 { try await films.save(["n": .int(Int64(key))], key: "k\(key)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for key in 0..<8 {
        group.addTask {
          let attachments = films.attachments(of: "k\(key)")
          for round in 0..<12 {
            // Some contents are those of other tasks.
            let data = AttachmentTests.bytes(
              round % 3 == 0 ? 400_000 : 100, seed: UInt64(round * 4 + key % 4))
            try await attachments.add(.data(data), named: "a")
            #expect(try await attachments.data("a") == data)
            if round % 4 == 3 { try await attachments.remove("a") }
          }
        }
      }
      group.addTask { for _ in 0..<10 { try await films.store.compact() } }
      try await group.waitForAll()
    }
    try await films.store.compact()
    #expect(try await films.store.verify() == [])
    #expect(try rows(films.store) == 0)
  }

  @Test("Content is read while documents are not written yet, also if the closure writes")
  func unsavedDocuments() throws {
    let store = try Store.file(scratch.file("a.db"))
    let films = store["films"]
    let poster = try store.addAttachment(.data(Data("poster".utf8)))
    store.saveInterval = 100
    try films.save(["_attachments": ["poster": poster.documentValue]], key: "alien")

    #expect(try films.attachments(of: "alien").data("poster") == Data("poster".utf8))
    var count = 0
    try store.each(of: poster) { _ in
      try films.save(["n": 1], key: "brazil")
      try store.flush()
      count = try films.count()
    }
    #expect(count == 2)
  }
}
