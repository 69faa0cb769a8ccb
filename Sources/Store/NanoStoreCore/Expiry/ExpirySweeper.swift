// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine
import NanoQuery
import Synchronization

/// Deletes expired documents, and notifies live queries when documents expire.
///
/// One timer waits for the earliest expiration of all collections. A store without expirations has no timer.
final class ExpirySweeper: Sendable {
  private struct State {
    var engine: (any Engine)?
    var wakeup: ClockWakeup?
    /// The time of the wakeup.
    var time: Int64?
    /// Whether a check waits in the queue.
    var isWaiting = false
    /// The expirations up to this time have been reported to live queries.
    var reported: Int64 = .min
  }
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "NanoStore.expiry")
  private let hub: ChangeHub
  private let references: any DocumentReferences

  init(_ hub: ChangeHub, _ references: any DocumentReferences) {
    self.hub = hub
    self.references = references
    // Another process may have set an earlier expiration.
    hub.setOtherCommitsHandler { [weak self] in self?.check() }
  }

  func start(_ engine: any Engine) {
    state.withLock { $0 = State(engine: engine) }
    if engine.hasExpirations { check() }
  }

  func stop() { state.withLock { $0 = State() } }

  /// Waits until the checks that were begun have ended, and those that they caused: time may have passed meanwhile.
  func drain() {
    repeat { queue.sync {} } while state.withLock(\.isWaiting)
  }

  /// Accounts for an expiration that a transaction has set.
  func note(_ time: Int64) {
    let isEarliest = state.withLock { $0.engine != nil && time < $0.time ?? .max }
    if isEarliest { check() }
  }

  /// Deletes what has expired, and waits for the next expiration.
  func check() {
    let begins = state.withLock { state in
      guard state.engine != nil, !state.isWaiting else { return false }
      state.isWaiting = true
      return true
    }
    if begins { queue.async { [weak self] in self?.run() } }
  }

  private func run() {
    let found = state.withLock { state in
      state.isWaiting = false
      // An expiration that is noted from now on may be too late for this check, and causes another one.
      state.time = nil
      return state.engine.map { (engine: $0, reported: state.reported) }
    }
    guard let (engine, reported) = found else { return }
    let now = engine.clock.now()
    var retry: Int64?
    do {
      let names = try expired(at: now, engine)
      let isNew = { [self] name in
        try hasExpired(name, after: reported == .min ? nil : reported, now, engine)
      }
      // The documents are hidden already, and deleting them may wait for a lock.
      let waiting = try names.filter(isNew)
      let report = DispatchWorkItem { [hub] in for name in waiting { hub.noteExpired(name) } }
      if !waiting.isEmpty {
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience, execute: report)
      }
      defer { report.cancel() }
      for name in names {
        do {
          try sweep(name, engine)
          // Those that other transactions of a server have locked are left.
          guard try hasExpired(name, after: nil, now, engine) else { continue }
          retry = now + Self.pause
        } catch {
          // Documents are hidden without being deleted.
          if Self.isTemporary(error) { retry = now + Self.pause }
        }
        if try isNew(name) { hub.noteExpired(name) }
      }
      state.withLock { if $0.engine === engine { $0.reported = now } }
      schedule(try [retry, next(after: now, engine)].compactMap(\.self).min(), engine)
    } catch {
      // The database cannot be read now.
      schedule(Self.isTemporary(error) ? now + Self.pause : nil, engine)
    }
  }

  /// The pause before another attempt, in microseconds. Arbitrary.
  private static let pause: Int64 = 1_000_000

  /// The time after which expirations are reported although the documents are not deleted. Arbitrary: deleting them, which
  /// reports them too, takes less.
  private static let patience = DispatchTimeInterval.milliseconds(100)

  /// Whether another attempt may succeed, as after a lock or the loss of a connection. It fails, too, if the store may
  /// not delete documents, and, until it is opened again, if its file is damaged or was replaced.
  private static func isTemporary(_ error: any Error) -> Bool {
    guard let error = error as? StoreError else { return true }
    return ![.readOnly, .notPermitted, .corruptFile, .fileReplaced, .closed].contains(error.code)
  }

  /// Returns the collections with documents that have expired and are not deleted.
  private func expired(at now: Int64, _ engine: any Engine) throws -> [String] {
    try engine.read(.snapshot, nil) { reader in
      try reader.expiringCollections().filter { name in
        try hasExpired(name, after: nil, now, reader)
      }
    }
  }

  /// Whether there is a document that has expired after a time.
  private func hasExpired(
    _ name: String, after time: Int64?, _ now: Int64, _ engine: any Engine
  ) throws -> Bool {
    try engine.read(.call, nil) { try hasExpired(name, after: time, now, $0) }
  }

  private func hasExpired(
    _ name: String, after time: Int64?, _ now: Int64, _ reader: any EngineReader
  ) throws -> Bool {
    try reader.earliestExpiration(after: time, in: name).map { $0 <= now } ?? false
  }

  private func next(after now: Int64, _ engine: any Engine) throws -> Int64? {
    try engine.read(.snapshot, nil) { reader in
      try reader.expiringCollections().compactMap {
        try reader.earliestExpiration(after: now, in: $0)
      }.min()
    }
  }

  private func schedule(_ time: Int64?, _ engine: any Engine) {
    let wakeup = time.map { time in engine.clock.wake(at: time) { [weak self] in self?.check() } }
    state.withLock { state in
      guard state.engine === engine else { return }
      (state.wakeup, state.time) = (wakeup, time)
    }
  }

  /// Deletes the expired documents of a collection, in short transactions.
  private func sweep(_ name: String, _ engine: any Engine) throws {
    while try sweepStep(name, engine) == ExpiryLog.step {}
  }

  private func sweepStep(_ name: String, _ engine: any Engine) throws -> Int {
    try engine.write(nil) { writer in
      writer.expiry.sweeps = true
      let count = try writer.sweepExpired(limit: ExpiryLog.step, from: name)
      try removeReferences(writer)
      return count
    }
  }

  /// Removes the references to the expired documents that a transaction has deleted so far.
  func removeReferences(_ writer: any EngineWriter) throws {
    let swept = writer.expiry.swept
    guard !swept.isEmpty else { return }
    if try references.exist(writer) {
      for documents in swept where InternalCollection(named: documents.collection) == nil {
        try references.remove(to: documents.documents, of: documents.collection, writer)
      }
    }
    // References that are added from now on are to new documents with the same keys.
    writer.expiry.swept.removeFirst(swept.count)
  }
}

