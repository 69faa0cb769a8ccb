// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoServer
import NanoStoreCore

/// The commits of a store by any process, as server-sent events.
///
/// An event has the collections that changed. For each, it lists the changed documents if they are known, which is the
/// case for tracked collections and for commits through this store. Otherwise it lists new documents, which have larger
/// row IDs, and the change in the number of documents.
struct LiveCommits: Sendable {
  private let store: Store

  init(_ store: Store) { self.store = store }

  /// The number of documents that an event contains per collection.
  private static let maximumDocuments = 20
  /// A comment is sent at this interval, so that a closed connection is detected.
  private static let heartbeat = Duration.seconds(10)

  /// The number of events by which a client can fall behind is arbitrary.
  static let buffering = AsyncStream<[UInt8]>.Continuation.BufferingPolicy.bufferingOldest(64)

  /// Sends an event, or ends the stream of a client that has fallen behind.
  ///
  /// - Returns: Whether the stream continues.
  static func send(_ event: [UInt8], to client: AsyncStream<[UInt8]>.Continuation) -> Bool {
    guard case .dropped = client.yield(event) else { return true }
    client.finish()
    return false
  }

  /// Returns the events until the client falls behind. A page connects again then, and says that commits may be
  /// missing.
  func stream() -> AsyncStream<[UInt8]> {
    let (events, continuation) = AsyncStream.makeStream(
      of: [UInt8].self, bufferingPolicy: Self.buffering)
    let commits = Task { [store] in
      defer { continuation.finish() }
      let clock = ContinuousClock()
      var iterator = store.changes.makeAsyncIterator()
      var state = try await Self.state(of: store)
      continuation.yield(Self.event("ready", ["collections": .int(state.count)]))
      while let commit = try await iterator.next() {
        let start = clock.now
        let next = try await Self.state(of: store)
        let changes = try await Self.changes(of: commit, from: state, to: next, in: store)
        state = next
        let event: Wire = [
          "time": .double(Date().timeIntervalSince1970 * 1000),
          "isEverything": .bool(commit.isEverything), "changes": .array(changes),
        ]
        guard Self.send(Self.event("commit", event), to: continuation) else { return }
        // Where commits follow each other closely, describing them costs at most a third of the time.
        try await Task.sleep(for: min((clock.now - start) * 2, .seconds(1)))
      }
    }
    let heartbeats = Task {
      while true {
        try await Task.sleep(for: Self.heartbeat)
        continuation.yield(Array(": \n\n".utf8))
      }
    }
    continuation.onTermination = { _ in
      commits.cancel()
      heartbeats.cancel()
    }
    return events
  }

  private static func event(_ name: String, _ data: Wire) -> [UInt8] {
    Array("event: \(name)\ndata: ".utf8) + data.json + Array("\n\n".utf8)
  }

  /// What a collection is compared by after a commit whose documents are unknown.
  private struct CollectionState: Sendable {
    var name: String
    var count: Int
    var last: Int64
  }

  private static func state(of store: Store) async throws -> [CollectionState] {
    try await store.read {
      return try store.collections().filter { !$0.isInternal }.map { collection in
        let newest = try store[collection.name].find()
          .sorted(by: [Ordering(.attribute(.rowID), order: .reverse)]).select([]).first()
        return CollectionState(
          name: collection.name, count: try store[collection.name].count(),
          last: newest?.rowID ?? 0)
      }
    }
  }

  private static func changes(
    of commit: Commit, from old: [CollectionState], to new: [CollectionState], in store: Store
  ) async throws -> [Wire] {
    try await store.read {
      var changes: [Wire] = []
      for state in new {
        let before = old.first { $0.name.hasSameBytes(as: state.name) }
        guard let change = commit.change(in: state.name) else { continue }
        let growth = state.count - (before?.count ?? 0)
        let collection = store[state.name]
        var documents: [Wire] = []
        if let rows = change.rows {
          for (rowID, kind) in rows.sorted(by: { $0.key < $1.key }).prefix(maximumDocuments) {
            let found = kind == .deleted ? nil : try collection.get(rowID: rowID)
            documents.append(wire(rowID, kind.rawValue, found))
          }
        } else {
          let position = PagePosition(values: [], rowID: before?.last ?? 0)
          let added = try collection.find().after(position).limit(maximumDocuments).fetch()
          documents = added.map { wire($0.rowID ?? 0, "inserted", $0) }
          // Another collection may have changed.
          if growth == 0, added.isEmpty, commit.isEverything, new.count > 1 {
            changes.append(["collection": .string(state.name), "isPossible": true])
            continue
          }
        }
        changes.append([
          "collection": .string(state.name), "isPossible": false, "growth": .int(growth),
          "count": .int(state.count), "rows": .optional(change.rows?.count),
          "documents": .array(documents),
        ])
      }
      for state in old where !new.contains(where: { $0.name.hasSameBytes(as: state.name) }) {
        changes.append(["collection": .string(state.name), "isDropped": true])
      }
      return changes
    }
  }

  private static func wire(_ rowID: Int64, _ kind: String, _ document: Document?) -> Wire {
    [
      "rowID": .string(String(rowID)), "kind": .string(kind),
      "document": document.map { .document($0) } ?? .null,
    ]
  }
}
