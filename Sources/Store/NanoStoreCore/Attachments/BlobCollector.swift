// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine

/// Deletes content that no document refers to.
///
/// Documents are read twice: in a snapshot, to find out whether there is anything to delete, and if so again in the
/// transaction that deletes it, which waits for transactions that may add a reference, and makes later ones wait.
struct BlobCollector {
  private let engine: any Engine
  /// Whether only processes of this machine use the store.
  private let isLocal: Bool
  /// How long content that was added is kept without a reference, in microseconds.
  private let lease: Int64
  private let now = Clock.microseconds()

  /// The most whose microseconds have 64 bits.
  private static let longestLease = Duration.seconds(Int64.max / 1_000_000 - 1)
  /// How long writes in progress are kept if the state of their process is unknown, in microseconds.
  private static let unknownLease: Int64 = 3_600_000_000
  /// The same for running processes. Arbitrary: longer than a slow source pauses.
  private static let runningLease: Int64 = 24 * unknownLease
  /// The number of records that are in memory at once. Arbitrary.
  private static let step = 1_000

  init(_ engine: any Engine, isLocal: Bool, lease: Duration) {
    self.engine = engine
    self.isLocal = isLocal
    self.lease = Int64(min(max(lease, .zero), Self.longestLease) / .microseconds(1))
  }

  /// Deletes nothing if a document or a record cannot be read, because references are then unknown. An encrypted record
  /// that does not decrypt is deleted if all content that documents refer to exists besides it.
  func run() throws {
    guard engine.capabilities.contains(.blobs) else { return }
    do {
      guard try engine.read(.snapshot, Interruption.current, hasWork) else { return }
      try engine.write(Interruption.current, collect)
    } catch let error as StoreError where [.corruptDocument, .corruptFile].contains(error.code) {}
  }

  private func hasWork(_ reader: any EngineReader) throws -> Bool {
    guard try !reader.blobs(after: 0, limit: 1).isEmpty else { return false }
    let marks = try BlobMarks(reader)
    let keepsUnreadable = try !marks.unreadable(in: reader).isEmpty
    var isFound = false
    try eachStep(reader) { blobs in
      isFound =
        try isFound || blobs.contains { hasEndedLease($0, marks) }
        || !garbage(blobs, marks, keepsUnreadable: keepsUnreadable, reader).isEmpty
    }
    return isFound
  }

  /// On a server, another transaction may create a collection in which a document refers to content that is deleted here.
  private struct NewCollection: Error {}

  private func collect(_ writer: any EngineWriter) throws {
    while true {
      do {
        return try writer.savepoint { try collectOnce(writer) }
      } catch is NewCollection {}
    }
  }

  private func collectOnce(_ writer: any EngineWriter) throws {
    let names = try writer.collections().map(\.name)
    try writer.prepare(names.map { TransactionUse($0, keys: nil) })
    let marks = try BlobMarks(writer)
    let keepsUnreadable = try !marks.unreadable(in: writer).isEmpty
    try eachStep(writer) { blobs in
      _ = try writer.deleteBlobs(
        garbage(blobs, marks, keepsUnreadable: keepsUnreadable, writer))
      try writer.endLeases(of: blobs.filter { hasEndedLease($0, marks) })
    }
    // After the deletions: they wait for transactions that have locked the content, and later ones find it gone.
    guard try writer.collections().map(\.name) == names else { throw NewCollection() }
  }

  private func eachStep(
    _ reader: any EngineReader, _ visit: ([BlobRecord]) throws -> Void
  ) throws {
    var last: Int64 = 0
    while true {
      let blobs = try reader.blobs(after: last, limit: Self.step)
      guard let end = blobs.last?.rowID else { return }
      try visit(blobs)
      last = end
    }
  }

  private func garbage(
    _ blobs: [BlobRecord], _ marks: BlobMarks, keepsUnreadable: Bool, _ reader: any EngineReader
  ) throws -> [BlobRecord] {
    let garbage = blobs.filter { isGarbage($0, marks) }
    return keepsUnreadable ? try garbage.filter { try !reader.isUnreadable($0) } : garbage
  }

  private func isGarbage(_ blob: BlobRecord, _ marks: BlobMarks) -> Bool {
    if let digest = blob.digest, marks.digests.contains(digest) { return false }
    return !isProtected(blob)
  }

  /// Whether documents refer to added content, whose lease can therefore end.
  private func hasEndedLease(_ blob: BlobRecord, _ marks: BlobMarks) -> Bool {
    guard blob.lease.owner != nil, let digest = blob.digest else { return false }
    return marks.digests.contains(digest)
  }

  private func isProtected(_ blob: BlobRecord) -> Bool {
    guard let owner = blob.lease.owner else { return false }
    // Other programs and damage can write any time.
    let (difference, overflow) = now.subtractingReportingOverflow(blob.lease.touched)
    let age = overflow ? blob.lease.touched < 0 ? .max : .min : difference
    let state = BlobOwner.state(of: owner, isLocal: isLocal)
    guard blob.digest == nil else { return state != .ended && age < lease }
    switch state {
    case .writing: return true
    case .running: return age < Self.runningLease
    case .unknown: return age < Self.unknownLease
    case .ended: return false
    }
  }
}

extension EngineBlobReader {
  /// Returns whether an encrypted record does not decrypt. It has another digest than its content then, which does not
  /// find it.
  fileprivate func isUnreadable(_ blob: BlobRecord) throws -> Bool {
    guard blob.sealed != nil, let digest = blob.digest else { return false }
    return try self.blob(digest) == nil
  }
}

extension BlobMarks {
  /// Returns the digests of content that may be in records that do not decrypt: all that other records do not have, or
  /// none if every record decrypts.
  package func unreadable(in reader: any EngineReader) throws -> Set<BlobDigest> {
    var missing = digests
    var hasUnreadable = false
    var last: Int64 = 0
    while true {
      let blobs = try reader.blobs(after: last, limit: 1_000)
      guard let end = blobs.last?.rowID else { return hasUnreadable ? missing : [] }
      for blob in blobs {
        guard let digest = blob.digest, missing.remove(digest) == nil else { continue }
        hasUnreadable = try hasUnreadable || reader.isUnreadable(blob)
      }
      last = end
    }
  }
}
