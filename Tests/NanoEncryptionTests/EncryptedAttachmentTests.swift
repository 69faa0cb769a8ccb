// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoEngine
import NanoStore
import NanoStoreEncryption
import NanoTesting
import Testing

@Suite("Attachments of encrypted stores")
struct EncryptedAttachmentTests {
  private static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var random = SplitMix(seed: seed)
    return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
  }

  @Test("SHA-256 agrees with that of swift-crypto, whatever the length")
  func digests() {
    for length in Array(0...200) + [1_000, 4_095, 65_536, 300_001] {
      let data = Self.bytes(length, seed: UInt64(length))
      let expected = SHA256.hash(data: data).map {
        $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16)
      }
      let found = data.withUnsafeBytes { BlobHasher.digest(of: $0) }
      #expect(found.text == "sha256-" + expected.joined())
    }
  }

  @Test(
    "Neither content nor digest is in the file, and equal content is stored once",
    arguments: [1_000, 600_000])
  func secrecy(length: Int) throws {
    let file = try SealedFile()
    let data = Self.bytes(length)
    let store = try file.open()
    let films = store["films"]
    try films.save(["title": "Alien"], key: "alien")
    let attachment = try films.attach(.data(data), named: "a", to: "alien")
    try films.attach(.data(data), named: "b", to: "alien")
    #expect(try films.attachments(of: "alien").data("a") == data)
    #expect(try films.attachments(of: "alien").data("b", in: 100..<200) == data[100..<200])
    #expect(try store.verify() == [])
    try store.close()

    let digest = Data(SHA256.hash(data: data))
    for (_, bytes) in try file.bytes() {
      #expect(bytes.range(of: data.prefix(64)) == nil)
      #expect(bytes.range(of: digest) == nil)
      #expect(bytes.range(of: Data(attachment.digest.utf8)) == nil)
    }
    #expect(try file.sql("SELECT count(*) AS n FROM nano_blobs").first?["n"]?.int == 1)

    let reopened = try file.open()
    #expect(try reopened["films"].attachments(of: "alien").data("a") == data)
  }

  @Test(
    "Attachments are readable after the keys were rotated, and new ones are stored once with them",
    arguments: [1_000, 600_000])
  func rotation(length: Int) throws {
    let file = try SealedFile()
    let data = Self.bytes(length)
    let store = try file.open()
    let films = store["films"]
    try films.save(["title": "Alien"], key: "alien")
    try films.attach(.data(data), named: "a", to: "alien")
    let before = try file.sql("SELECT digest, sealed FROM nano_blobs")

    try store.rotateKeys()

    #expect(try file.sql("SELECT digest, sealed FROM nano_blobs") != before)
    #expect(try films.attachments(of: "alien").data("a") == data)
    #expect(
      try films.attachments(of: "alien").data("a", in: 1..<length - 1) == data[1..<length - 1])
    try films.attach(.data(data), named: "b", to: "alien")
    #expect(try file.sql("SELECT count(*) AS n FROM nano_blobs").first?["n"]?.int == 1)
    #expect(try store.verify() == [])
    try films.delete("alien")
    try store.compact()
    #expect(try file.sql("SELECT count(*) AS n FROM nano_blobs").first?["n"]?.int == 0)
    #expect(
      try file.sql("SELECT count(*) AS n FROM nano_chunks").first?["n"]?.int ?? 0 == 0)
  }

  @Test(
    "Content from before a store was encrypted is readable, and then encrypted",
    arguments: [1_000, 3_000_000])
  func conversion(length: Int) throws {
    let file = try SealedFile()
    let data = Self.bytes(length)
    let plain = try Store(.file(file.path))
    try plain["films"].save(["title": "Alien"], key: "alien")
    try plain["films"].attach(.data(data), named: "a", to: "alien")
    try plain.close()

    let store = try file.open()
    #expect(try store["films"].attachments(of: "alien").data("a") == data)
    try store.encryptAll()
    #expect(try store["films"].attachments(of: "alien").data("a") == data)
    try store.compact()
    try store.close()
    for (_, bytes) in try file.bytes() { #expect(bytes.range(of: data.prefix(64)) == nil) }
    #expect(try file.sql("SELECT count(*) AS n FROM nano_blobs").first?["n"]?.int == 1)
  }

  @Test("Plain content without its first chunk is reported instead of encrypted, and stays")
  func lostContent() throws {
    let file = try SealedFile()
    let plain = try Store(.file(file.path))
    try plain["films"].save(["title": "Alien"], key: "alien")
    try plain["films"].attach(.data(Self.bytes(600_000)), named: "a", to: "alien")
    try plain.close()
    // The record then claims to contain the bytes itself.
    _ = try file.sql("UPDATE nano_blobs SET chunk_length = 0")
    let chunks = try file.sql("SELECT id FROM nano_chunks ORDER BY id")

    let store = try file.open()
    let failure = code { try store.encryptAll() }

    #expect(failure == .corruptFile)
    #expect(try !store.verify().isEmpty)
    #expect(try file.sql("SELECT count(*) AS n FROM nano_blobs").first?["n"]?.int == 1)
    #expect(!chunks.isEmpty)
    #expect(try file.sql("SELECT id FROM nano_chunks ORDER BY id") == chunks)
    withExtendedLifetime(file) {}
  }

  @Test("A chunk or a record that was changed or exchanged is not read")
  func tampering() throws {
    for statement in [
      "UPDATE nano_chunks SET bytes = zeroblob(length(bytes)) WHERE id & 1048575 = 1",
      "UPDATE nano_chunks SET id = id ^ 3 WHERE id & 1048575 IN (1, 2) AND id & 1048575 = 1 AND 0",
      "UPDATE nano_chunks SET bytes = (SELECT bytes FROM nano_chunks LIMIT 1)",
      "UPDATE nano_blobs SET sealed = zeroblob(length(sealed))",
      "UPDATE nano_blobs SET length = length - 1",
    ] where !statement.hasSuffix("AND 0") {
      let file = try SealedFile()
      let store = try file.open()
      try store["films"].save(["title": "Alien"], key: "alien")
      try store["films"].attach(.data(Self.bytes(600_000)), named: "a", to: "alien")
      _ = try file.sql(statement)
      #expect(
        code { _ = try store["films"].attachments(of: "alien").data("a") } == .corruptFile)
      #expect(try !store.verify().isEmpty)
    }
  }

  @Test(
    "Plain content is read, and missing content reported, after another connection changed the key")
  func changedKey() throws {
    let file = try SealedFile()
    let data = Self.bytes(1_000)
    let plain = try Store(.file(file.path))
    try plain["films"].save(["title": "Alien"], key: "alien")
    try plain["films"].attach(.data(data), named: "a", to: "alien")
    try plain.close()
    let (store, other) = (try file.open(), try file.open())

    try store.changeKey(to: .passphrase("another horse"), cost: .small)

    #expect(try other["films"].attachments(of: "alien").data("a") == data)
    _ = try file.sql("DELETE FROM nano_blobs")
    let failure = code { _ = try other["films"].attachments(of: "alien").data("a") }
    #expect(failure != nil && failure != .wrongKey)
    // `file` deletes its folder when it is deallocated.
    withExtendedLifetime(file) {}
  }

  @Test("A key of content that was changed stops neither a rotation nor the removal of the content")
  func changedContentKey() throws {
    let file = try SealedFile()
    let store = try file.open()
    let films = store["films"]
    for (number, key) in ["alien", "brazil"].enumerated() {
      try films.save(["title": .string(key)], key: key)
      let data = Self.bytes(1_000, seed: UInt64(number))
      try films.attach(.data(data), named: "a", to: key)
    }
    _ = try file.sql("UPDATE nano_blobs SET sealed = zeroblob(length(sealed)) WHERE id = 1")
    #expect(try !store.verify().isEmpty)

    try store.rotateKeys()
    try store.encryptAll()

    #expect(code { _ = try films.attachments(of: "alien").data("a") } != nil)
    #expect(try films.attachments(of: "brazil").data("a") == Self.bytes(1_000, seed: 1))
    #expect(try !store.verify().isEmpty)
    try films.delete("alien")
    try store.compact()
    #expect(try file.sql("SELECT id FROM nano_blobs").map { $0["id"]?.int } == [2])
    #expect(try store.verify() == [])
    withExtendedLifetime(file) {}
  }

  @Test(
    "Content whose key was changed is kept, and missing from no copy, if a document refers to it",
    arguments: [false, true])
  func changedKeyOfReferencedContent(isRotated: Bool) throws {
    let file = try SealedFile()
    let store = try file.open()
    let films = store["films"]
    for (number, key) in ["alien", "brazil", "cube"].enumerated() {
      try films.save(["title": .string(key)], key: key)
      let data = Self.bytes(1_000, seed: UInt64(number))
      try films.attach(.data(data), named: "a", to: key)
    }
    _ = try file.sql("UPDATE nano_blobs SET sealed = zeroblob(length(sealed)) WHERE id = 1")
    if isRotated { try store.rotateKeys() }
    try films.delete("cube")

    try store.compact()

    #expect(try file.sql("SELECT id FROM nano_blobs ORDER BY id").map { $0["id"]?.int } == [1, 2])
    let target = try Store(.memory)
    #expect(code { try store.copy(to: target) } == .corruptFile)
    #expect(try target["films"].attachments(of: "brazil").data("a") == Self.bytes(1_000, seed: 1))
    let report = try store.compare(with: target)
    #expect(report.differences.map(\.subject) == ["attachments"])
    withExtendedLifetime(file) {}
  }
}
