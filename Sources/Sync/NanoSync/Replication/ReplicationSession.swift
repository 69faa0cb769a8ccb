// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument
import Synchronization

/// One run of a replication: its checkpoint, its failures, and what it reports.
struct ReplicationSession: Sendable {
  let database: SyncDatabase
  let peer: any SyncPeer
  let options: ReplicationOptions
  let report: @Sendable ((inout SyncStatus) -> Void) -> Void
  /// Called when the next attempt does not begin where this one did.
  let progressed: @Sendable () -> Void
  private let idle = IdleDirections()
  private let saves = CheckpointSaves()
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
      case .ids(let ids):
        // An empty list selects nothing, and no filter everything.
        parts.append("keys")
        parts += ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      case .selector(let selector):
        parts.append("selector")
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
  func resume(_ checkpoint: String, _ direction: SyncFailure.Direction) async throws -> String? {
    guard let body = try await local({ try $0.local(checkpoint)?.body }) else { return nil }
    let (own, other) = (
      SyncCheckpoint(body), SyncCheckpoint(try await peer.checkpoint(checkpoint))
    )
    saves[direction] = (own.saves, other.saves)
    return own.resume(with: other)
  }

  /// Reports that a direction transfers changes.
  ///
  /// - Parameters:
  ///   - ids: The documents.
  ///   - tried: Those that are transferred, which have not failed for now; all if nil.
  ///   - pending: The number of changes after them, as far as it is known.
  func begin(
    _ direction: SyncFailure.Direction, _ ids: [String], tried: [String]? = nil, pending: Int = 0
  ) {
    report { status in
      idle.remove(direction)
      status.phase = .busy
      status.total = max(status.total, status.done + ids.count + pending)
      status.removeFailures(of: tried ?? ids, in: database.name, direction)
    }
  }

  /// Reports that a direction has nothing left to transfer.
  func rest(_ direction: SyncFailure.Direction) {
    // Within the report, so that a direction that begins is not missed.
    report { status in
      guard idle.add(direction) == (options.pulls ? 1 : 0) + (options.pushes ? 1 : 0) else {
        return
      }
      status.phase = .idle
      status.total = status.done
    }
  }

  /// Saves how far both sides are.
  ///
  /// - Parameter hasChanges: Whether there were changes since the last time.
  /// - Throws: A transient ``PeerError`` if a side has lost what was saved the last time, or if the collection was set up
  ///   again. Its checkpoint stays.
  func save(
    _ checkpoint: String, _ direction: SyncFailure.Direction, _ sequence: String, count: Int64,
    hasChanges: Bool
  ) async throws {
    let session = SyncCheckpoint.Session(id: id, sequence: sequence, count: count)
    // The newest state, since another process may replicate the same database.
    var others = SyncCheckpoint(try await peer.checkpoint(checkpoint))
    var last = saves[direction]
    try others.require(last.other)
    others.record(session)
    var isSaved = true
    do {
      try await peer.setCheckpoint(checkpoint, others.body)
    } catch let error as PeerError where error.kind == .forbidden || error.status == 409 {
      // A user who may only read: this side's checkpoint does not match, and the next run looks at everything again.
      // Or another session writes the same one all the time; the next one comes soon.
      isSaved = false
    }
    let description = SyncCheckpoint.Description(
      peer: peer.identity, isPush: direction == .push, date: Date())
    last.own = try await localWrite { [own = last.own] database in
      // In one transaction, so that what another process saves is not lost.
      try database.store.write(retries: SyncDatabase.retries) {
        guard try checkpointID(direction) == checkpoint else {
          throw PeerError(.unavailable, "The collection was set up again")
        }
        var saved = SyncCheckpoint(try database.local(checkpoint)?.body)
        try saved.require(own)
        saved.record(session)
        var body = saved.body
        description.add(to: &body)
        try database.setLocal(checkpoint, body)
        return saved.saves
      }
    }
    if isSaved { last.other = others.saves }
    saves[direction] = last
    if isSaved, hasChanges { progressed() }
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

  /// Reports that documents are tried again.
  func again(_ ids: [String], _ direction: SyncFailure.Direction) {
    report { $0.removeFailures(of: ids, in: database.name, direction) }
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

/// Which directions have nothing left to transfer.
private final class IdleDirections: Sendable {
  private let idle = Mutex<Set<SyncFailure.Direction>>([])

  /// Returns how many directions are idle.
  func add(_ direction: SyncFailure.Direction) -> Int {
    idle.withLock { idle in
      idle.insert(direction)
      return idle.count
    }
  }

  func remove(_ direction: SyncFailure.Direction) { _ = idle.withLock { $0.remove(direction) } }
}

/// How often the checkpoints of a direction had been saved on both sides when they were read or saved last.
private final class CheckpointSaves: Sendable {
  typealias Sides = (own: Int64, other: Int64)
  private let saves = Mutex<[SyncFailure.Direction: Sides]>([:])

  subscript(direction: SyncFailure.Direction) -> Sides {
    get { saves.withLock { $0[direction] ?? (0, 0) } }
    set { saves.withLock { $0[direction] = newValue } }
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
