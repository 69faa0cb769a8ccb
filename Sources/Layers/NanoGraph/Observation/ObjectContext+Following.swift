// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// Following the store: objects without unsaved changes receive what others commit.
extension ObjectContext {
  /// Prepares to follow the store, on the actor of the context.
  func follow(_ isolation: isolated (any Actor)?) {
    let (subscriptions, start) = AsyncStream.makeStream(of: CommitSubscription?.self)
    startFollowing = start
    let (store, followed) = (store, FollowedContext(self, on: isolation))
    follower = Task.detached {
      for await subscription in subscriptions {
        // Ends if the store is closed, the context is released, or the task is canceled.
        try? await followed.follow(store, subscription)
      }
    }
  }

  /// Begins to follow the store when the first class is used, before any object is read, so that no commit is missed.
  func beginFollowing() {
    guard let startFollowing else { return }
    self.startFollowing = nil
    do {
      startFollowing.yield(try CommitSubscription(store))
    } catch let error as StoreError where error.isRetryable {
      startFollowing.yield(nil)
    } catch {
      // A store that is closed, or whose engine reports no commits, is not followed.
    }
    startFollowing.finish()
  }

  /// The interval between two updates: that of a screen with 60 frames per second.
  static let interval = Duration.milliseconds(16)

  /// Refreshes the loaded objects that a commit has changed. Their documents are read outside of the actor.
  func merge(
    _ commit: Commit, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    // What is being read may be from before the commit. Afterwards, its objects are among those to be refreshed.
    for _ in 0..<Self.longestWait where pendingReads > 0 {
      try await Task.sleep(for: Self.interval)
    }
    let followed = allTables.compactMap { FollowedRows($0, commit) }
    guard !followed.isEmpty else { return }
    for rows in followed where rows.includesOthers {
      table(named: rows.collection)?.followedCommits += 1
    }
    let store = store
    let found = try await store.onReader {
      try store.read { try followed.map { try $0.changedRows() } }
    }
    updating {
      var mayChangeInverses = false
      for (rows, found) in zip(followed, found) {
        guard let table = table(named: rows.collection) else { continue }
        table.mergeRestored(found.filter(\.isRestored).map(\.id))
        for row in found where !row.isRestored {
          table.merge(row, known: rows.revisions[row.id] ?? 0)
        }
        // An object may be released before a read ends that would create it again.
        if !found.isEmpty, !rows.includesOthers { table.followedCommits += 1 }
        if rows.includesOthers || !found.isEmpty,
          table.relationships.contains(where: { $0.inverse != nil })
        {
          mayChangeInverses = true
        }
      }
      if mayChangeInverses { inverseEpoch += 1 }
    }
  }

  /// Makes the objects faults that a commit may have changed, so that the next access reads them or reports why it cannot.
  func discard(_ commit: Commit) {
    updating {
      for table in allTables {
        guard let rows = FollowedRows(table, commit) else { continue }
        for id in rows.revisions.keys {
          if let object = table.live(id) { table.makeFault(object) }
        }
        table.followedCommits += 1
      }
      inverseEpoch += 1
    }
  }

  /// The number of intervals for which following waits for reads. Arbitrary: about a second.
  private static var longestWait: Int { 60 }

  /// Reads documents of a class outside of the actor.
  ///
  /// A commit that is followed meanwhile, since the read takes longer than following waits, does not refresh objects that are
  /// not loaded yet, and the result can be older: their content would remain that of before the commit. The read is then
  /// repeated.
  func read<Result: Sendable>(
    _ table: ObjectTable, isolation: isolated (any Actor)? = #isolation,
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    pendingReads += 1
    defer { pendingReads -= 1 }
    for _ in 0..<Self.readAttempts {
      let commits = table.followedCommits
      let result = try await table.documents.onReader(work)
      if commits == table.followedCommits { return result }
    }
    // On the actor, which follows no commit in between.
    return try work()
  }

  /// The number of reads before one blocks the context. Arbitrary: each is repeated only if others have changed the
  /// class meanwhile.
  private static var readAttempts: Int { 3 }
}

