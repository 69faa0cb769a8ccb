// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine
import NanoStoreCore
import Synchronization

/// The writes of an asynchronous save: documents as bytes, which can be written on any thread.
struct SavePlan: Sendable {
  struct Update: Sendable {
    let rowID: Int64
    /// The revision that was read; 0 if unknown.
    let revision: Int64
    let key: DocumentKey?
    let version: Int64?
    let body: [UInt8]
  }
  struct Insertion: Sendable {
    let rowID: Int64
    let key: DocumentKey?
    let version: Int64?
    let body: [UInt8]
  }
  struct Class: Sendable {
    let documents: DocumentCollection
    var updates: [Update] = []
    var insertions: [Insertion] = []
  }
  var classes: [Class] = []
  var named: [(name: String, value: DocumentValue?)] = []

  /// The error of a save that its context must complete, because of a conflict or because row IDs
  /// are taken.
  struct Outdated: Error {}

  /// Writes everything within a transaction, in an order in which unique index values are released
  /// before they are reused.
  ///
  /// - Throws: ``Outdated`` if the store was changed since the plan was made, and the errors of a
  ///   save.
  func write(to store: Store) throws {
    for some in classes {
      guard let first = some.insertions.first else { continue }
      guard try some.documents.nextRowID() <= first.rowID else { throw Outdated() }
    }
    for some in classes where !some.updates.isEmpty { try write(some.updates, some.documents) }
    for some in classes where !some.insertions.isEmpty {
      try write(some.insertions, some.documents)
    }
    for (name, value) in named { try store.setMetadata(value, name) }
  }

  private func write(_ updates: [Update], _ documents: DocumentCollection) throws {
    _ = try documents.writeBatch(.save, atomic: false) { batch, writer in
      for update in updates {
        do {
          if let key = update.key {
            try ObjectSave.checkKey(key, rowID: update.rowID, in: documents)
          }
          update.body.withUnsafeBytes { writer.raw($0) }
          let revision = update.revision == 0 ? nil : update.revision
          guard
            try batch.replace(
              &writer, rowID: update.rowID, revision: revision, version: update.version)
          else { throw Outdated() }
        } catch let error as StoreError {
          throw error.adding(.collection, documents.name).adding(.rowID, "\(update.rowID)")
        }
      }
    }
  }

  private func write(_ insertions: [Insertion], _ documents: DocumentCollection) throws {
    _ = try documents.writeBatch(.insert, capacity: insertions.count, atomic: false) {
      batch, writer in
      for new in insertions {
        do {
          new.body.withUnsafeBytes { writer.raw($0) }
          try batch.add(&writer, key: new.key, version: new.version, rowID: new.rowID)
        } catch let error as StoreError {
          throw error.adding(.collection, documents.name)
        }
      }
    }
  }
}

/// The progress of a save's transaction, which the context and the writing thread share.
final class SaveProgress: Sendable {
  enum State { case waiting, withdrawn, writing, committed, failed }
  private let state = Mutex(State.waiting)
  private let end = DispatchSemaphore(value: 0)

  var isWithdrawn: Bool { state.withLock { $0 == .withdrawn } }
  var isCommitted: Bool { state.withLock { $0 == .committed } }

  /// Called when the transaction has begun.
  ///
  /// - Throws: ``SavePlan/Outdated`` if the context has withdrawn the save.
  func begin() throws {
    try state.withLock { state in
      if state == .withdrawn { throw SavePlan.Outdated() }
      state = .writing
    }
  }

  /// Called when the transaction has ended.
  func finish(_ isCommitted: Bool) {
    state.withLock { state in
      if state != .withdrawn { state = isCommitted ? .committed : .failed }
    }
    end.signal()
  }

  /// Withdraws the save if its transaction has not begun, and otherwise waits for the end of the
  /// transaction, which the writing thread reaches without the context.
  func settle() {
    let isWriting = state.withLock { state in
      if state == .waiting { state = .withdrawn }
      return state == .writing
    }
    guard isWriting else { return }
    end.wait()
    // For the next caller.
    end.signal()
  }
}
