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
    /// The number of the content that was read.
    let content: Int64
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
    let acceptsGeneratedKeys: @Sendable () -> Bool
    var updates: [Update] = []
    var insertions: [Insertion] = []
  }
  var classes: [Class] = []
  var named: [(name: String, value: DocumentValue?)] = []

  /// The error of a save that its context must complete, because of a conflict or because row IDs
  /// are taken.
  struct Outdated: Error {}

  /// The revisions of updated documents that are not the next ones after those in the plan, by
  /// class and row ID; 0 if unknown.
  typealias Revisions = [[Int64: Int64]]

  /// Writes everything within a transaction, in an order in which unique index values are released
  /// before they are reused; objects that exchange values are postponed.
  ///
  /// - Throws: ``Outdated`` if the store was changed since the plan was made, and the errors of a
  ///   save.
  func write(to store: Store) throws -> Revisions {
    for some in classes {
      guard let first = some.insertions.first else { continue }
      guard try some.documents.nextRowID() <= first.rowID else { throw Outdated() }
    }
    var postponed = PostponedWrites()
    var unknown: [[Int64]] = []
    for some in classes {
      unknown.append(
        some.updates.isEmpty ? [] : try write(some.updates, some.documents, &postponed))
    }
    try postponed.write()
    for some in classes where !some.insertions.isEmpty {
      try some.writeInsertions()
    }
    for (name, value) in named { try store.setMetadata(value, name) }
    // Read within the transaction: later, they could be those of other writers.
    return try zip(classes, unknown).map { some, ids in
      try Dictionary(
        ids.map { ($0, try some.documents.contentVersion(rowID: $0)?.revision ?? 0) },
        uniquingKeysWith: { $1 })
    }
  }

  /// - Returns: The row IDs of the documents whose new revisions are unknown.
  private func write(
    _ updates: [Update], _ documents: DocumentCollection, _ postponed: inout PostponedWrites
  ) throws -> [Int64] {
    var unknown: [Int64] = []
    _ = try documents.writeBatch(.save, atomic: false) { batch, writer in
      for update in updates {
        do {
          if let key = update.key {
            try ObjectSave.checkKey(key, rowID: update.rowID, in: documents)
          }
          let isReplaced = try postponed.replace(
            batch, &writer, in: documents, rowID: update.rowID, content: update.content,
            version: update.version
          ) { writer in update.body.withUnsafeBytes { writer.raw($0) } }
          if isReplaced == false { throw Outdated() }
          if isReplaced == nil || update.content <= 0 { unknown.append(update.rowID) }
        } catch let error as StoreError {
          throw error.adding(.collection, documents.name).adding(.rowID, "\(update.rowID)")
        }
      }
    }
    return unknown
  }
}

extension SavePlan.Class {
  fileprivate func writeInsertions() throws {
    _ = try documents.writeBatch(.insert, capacity: insertions.count, atomic: false) {
      batch, writer in
      batch.acceptsGeneratedKeys = acceptsGeneratedKeys
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
  private enum State {
    case waiting, withdrawn, writing, failed
    case committed(SavePlan.Revisions)
  }
  private let state = Mutex(State.waiting)
  private let end = DispatchSemaphore(value: 0)

  var isWithdrawn: Bool {
    state.withLock { if case .withdrawn = $0 { true } else { false } }
  }
  /// The revisions that the plan returned; nil unless the transaction was committed.
  var committed: SavePlan.Revisions? {
    state.withLock { if case .committed(let revisions) = $0 { revisions } else { nil } }
  }

  /// Called when the transaction has begun.
  ///
  /// - Throws: ``SavePlan/Outdated`` if the context has withdrawn the save.
  func begin() throws {
    try state.withLock { state in
      if case .withdrawn = state { throw SavePlan.Outdated() }
      state = .writing
    }
  }

  /// Called when the transaction has ended.
  ///
  /// - Parameter revisions: Those that the plan returned; nil if nothing was committed.
  func finish(_ revisions: SavePlan.Revisions?) {
    state.withLock { state in
      if case .withdrawn = state { return }
      state = revisions.map { .committed($0) } ?? .failed
    }
    end.signal()
  }

  /// Withdraws the save if its transaction has not begun, and otherwise waits for the end of the
  /// transaction, which the writing thread reaches without the context.
  func settle() {
    let isWriting = state.withLock { state in
      switch state {
      case .waiting:
        state = .withdrawn
        return false
      case .writing: return true
      case .withdrawn, .failed, .committed: return false
      }
    }
    guard isWriting else { return }
    end.wait()
    // For the next caller.
    end.signal()
  }
}