/// The rows of a class that a commit may have changed.
private struct FollowedRows: Sendable {
  let documents: DocumentCollection
  /// The revisions of loaded objects without unsaved changes; 0 if the content could not be loaded.
  let revisions: [Int64: Int64]
  /// The rows of removed objects, which others may have restored.
  let removed: Set<Int64>
  /// Whether the commit may have changed documents whose objects are not loaded.
  let includesOthers: Bool

  var collection: String { documents.name }

  struct Row: Sendable {
    let id: Int64
    /// Nil if the document was deleted, was restored, or cannot be read.
    let document: Document?
    var isUnreadable = false
    /// Whether the row of a removed object exists.
    var isRestored = false
  }

  init?(_ table: ObjectTable, _ commit: Commit) {
    guard let change = commit.change(in: table.documents.name) else { return nil }
    documents = table.documents
    var revisions: [Int64: Int64] = [:]
    var removed: Set<Int64> = []
    var includesOthers = change.rows == nil
    let ids: [Int64] = change.rows.map { Array($0.keys) } ?? table.map.rowIDs() + table.removed
    // Objects have positive row IDs; negative ones are numbers of new objects.
    for id in ids where id > 0 {
      let mayBeRestored = change.rows?[id] != Change.Kind.deleted
      guard let object = table.live(id) else {
        if mayBeRestored, table.removed.contains(id) { removed.insert(id) }
        includesOthers = true
        continue
      }
      if object._$object.isClean || object._$object.hasOnlyFailed {
        revisions[id] = object._$object.isClean ? object._$object.revision : 0
      } else if object._$object.flags.contains(.removed) {
        if mayBeRestored { removed.insert(id) }
      } else if object._$object.isFault {
        includesOthers = true
      }
    }
    self.revisions = revisions
    self.removed = removed
    self.includesOthers = includesOthers
  }

  /// Returns the rows whose revision is different, and those of removed objects that exist, from a single snapshot.
  func changedRows() throws -> [Row] {
    var rows: [Row] = []
    for (id, known) in revisions {
      let revision = try documents.contentVersion(rowID: id)?.revision
      if let revision, revision == known { continue }
      do {
        rows.append(Row(id: id, document: try documents.get(rowID: id)))
      } catch let error as StoreError where error.code == .corruptDocument {
        rows.append(Row(id: id, document: nil, isUnreadable: true))
      }
    }
    for id in removed {
      guard try documents.exists(rowID: id) else { continue }
      rows.append(Row(id: id, document: nil, isRestored: true))
    }
    return rows
  }
}

extension ObjectTable {
  /// Refreshes an object with its document, unless the object has changed since its revision was noted.
  fileprivate func merge(_ row: FollowedRows.Row, known revision: Int64) {
    guard let object = live(row.id),
      object._$object.isClean && object._$object.revision == revision
        || object._$object.hasOnlyFailed
    else { return }
    // The next read of a property reports the error.
    if row.isUnreadable { return makeFault(object) }
    guard let document = row.document else {
      return noteDeletedByOthers(object, isLoaded: object._$object.hasContent)
    }
    func open<Object: GraphObject>(_ type: Object.Type) throws {
      _ = try materialize(document, as: type) as Object?
    }
    do {
      try open(self.type)
    } catch {
      // The next read of a property reports the error.
      makeFault(object)
    }
  }
}

extension ObjectTable {
  /// Makes removed objects faults, except those whose documents were deleted again since they were read.
  fileprivate func mergeRestored(_ ids: [Int64]) {
    guard !ids.isEmpty else { return }
    // After an error, all are faults: the next read of a property reports it.
    let existing =
      (try? documents.store.read { try ids.filter { try documents.exists(rowID: $0) } }) ?? ids
    for id in existing {
      removed.remove(id)
      if let object = live(id), object._$object.flags.contains(.removed) {
        noteRestoredByOthers(object)
      }
    }
  }
}

extension ObjectState {
  /// Whether the content is that of a stored document.
  var isClean: Bool {
    table != nil && rowID > 0
      && flags.isDisjoint(with: [.fault, .failed, .inserted, .changed, .deleted, .removed])
  }

  /// Whether the content of the stored document could not be loaded, and the object was not changed since.
  fileprivate var hasOnlyFailed: Bool {
    table != nil && rowID > 0 && flags.contains(.failed)
      && flags.isDisjoint(with: [.fault, .inserted, .changed, .deleted, .removed])
  }
}
