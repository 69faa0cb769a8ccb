// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument

/// One run of a replication: its checkpoint, its failures, and what it reports.
struct ReplicationSession: Sendable {
  let database: SyncDatabase
  let peer: any SyncPeer
  let options: ReplicationOptions
  let report: @Sendable ((inout SyncStatus) -> Void) -> Void
  /// Identifies the run in checkpoints.
  let id = UUID().uuidString.lowercased()

  /// The name of the checkpoint: other options have another one.
  func checkpointID(_ direction: SyncFailure.Direction) throws -> String {
    var parts = [try database.uuid(), peer.identity]
    switch direction {
    case .pull:
      parts.append("pull")
      switch options.pullFilter {
      case .all: break
      case .ids(let ids): parts += ids.sorted()
      case .selector(let selector):
        parts.append(String(decoding: SyncJSON.bytes(selector), as: UTF8.self))
      }
    case .push:
      parts.append("push")
      if let filter = options.pushFilter { parts.append(filter.identity) }
    }
    // Each with its length, so that different parts have different texts.
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    return Insecure.MD5.hash(data: Array(text.utf8)).map {
      String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
    }.joined()
  }

  /// Runs work on the database off the caller's thread.
  func local<Result: Sendable>(
    _ work: @escaping @Sendable (SyncDatabase) throws -> Result
  ) async throws -> Result {
    try await database.offThread(work)
  }

  func localWrite<Result: Sendable>(
    _ work: @escaping @Sendable (SyncDatabase) throws -> Result
  ) async throws -> Result {
    let database = database
    return try await database.store.onWriterAlone { try work(database) }
  }

  /// Returns where to resume; nil for the beginning.
  func resume(_ checkpoint: String) async throws -> String? {
    guard let own = try await local({ try $0.local(checkpoint)?.body }) else { return nil }
    return SyncCheckpoint(own).resume(with: SyncCheckpoint(try await peer.checkpoint(checkpoint)))
  }

  /// Saves how far both sides are.
  func save(
    _ checkpoint: String, _ direction: SyncFailure.Direction, _ sequence: String, count: Int64
  ) async throws {
    let session = SyncCheckpoint.Session(id: id, sequence: sequence, count: count)
    // The newest state, since another process may replicate the same database.
    var others = SyncCheckpoint(try await peer.checkpoint(checkpoint))
    others.record(session)
    do {
      try await peer.setCheckpoint(checkpoint, others.body)
    } catch let error as PeerError where error.kind == .forbidden {
      // A user who may only read: this side's checkpoint does not match, and the next run looks at everything again.
    }
    let description = SyncCheckpoint.Description(
      peer: peer.identity, isPush: direction == .push, date: Date())
    try await localWrite { database in
      var own = SyncCheckpoint(try database.local(checkpoint)?.body)
      own.record(session)
      var body = own.body
      description.add(to: &body)
      try database.setLocal(checkpoint, body)
    }
  }

  /// Returns the documents whose transfer is tried again.
  func retries(_ checkpoint: String) async throws -> RetryList {
    RetryList(checkpoint, try await local { try $0.local(RetryList.name(checkpoint))?.body })
  }

  /// Notes which of some documents were not transferred, and saves the list if it has changed.
  func update(
    _ retries: inout RetryList, of ids: [String], _ failed: IDMap<String>,
    _ direction: SyncFailure.Direction
  ) async throws {
    let before = retries
    for id in ids { retries.entries[id] = nil }
    for (id, reason) in failed { retries.entries[id] = reason }
    guard retries != before else { return }
    guard retries.entries.count <= RetryList.maximum else {
      throw SyncError(
        .other,
        "More than \(RetryList.maximum) documents of \(database.name) cannot be "
          + "\(direction == .pull ? "stored" : "sent"); see the failures")
    }
    let (name, body) = (RetryList.name(retries.checkpoint), retries.body)
    _ = try await localWrite { try $0.setLocal(name, body) }
  }

  func fail(
    _ key: String, _ direction: SyncFailure.Direction, _ message: String, isRetried: Bool
  ) {
    let failure = SyncFailure(
      collection: database.name, key: key, direction: direction, message: message,
      isRetried: isRetried)
    report { $0.add(failure) }
  }
}

/// Documents whose transfer is tried again, stored as a local document, so that they are not forgotten.
struct RetryList: Sendable, Equatable {
  let checkpoint: String
  /// The reason by key.
  var entries = IDMap<String>()

  /// Beyond this number, the replication stops instead of forgetting any. Arbitrary.
  static let maximum = 1_000

  static func name(_ checkpoint: String) -> String { checkpoint + "-retry" }

  init(_ checkpoint: String, _ object: DocumentObject?) {
    self.checkpoint = checkpoint
    for (name, value) in object ?? [:] { entries[name] = value.string ?? "" }
  }

  var body: DocumentObject {
    DocumentObject(
      entries.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
        .map { ($0.id, .string($0.value)) })
  }
}
