// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension EngineConformance {
  static let blobs: [Check] = [
    Check("A blob is read as it was added, whole and by chunk, by its digest") { probe in
      guard probe.has(.blobs) else { return }
      for length in [0, 1, 100, 65_536] {
        let bytes = Blobs.bytes(length, seed: 1)
        let digest = try Blobs.add(bytes, probe)
        try expectEqual(try Blobs.read(digest, probe), bytes, "bytes of a whole blob")
      }
      for length in [64, 128, 129, 640, 1_000] {
        let bytes = Blobs.bytes(length, seed: 2)
        let digest = try Blobs.upload(bytes, chunkLength: 128, probe)
        try expectEqual(try Blobs.read(digest, probe), bytes, "bytes of a blob in chunks")
        let record = try probe.read { try $0.blob(digest) }
        try expectEqual(record?.length, Int64(length), "length")
        try expectEqual(record?.chunkLength, 128, "length of chunks")
      }
      let none = BlobHasher.digest(of: UnsafeRawBufferPointer(start: nil, count: 0))
      try expect(try probe.read { try $0.blob(none) } != nil, "the empty blob exists")
      let other = Blobs.digest([1, 2, 3, 4, 5])
      try expect(try probe.read { try $0.blob(other) } == nil, "a blob that was not added")
    },
    Check("Equal content is stored once, no matter which writer adds it or how") { probe in
      guard probe.has(.blobs) else { return }
      let bytes = Blobs.bytes(1_000, seed: 3)
      let digest = try Blobs.add(bytes, probe)
      try expectEqual(try Blobs.add(bytes, probe), digest, "digest")
      try expectEqual(try Blobs.upload(bytes, chunkLength: 128, probe), digest, "digest")
      try expectEqual(try Blobs.records(probe).count, 1, "number of blobs")
      try expectEqual(try Blobs.read(digest, probe), bytes, "bytes")
    },
    Check(
      "A blob that is being written is not visible under its digest, and may take several transactions"
    ) {
      probe in
      guard probe.has(.blobs) else { return }
      let bytes = Blobs.bytes(300, seed: 4)
      let digest = Blobs.digest(bytes)
      var upload = try probe.write { try $0.beginBlob(chunkLength: 128, Blobs.lease("me")) }
      for start in stride(from: 0, to: 300, by: 128) {
        upload = try probe.write { writer in
          var next = upload
          try writer.continueBlob(next, touched: 7)
          let chunk = Array(bytes[start..<min(300, start + 128)])
          try chunk.withUnsafeBytes { try writer.appendChunk($0, state: nil, to: &next) }
          return next
        }
        try expect(try probe.read { try $0.blob(digest) } == nil, "an unfinished blob is visible")
        let records = try Blobs.records(probe)
        try expectEqual(records.map(\.digest), [nil], "records of an unfinished blob")
        try expectEqual(records.first?.lease, BlobLease(owner: "me", touched: 7), "lease")
      }
      try probe.write {
        try $0.finishBlob(upload, NewBlob(digest, length: 300, Blobs.lease(nil)))
      }
      try expectEqual(try Blobs.read(digest, probe), bytes, "bytes")
      try expectError(.notFound, "a finished blob cannot be continued") {
        try probe.write { try $0.continueBlob(upload, touched: 8) }
      }
    },
    Check("Deleting a blob that is being written makes the next step fail") { probe in
      guard probe.has(.blobs) else { return }
      let upload = try probe.write { writer in
        var upload = try writer.beginBlob(chunkLength: 64, Blobs.lease("me"))
        try Blobs.bytes(64, seed: 5).withUnsafeBytes {
          try writer.appendChunk($0, state: nil, to: &upload)
        }
        return upload
      }
      let records = try Blobs.records(probe)
      try expectEqual(try probe.write { try $0.deleteBlobs(records) }, 1, "number of deleted blobs")
      try expectError(.notFound, "continuing") {
        try probe.write { try $0.continueBlob(upload, touched: 8) }
      }
      try expectError(.notFound, "finishing") {
        try probe.write {
          try $0.finishBlob(
            upload, NewBlob(Blobs.digest([1]), length: 64, Blobs.lease(nil)))
        }
      }
      try expectEqual(try Blobs.records(probe).count, 0, "number of blobs")
      // It may have the row ID of the deleted one.
      let other = try probe.write {
        try $0.beginBlob(chunkLength: 64, Blobs.lease("other"))
      }
      try expectError(.notFound, "continuing another upload") {
        try probe.write { try $0.continueBlob(upload, touched: 8) }
      }
      try probe.write { try $0.continueBlob(other, touched: 9) }
    },
    Check(
      "A transaction that is rolled back leaves no blob, and one that deletes blobs leaves them"
    ) {
      probe in
      guard probe.has(.blobs) else { return }
      let bytes = Blobs.bytes(100, seed: 6)
      let digest = Blobs.digest(bytes)
      try probe.rolledBack { writer in
        try bytes.withUnsafeBytes {
          try writer.addBlob(NewBlob(digest, length: 100, Blobs.lease(nil)), $0)
        }
      }
      try expect(try probe.read { try $0.blob(digest) } == nil, "a blob after a rollback")
      try probe.write { writer in
        try writer.rolledBack {
          try bytes.withUnsafeBytes {
            try writer.addBlob(NewBlob(digest, length: 100, Blobs.lease(nil)), $0)
          }
        }
        try expect(try writer.blob(digest) == nil, "a blob after the rollback of a savepoint")
      }
      try Blobs.add(bytes, probe)
      let records = try Blobs.records(probe)
      try probe.rolledBack { _ = try $0.deleteBlobs(records) }
      try expectEqual(try Blobs.read(digest, probe), bytes, "bytes after a rolled back deletion")
    },
    Check("A blob whose lease was renewed is not deleted by a record from before") { probe in
      guard probe.has(.blobs) else { return }
      let bytes = Blobs.bytes(100, seed: 7)
      let digest = try Blobs.add(bytes, probe)
      let before = try Blobs.records(probe)
      try Blobs.add(bytes, probe, Blobs.lease("a", 2))
      try expectEqual(try probe.write { try $0.deleteBlobs(before) }, 0, "number of deleted blobs")
      try Blobs.add(bytes, probe, Blobs.lease("b", 3))
      try expectEqual(
        try Blobs.records(probe).map(\.lease), [BlobLease(owner: "", touched: 3)],
        "lease of two owners")
      let after = try Blobs.records(probe)
      try probe.write { try $0.endLeases(of: after) }
      try expectEqual(try Blobs.records(probe).map(\.lease.owner), [nil], "owner")
      try expectEqual(try probe.write { try $0.deleteBlobs(after) }, 0, "number of deleted blobs")
      let last = try Blobs.records(probe)
      try expectEqual(try probe.write { try $0.deleteBlobs(last) }, 1, "number of deleted blobs")
      try expect(try probe.read { try $0.blob(digest) } == nil, "a deleted blob")
    },
    Check("A blob that is kept can be read after it was deleted") { probe in
      guard probe.has(.blobs), probe.has(.concurrentReads) else { return }
      let bytes = Blobs.bytes(1_000, seed: 8)
      let digest = try Blobs.upload(bytes, chunkLength: 128, probe)
      let kept = try probe.engine.keepBlob(digest, nil)
      let records = try Blobs.records(probe)
      try expectEqual(try probe.write { try $0.deleteBlobs(records) }, 1, "number of deleted blobs")
      try expect(try probe.read { try $0.blob(digest) } == nil, "a deleted blob")
      let read = try kept.map { kept in
        try kept.read(nil) { try Blobs.read(kept.record, $0) }
      }
      try expectEqual(read, bytes, "bytes of a deleted blob that is kept")
      kept?.close()
      try expect(try probe.engine.keepBlob(digest, nil) == nil, "a deleted blob")
    },
    Check("States of chunks are returned as they were stored, or not at all") { probe in
      guard probe.has(.blobs) else { return }
      let bytes = Blobs.bytes(500, seed: 9)
      let digest = try Blobs.upload(bytes, chunkLength: 128, probe)
      try probe.read { reader in
        guard let record = try reader.blob(digest) else { return }
        var hasher = BlobHasher()
        for position in 0..<3 {
          bytes[128 * position..<128 * (position + 1)].withUnsafeBytes { hasher.update($0) }
          let state = try reader.chunkState(position, of: record)
          try expect(state == nil || state == hasher.state, "state after chunk \(position)")
        }
      }
    },
    Check("Blobs persist") { probe in
      guard probe.has(.blobs), probe.has(.durable) else { return }
      let (small, large) = (Blobs.bytes(10, seed: 10), Blobs.bytes(1_000, seed: 11))
      let digests = (try Blobs.add(small, probe), try Blobs.upload(large, chunkLength: 64, probe))
      try probe.reopen()
      try expectEqual(try Blobs.read(digests.0, probe), small, "bytes after reopening")
      try expectEqual(try Blobs.read(digests.1, probe), large, "bytes after reopening")
    },
  ]
}

