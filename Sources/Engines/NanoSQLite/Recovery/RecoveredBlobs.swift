// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The recovery of attachments: those with intact content are saved, others are reported.
struct RecoveredBlobs {
  private let reader: TreeReader
  private let catalog: RecoveredCatalog
  private let engine: SQLiteEngine
  private let writer: RecoveryWriter

  init(
    _ reader: TreeReader, _ catalog: RecoveredCatalog, _ engine: SQLiteEngine,
    _ writer: RecoveryWriter
  ) {
    self.reader = reader
    self.catalog = catalog
    self.engine = engine
    self.writer = writer
  }

  func run(_ progress: () throws -> Void) throws {
    guard let root = catalog.root(of: BlobSchema.table) else {
      if catalog.isSchemaDamaged {
        writer.note(Self.subject, "their content cannot be found without its definition")
      }
      return
    }
    var chunked: [Int64: NewBlob] = [:]
    var lengths: [Int64: Int] = [:]
    var known: Set<Int64> = []
    let lost = try reader.each(from: root, isIndex: false) { row in
      known.insert(row.id)
      guard let (blob, chunkLength, bytes) = blob(row) else { return }
      if chunkLength > 0 {
        chunked[row.id] = blob
        lengths[row.id] = chunkLength
      } else if let bytes, isWhole(bytes, blob) {
        try bytes.withUnsafeBytes { bytes in try engine.write(nil) { try $0.addBlob(blob, bytes) } }
      } else {
        note(blob, "its content is damaged")
      }
    }
    if lost > 0 { writer.note(Self.subject, "\(lost) pages of attachments cannot be read") }
    try addChunks(&chunked, lengths, known, progress)
    for blob in chunked.values { note(blob, "its content is damaged or incomplete") }
  }

  private static let subject = "attachments"

  private func note(_ blob: NewBlob, _ reason: String) {
    writer.note(Self.subject, "\(blob.digest.text): \(reason)")
  }

  /// Reads a row of `nano_blobs`; `nil` for one that is being written, or is not valid.
  private func blob(_ row: TreeReader.Row) -> (NewBlob, chunkLength: Int, bytes: [UInt8]?)? {
    let values = row.record.values
    guard values.count >= 8 else {
      writer.note(Self.subject, "the row \(row.id) is damaged")
      return nil
    }
    // Content in the row itself has no chunks, whatever their length is.
    let chunkLength = values[3].int ?? (values[7].isNull ? nil : 0)
    guard let digest = values[1].bytes.flatMap({ BlobDigest($0) }), let length = values[2].int,
      let chunkLength, BlobRecord.isPossible(length: length, chunkLength: chunkLength)
    else {
      if !values[1].isNull { writer.note(Self.subject, "the row \(row.id) is damaged") }
      return nil
    }
    let lease = BlobLease(owner: nil, touched: values[5].int ?? 0)
    let blob = NewBlob(digest, length: length, lease, sealed: values[6].bytes)
    return (blob, Int(chunkLength), values[7].bytes)
  }

  /// Encrypted content is verified when it is decrypted.
  private func isWhole(_ bytes: [UInt8], _ blob: NewBlob) -> Bool {
    guard blob.sealed == nil else { return true }
    return bytes.count == Int(blob.length)
      && bytes.withUnsafeBytes { BlobHasher.digest(of: $0) } == blob.digest
  }

  /// A blob whose chunks are being read, which are adjacent.
  private struct Current {
    let rowID: Int64
    let blob: NewBlob
    let count: Int
    var upload: BlobUpload
    var hasher = BlobHasher()
  }

  /// Adds the chunks of blobs, and removes complete blobs from the dictionary.
  ///
  /// - Parameter known: The blobs that have a row.
  private func addChunks(
    _ blobs: inout [Int64: NewBlob], _ lengths: [Int64: Int], _ known: Set<Int64>,
    _ progress: () throws -> Void
  ) throws {
    guard let root = catalog.root(of: BlobSchema.chunks) else { return }
    var current: Current?
    var isBroken: Int64?
    var withoutRow: Set<Int64> = []
    // The chunks of a blob must be adjacent; a damaged reference makes pages look misplaced that are not.
    let lost = try reader.each(from: root, isIndex: false, defersMisplaced: false) { row in
      let (rowID, position) = BlobSchema.parts(ofChunk: row.id)
      if !known.contains(rowID) { withoutRow.insert(rowID) }
      guard isBroken != rowID, let blob = blobs[rowID], let chunkLength = lengths[rowID],
        row.record.values.count >= 3, let bytes = row.record.values[2].bytes
      else { return }
      if current?.rowID != rowID {
        try current.map(abandon)
        let record = BlobRecord(
          rowID: rowID, digest: nil, length: blob.length, chunkLength: chunkLength,
          lease: blob.lease)
        current = Current(
          rowID: rowID, blob: blob, count: record.chunkCount,
          upload: try engine.write(nil) {
            try $0.beginBlob(chunkLength: chunkLength, BlobLease(owner: "", touched: 0))
          })
      }
      guard var next = current, position == next.upload.count else {
        isBroken = rowID
        try current.map(abandon)
        current = nil
        return
      }
      bytes.withUnsafeBytes { next.hasher.update($0) }
      let state = blob.sealed == nil ? next.hasher.state : nil
      let isLast = position == next.count - 1
      let isWhole = blob.sealed != nil || next.hasher.digest() == blob.digest
      try engine.write(nil) { writer in
        try bytes.withUnsafeBytes { try writer.appendChunk($0, state: state, to: &next.upload) }
        if isLast, isWhole { try writer.finishBlob(next.upload, blob) }
      }
      current = next
      guard isLast else { return }
      if isWhole { blobs[rowID] = nil } else { try abandon(next) }
      current = nil
      try progress()
    }
    try current.map(abandon)
    if lost > 0 { writer.note(Self.subject, "\(lost) pages of content cannot be read") }
    if !withoutRow.isEmpty {
      writer.note(Self.subject, "attachments without a digest: \(withoutRow.count)")
    }
  }

  private func abandon(_ current: Current) throws {
    try engine.write(nil) { writer in
      let rows = try writer.blobs(after: current.upload.rowID - 1, limit: 1)
      _ = try writer.deleteBlobs(rows.filter { $0.rowID == current.upload.rowID })
    }
  }
}
