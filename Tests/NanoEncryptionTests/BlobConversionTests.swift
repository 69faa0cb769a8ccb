// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEncryption
import NanoEngine
import NanoSQLite
import NanoStoreEncryption
import NanoTestSupport
import NanoTesting
import Testing

/// The inner engine keeps what was written before the store was encrypted, and shows what is in the file.
@Suite("Encrypting attachments while a store is used")
struct BlobConversionTests {
  private let inner: SQLiteEngine
  private let engine: EncryptedEngine
  private let lease = BlobLease(owner: nil, touched: 7)

  init() throws {
    inner = try SQLiteEngine(.memory, SQLiteConfiguration())
    // A store without documents would be encrypted from the start.
    _ = try inner.write(nil) { writer in
      try GeneratedDocument(["n": 1]).new { try writer.insert($0, into: "c") }
    }
    engine = try EncryptedEngine(inner, .test())
  }

  private func bytes(_ seed: UInt8) -> [UInt8] { (0..<100).map { $0 &+ seed } }

  private func digest(_ bytes: [UInt8]) -> BlobDigest {
    bytes.withUnsafeBytes { BlobHasher.digest(of: $0) }
  }

  private func add(_ bytes: [UInt8], _ lease: BlobLease) throws {
    let blob = NewBlob(digest(bytes), length: Int64(bytes.count), lease)
    try inner.write(nil) { writer in
      try bytes.withUnsafeBytes { try writer.addBlob(blob, $0) }
    }
  }

  /// Adds content in chunks of five bytes, which several transactions encrypt.
  private func upload(_ bytes: [UInt8]) throws {
    let blob = NewBlob(digest(bytes), length: Int64(bytes.count), lease)
    try inner.write(nil) { writer in
      var upload = try writer.beginBlob(chunkLength: 5, lease)
      for start in stride(from: 0, to: bytes.count, by: 5) {
        try Array(bytes[start..<start + 5]).withUnsafeBytes {
          try writer.appendChunk($0, state: nil, to: &upload)
        }
      }
      try writer.finishBlob(upload, blob)
    }
  }

  private func records() throws -> [BlobRecord] {
    try inner.read(.snapshot, nil) { try $0.blobs(after: 0, limit: 100) }
  }

  private func read(_ digest: BlobDigest) throws -> [UInt8] {
    try engine.read(.snapshot, nil) { reader in
      var bytes: [UInt8] = []
      guard let record = try reader.blob(digest) else { return [] }
      for position in 0..<record.chunkCount {
        _ = try reader.chunk(position, of: record) { chunk, _ in bytes += chunk }
      }
      return bytes
    }
  }

  @Test("Content whose lease changes in the meantime leaves nothing unencrypted")
  func changedLease() throws {
    try add(bytes(1), lease)
    try add(bytes(2), lease)
    let renewed = BlobLease(owner: "a", touched: 9)
    var isRenewed = false

    try engine.encryptAll { _ in
      guard try !isRenewed && records().contains(where: { $0.sealed != nil }) else { return }
      isRenewed = true
      try add(bytes(2), renewed)
    }

    #expect(isRenewed)
    let found = try records()
    #expect(found.count == 2 && found.allSatisfy { $0.sealed != nil })
    #expect(Set(found.map(\.lease)) == [lease, renewed])
    #expect(try read(digest(bytes(2))) == bytes(2))
  }

  @Test("Content that is being read stays until it is collected, and is not referred to anymore")
  func pinned() throws {
    try add(bytes(1), BlobLease(owner: "a", touched: 9))
    let kept = try #require(try engine.keepBlob(digest(bytes(1)), nil))

    try engine.encryptAll()

    #expect(try records().map { $0.sealed == nil } == [true, false])
    let found = try engine.read(.snapshot, nil) { try $0.blobs(after: 0, limit: 100) }
    #expect(found.map(\.digest) == [nil, digest(bytes(1))])
    let collected = try #require(found.first)
    #expect(collected.lease.owner == nil)
    #expect(try engine.write(nil) { try $0.deleteBlobs([collected]) } == 0)
    kept.close()
    #expect(try engine.write(nil) { try $0.deleteBlobs([collected]) } == 1)
    #expect(try records().map { $0.sealed == nil } == [false])
    #expect(try read(digest(bytes(1))) == bytes(1))
  }

  /// What another connection does while a reader looks for content.
  enum Meanwhile: CaseIterable { case beginsEncryption, completesEncryption, replacesKeys }

  @Test(
    "Content that is encrypted while a reader looks for it is found", arguments: Meanwhile.allCases)
  func encryptedMeanwhile(_ meanwhile: Meanwhile) throws {
    struct Stop: Error {}
    try add(bytes(1), lease)
    let (inner, other) = (self.inner, engine)
    let reading = try EncryptedEngine(
      HookEngine(inner) { lookup in
        // The second lookup is that of plain content.
        if lookup == 2 {
          do {
            try other.encryptAll { _ in
              let found = try inner.read(.snapshot, nil) { try $0.blobs(after: 0, limit: 100) }
              let isEncrypted = found.contains { $0.sealed != nil }
              if isEncrypted, meanwhile != .completesEncryption { throw Stop() }
            }
          } catch is Stop {}
        }
        if lookup == 3, meanwhile == .replacesKeys { try other.rotate() }
      }, .test())

    let kept = try #require(try reading.keepBlob(digest(bytes(1)), nil))

    var found: [UInt8] = []
    try kept.read(nil) { reader in
      _ = try reader.chunk(0, of: kept.record) { chunk, _ in found += chunk }
    }
    #expect(found == bytes(1))
    #expect(kept.record.sealed != nil)
    kept.close()
  }

  @Test("Content in chunks is written with a lease of its own, and then has that of the original")
  func uploadLease() throws {
    try upload(bytes(1))
    var touched: [Int64] = []

    try engine.encryptAll { _ in
      touched += try records().filter { $0.digest == nil }.map(\.lease.touched)
    }

    #expect(!touched.isEmpty && touched.allSatisfy { $0 > lease.touched })
    #expect(try records().map(\.lease) == [lease])
    #expect(try read(digest(bytes(1))) == bytes(1))
  }

  @Test("Content that is collected while it is encrypted leaves nothing behind")
  func collected() throws {
    try upload(bytes(1))
    var isCollected = false

    try engine.encryptAll { _ in
      let found = try records()
      guard found.count == 2 else { return }
      isCollected = true
      _ = try inner.write(nil) { writer in
        try writer.deleteBlobs(found.filter { $0.digest != nil })
      }
    }

    #expect(isCollected)
    #expect(try records().isEmpty)
  }

  @Test("An error of the progress closure ends the encryption after each transaction")
  func progress() throws {
    struct Stop: Error {}
    for seed in 1...3 as ClosedRange<UInt8> { try add(bytes(seed), lease) }

    #expect(throws: Stop.self) {
      try engine.encryptAll { _ in
        if try records().contains(where: { $0.sealed != nil }) { throw Stop() }
      }
    }

    #expect(try records().filter { $0.sealed != nil }.count == 1)
    try engine.encryptAll()
    #expect(try records().allSatisfy { $0.sealed != nil })
  }
}