extension Store {
  /// Accounts for expirations that were set in the engine directly.
  package func noteExpirations() { sweeper.check() }

  /// Runs the block of a transaction, which deletes a few expired documents of each collection that it writes to.
  @inline(__always)
  func sweeping<Result>(
    _ earliest: inout Int64?, _ writer: any EngineWriter,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    writer.expiry.sweeps = true
    let result = try removingSweptReferences(writer, work)
    earliest = writer.expiry.earliest
    return result
  }

  /// Runs an operation of a transaction, and removes the references to the expired documents that it has deleted.
  @inline(__always)
  func removingSweptReferences<Result>(
    _ writer: any EngineWriter, _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    let result = try work(writer)
    if !writer.expiry.swept.isEmpty {
      try writer.prepareForOtherUse()
      try sweeper.removeReferences(writer)
    }
    return result
  }

  /// Deletes the documents that have expired, in all collections, and returns their number.
  ///
  /// ```swift
  /// try sessions.setExpiration(.now, of: "ada")
  /// try store.deleteExpired()                              // 1
  /// ```
  ///
  /// A store deletes them automatically, soon after they expire and when it is opened. Call this method to delete them
  /// at a time of your choice, such as before a backup. It runs several short transactions.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a read or write block. Some may have been deleted.
  @discardableResult
  public func deleteExpired() throws -> Int {
    try requireNoTransaction()
    waitForQueued()
    try flush()
    var count = 0
    for name in try reading(.call, { try $0.expiringCollections() }) {
      count += try deleteExpired(in: name)
    }
    return count
  }
  /// The asynchronous form of `deleteExpired()`, which does not block the calling thread.
  @discardableResult
  public func deleteExpired() async throws -> Int {
    try await scheduler.run { try self.deleteExpired() }
  }

  /// Deletes the documents of a collection that have expired, in several transactions, and returns their number.
  func deleteExpired(in collection: String) throws -> Int {
    var count = 0
    while true {
      let step = try writing { writer in
        // The first use of the collection has deleted some, too.
        let entries = try writer.sweepExpired(limit: ExpiryLog.step, from: collection)
        let documents = writer.expiry.swept.reduce(0) { $0 + $1.documents.count }
        return (documents: documents, entries: entries)
      }
      count += step.documents
      // A step may delete only expirations without a document, which another program has left behind.
      guard step.documents > 0 || step.entries > 0 else { return count }
    }
  }
}