/// Helpers for blobs.
private enum Blobs {
  static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SplitMix(seed: seed)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  static func digest(_ bytes: [UInt8]) -> BlobDigest {
    bytes.withUnsafeBytes { BlobHasher.digest(of: $0) }
  }

  static func lease(_ owner: String?, _ touched: Int64 = 1) -> BlobLease {
    BlobLease(owner: owner, touched: touched)
  }

  @discardableResult
  static func add(
    _ bytes: [UInt8], _ probe: Probe, _ lease: BlobLease = BlobLease(owner: nil, touched: 1)
  ) throws -> BlobDigest {
    let digest = digest(bytes)
    try probe.write { writer in
      try bytes.withUnsafeBytes {
        try writer.addBlob(NewBlob(digest, length: Int64(bytes.count), lease), $0)
      }
    }
    return digest
  }

  static func upload(_ bytes: [UInt8], chunkLength: Int, _ probe: Probe) throws -> BlobDigest {
    let digest = digest(bytes)
    try probe.write { writer in
      var upload = try writer.beginBlob(chunkLength: chunkLength, lease("me"))
      var hasher = BlobHasher()
      for start in stride(from: 0, to: bytes.count, by: chunkLength) {
        let chunk = Array(bytes[start..<min(bytes.count, start + chunkLength)])
        try chunk.withUnsafeBytes {
          hasher.update($0)
          try writer.appendChunk($0, state: hasher.state, to: &upload)
        }
      }
      try writer.finishBlob(upload, NewBlob(digest, length: Int64(bytes.count), lease(nil)))
    }
    return digest
  }

  static func read(_ digest: BlobDigest, _ probe: Probe) throws -> [UInt8] {
    try probe.read { reader in
      guard let record = try reader.blob(digest) else {
        throw ConformanceFailure("a blob is missing", #fileID, #line)
      }
      return try read(record, reader)
    }
  }

  static func read(_ record: BlobRecord, _ reader: any EngineBlobReader) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for position in 0..<record.chunkCount {
      let exists = try reader.chunk(position, of: record) { chunk, _ in bytes += chunk }
      try expect(exists, "chunk \(position) exists")
    }
    let exists = try reader.chunk(record.chunkCount, of: record) { _, _ in }
    try expect(!exists, "there is no chunk after the last one")
    return bytes
  }

  static func records(_ probe: Probe) throws -> [BlobRecord] {
    try probe.read { try $0.blobs(after: 0, limit: 100) }
  }
}
