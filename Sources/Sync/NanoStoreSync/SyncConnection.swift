// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStoreCore
import NanoSync

/// One collection of a synchronization.
struct SyncConnection: Sendable {
  let database: SyncDatabase
  /// Returns the other side. A store of this process is set up for sync by it.
  let makePeer: @Sendable () async throws -> any SyncPeer
  let options: ReplicationOptions
}

extension SyncTarget {
  /// - Parameter creates: Whether a collection that does not exist in a store of this process is created.
  func peerMaker(
    for name: String, creates: Bool
  ) throws -> @Sendable () async throws -> any SyncPeer {
    switch form {
    case .url(let url, let credentials):
      let peer = try HTTPPeer(server: url, database: name, credentials: credentials)
      return { peer }
    case .store(let store):
      let database = try SyncDatabase(store[name])
      return {
        do {
          try await store.onWriterAlone { try database.enable(creates: creates) }
        } catch let error as StoreError where error.code == .notFound {
          throw PeerError(.noDatabase, error.message)
        }
        return try LocalPeer(database)
      }
    }
  }
}

extension SyncOptions {
  /// Returns the value of a collection, whose name may be spelled in another case.
  static func value<Value>(for collection: String, in values: [String: Value]) -> Value? {
    values[collection] ?? values.first { $0.key.folded == collection.folded }?.value
  }

  /// More changes than a collection has: databases read one more to see whether there is a next batch.
  private static let maximumBatch = Int(Int32.max)

  func replication(
    _ database: SyncDatabase, _ direction: SyncDirection, _ mode: SyncMode
  ) throws -> ReplicationOptions {
    var options = ReplicationOptions()
    options.isContinuous = mode == .continuous
    options.pulls = direction != .push
    options.pushes = direction != .pull
    switch pullFilter {
    case nil: break
    case .keys(let keys): options.pullFilter = .ids(keys)
    case .selector(let selector): options.pullFilter = .selector(selector)
    }
    if let pushFilter {
      try PushFilter.check(pushFilter)
      options.makePushFilter = { database in
        PushFilter(pushFilter, defaults: try database.collection.defaults())
      }
    }
    options.rules = Self.value(for: database.name, in: rules) ?? defaultRules
    options.createsDatabase = createsDatabases
    options.batchDocuments = min(batchDocuments, Self.maximumBatch)
    options.batchBytes = batchBytes
    options.requests = requests
    return options
  }
}
