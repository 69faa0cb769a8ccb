// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoSync
import Synchronization

/// The change feeds and the synchronization of the sample ``DamageSamples/Kind/synced``.
enum DamageSync {
  private static let collection = "people"

  /// Synchronizes with another store, and makes changes on both sides afterward.
  static func fill(_ store: Store, other path: String) throws {
    let people = store[collection]
    try DamageAttachments.add(to: people)
    let events = store["events"]
    try events.setChangeTracking(.on)
    try events.find(Field("at") < 5).update(set: ["kind": "changed"])
    for id in 10...12 { try events.delete(rowID: Int64(id)) }
    let other = try Store(.file(path))
    try synchronize(store, other)
    for (number, side) in [store[collection], other[collection]].enumerated() {
      try side.update("person-10", set: ["last": .string("conflict \(number)")])
      try side.update("person-13", set: [number == 0 ? "first" : "last": "merged"])
    }
    try synchronize(store, other)
    // Not synchronized: the file has the bodies before the changes, and deleted documents.
    for (number, side) in [store[collection], other[collection]].enumerated() {
      try side.update("person-16", set: [number == 0 ? "first" : "last": "later"])
      try side.delete("person-\(19 + 3 * number)")
      try side.insert(["first": "new"], key: "new-\(number)")
    }
    try other.close()
  }

  /// Synchronizes the collection, and leaves the conflict of one document open.
  @discardableResult
  static func synchronize(_ store: Store, _ other: Store) throws -> SyncStatus {
    let here = try SyncDatabase(store[collection])
    let there = try SyncDatabase(other[collection])
    try here.enable()
    try there.enable()
    var options = ReplicationOptions()
    options.rules.resolve = { $0.key == "person-10" ? .undecided : .merge }
    let status = StatusBox()
    let replication = Replication(
      here, with: try LocalPeer(there), options,
      report: { change in status.value.withLock { change(&$0) } })
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do { try await replication.run() } catch { status.error.withLock { $0 = error } }
      done.signal()
    }
    done.wait()
    if let error = status.error.withLock({ $0 }) { throw error }
    return status.value.withLock { $0 }
  }

  private final class StatusBox: Sendable {
    let value = Mutex(SyncStatus())
    let error = Mutex<(any Error)?>(nil)
  }

  /// Reads a feed to its end. Pages are small, so that positions are used.
  private static func feed(_ collection: DocumentCollection) throws -> [FeedEntry] {
    var entries: [FeedEntry] = []
    var position: FeedPosition?
    while true {
      guard
        case .entries(let page, let next, let hasMore) =
          try collection.changes(since: position, limit: 7, withDocuments: true)
      else { throw StressTestFailure("a feed cannot be continued from its own position") }
      entries += page
      position = next
      if !hasMore { return entries }
    }
  }

  static let contents: [DamageUse.Operation] =
    [collection, "events"].map { name in
      DamageUse.Operation("feed \(name)") { store in
        try feed(store[name]).map { entry in
          "\(entry.rowID) \(entry.key ?? "") \(entry.isDeleted) \(try entry.document?.object().jsonString() ?? "")"
        }.joined(separator: "\n")
      }
    } + [
      DamageUse.Operation("revisions") { store in
        let database = try SyncDatabase(store[collection])
        let changes = try database.changes(since: nil, limit: 1_000).changes
        let found = try database.revisions(changes.map(\.id))
        return changes.map { change in
          let leaves = (found[change.id]?.leaves ?? []).map { leaf in
            "\(leaf.id) \(found[change.id]?[leaf.id]?.body.jsonString() ?? "")"
          }
          return "\(change.id) \(leaves)"
        }.joined(separator: "\n")
      },
      DamageUse.Operation("conflicts") { store in
        let database = try SyncDatabase(store[collection])
        return try database.conflictedIDs().map { id in
          "\(id) \(try database.conflict(id).map { "\($0.mine) \($0.theirs)" } ?? "")"
        }.joined(separator: "\n")
      },
    ]

  /// A feed has one entry for each document, with its content.
  static let comparisons: [DamageUse.Comparison] = [collection, "events"].map { name in
    DamageUse.Comparison(
      "documents of the feed of \(name)",
      found: { store in
        try DamageUse.text(
          feed(store[name]).compactMap(\.document).sorted { $0.rowID ?? 0 < $1.rowID ?? 0 })
      },
      defined: { store in
        try DamageUse.text(
          DamageUse.scan(store, name).sorted { $0.rowID ?? 0 < $1.rowID ?? 0 })
      })
  }

  /// Synchronizes with a copy of the other store. The damage must not spread to that one.
  ///
  /// An error that ends a synchronization is a ``SyncError``, which has a description instead of details.
  static func synchronizing(_ samples: DamageSamples, in folder: URL) -> DamageUse.Operation {
    DamageUse.Operation("synchronize") { store in
      let copy = folder.appending(path: "peer.db").path
      try DamageSamples.copy(samples.peer.path, to: copy)
      let other = try Store(.file(copy))
      defer { try? other.close() }
      var result = ""
      do {
        let status = try synchronize(store, other)
        result = "\(status.pulled) \(status.pushed) \(status.failures.count)"
      } catch let error as SyncError {
        result = error.message
      }
      let problems = try other.verify()
      try require(problems.isEmpty, "the other store has problems: \(problems.prefix(3))")
      return result
    }
  }
}
