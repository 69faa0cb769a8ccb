// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting
import Testing

@Suite("Attachments in copies and recovered files", .sqlite)
struct AttachmentCopyTests {
  private func filled(_ store: Store) throws -> [(name: String, data: Data)] {
    try store["films"].save(["title": "Alien"], key: "alien")
    let contents = [0, 100, 65_536, 300_000, 3_000_000].map {
      (name: "a\($0)", data: AttachmentTests.bytes($0, seed: UInt64($0)))
    }
    for (name, data) in contents {
      try store["films"].attach(.data(data), named: name, to: "alien")
    }
    return contents
  }

  @Test("A copy has the content of all attachments, and a second one writes none of it again")
  func copying() throws {
    let (source, target) = (try Store(.memory), try Store(.temporary))
    let contents = try filled(source)
    _ = try source.addAttachment(.data(Data([9])))

    #expect(try source.copy(to: target).isEqual)

    for (name, data) in contents {
      #expect(try target["films"].attachments(of: "alien").data(name) == data)
    }
    #expect(try target.verify() == [])
    #expect(try target.sql("SELECT count(*) AS n FROM nano_blobs").first?["n"]?.int == 5)
    #expect(try source.compare(with: target).isEqual)
    #expect(try source.copy(to: target).isEqual)
    try target.compact()
    #expect(try target.verify() == [])
  }

  @Test("Content that is missing in the target is a difference")
  func comparison() throws {
    var engine = SQLiteConfiguration()
    engine.allowsInternalWrites = true
    let source = try Store(.memory)
    let target = try Store(.memory, engine: engine)
    _ = try filled(source)
    try source.copy(to: target)
    try target.execute("DELETE FROM nano_blobs WHERE length = 100")
    #expect(try source.compare(with: target).differences.map(\.subject) == ["attachments"])
  }

  @Test("Damaged content ends a copy with an error")
  func damagedSource() throws {
    var engine = SQLiteConfiguration()
    engine.allowsInternalWrites = true
    let source = try Store(.memory, engine: engine)
    _ = try filled(source)
    try source.execute("UPDATE nano_chunks SET bytes = zeroblob(262144) WHERE id & 1048575 = 2")
    #expect(code { try source.copy(to: Store(.memory)) } == .corruptFile)
  }

  @Test("Recovery saves content that is whole, and reports the rest")
  func recovery() throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db")) { $0.allowsInternalWrites = true }
    let contents = try filled(store)
    try store.close()
    let clean = try Store.recover(from: scratch.file("a.db"), to: scratch.file("clean.db"))
    #expect(clean.isComplete)
    let recovered = try Store.file(scratch.file("clean.db"))
    for (name, data) in contents {
      #expect(try recovered["films"].attachments(of: "alien").data(name) == data)
    }
    #expect(try recovered.verify() == [])

    try store.reopen()
    try store.execute(
      "UPDATE nano_chunks SET bytes = zeroblob(262144) WHERE id & 1048575 = 2")
    try store.close()
    let report = try Store.recover(from: scratch.file("a.db"), to: scratch.file("b.db"))
    #expect(report.losses.map(\.subject) == ["attachments"])
    #expect(report.saved == 1)
    let saved = try Store.file(scratch.file("b.db"))
    for (name, data) in contents where data.count < 3_000_000 {
      #expect(try saved["films"].attachments(of: "alien").data(name) == data)
    }
    #expect(
      code { _ = try saved["films"].attachments(of: "alien").data("a3000000") } == .notFound)
  }

  @Test(
    "An attachment with an impossible length is reported as damaged",
    arguments: ["1e999", "1 << 40"])
  func impossibleLength(length: String) throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db")) { $0.allowsInternalWrites = true }
    let names = try filled(store).map(\.name)
    // The length of chunks limits the length of an attachment that consists of several.
    try store.execute("UPDATE nano_blobs SET length = \(length) WHERE bytes IS NOT NULL")
    try store.execute(
      "UPDATE nano_blobs SET length = chunk_length * 1048576 WHERE bytes IS NULL")

    #expect(!names.isEmpty)
    for name in names {
      let attachments = store["films"].attachments(of: "alien")
      #expect(code { _ = try attachments.data(name) } == .corruptFile)
    }
  }

  @Test("Recovery reports an attachment with an impossible length and saves the others")
  func impossibleLengthInRecovery() throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db")) { $0.allowsInternalWrites = true }
    let (content, last) = (try filled(store), Int64.max)
    try store.execute("UPDATE nano_blobs SET length = \(last) WHERE bytes IS NULL")
    try store.close()

    let report = try Store.recover(from: scratch.file("a.db"), to: scratch.file("b.db"))

    #expect(!report.isComplete)
    let saved = try Store.file(scratch.file("b.db"))["films"].attachments(of: "alien")
    let readable = content.filter { (try? saved.data($0.name)) == $0.data }
    #expect(readable.map(\.name) == ["a0", "a100", "a65536"])
  }

  @Test("Recovery saves content in the row of an attachment whose length of chunks is damaged")
  func damagedChunkLength() throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db")) { $0.allowsInternalWrites = true }
    let contents = try filled(store).filter { $0.data.count < 60_000 }
    try store.execute("UPDATE nano_blobs SET chunk_length = '[]' WHERE bytes IS NOT NULL")
    try store.close()

    _ = try Store.recover(from: scratch.file("a.db"), to: scratch.file("b.db"))

    let saved = try Store.file(scratch.file("b.db"))
    #expect(!contents.isEmpty)
    for (name, data) in contents {
      #expect(try saved["films"].attachments(of: "alien").data(name) == data)
    }
  }
}
