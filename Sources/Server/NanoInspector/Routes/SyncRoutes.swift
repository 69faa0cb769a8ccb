// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoServer
import NanoStoreCore
import NanoSync

/// Synchronization: its state and conflicts. Reading gives no revisions to new changes, so nothing is written.
extension Inspector {
  /// Describes the synchronized collections.
  func sync() async throws -> Wire {
    var overviews: [(name: String, overview: SyncOverview)] = []
    for collection in try await store.collections() {
      let database = try SyncDatabase(store[collection.name])
      guard let overview = try await database.offThread({ try $0.overview() }) else { continue }
      overviews.append((collection.name, overview))
    }
    return [
      "most": .int(SyncOverview.maximumCount),
      "collections": .array(
        overviews.map { name, overview in
          [
            "name": .string(name), "unassigned": .int(overview.unassigned),
            "revisionLimit": .int(overview.revisionLimit),
            "checkpoints": .array(overview.checkpoints.map(Self.wire)),
            "conflicts": .strings(overview.conflicted), "problems": Self.wire(overview.problems),
          ]
        }),
    ]
  }

  private static func wire(_ checkpoint: SyncOverview.Checkpoint) -> Wire {
    [
      "id": .string(checkpoint.id), "peer": .optional(checkpoint.peer),
      "direction": .optional(checkpoint.isPush.map { $0 ? "push" : "pull" }),
      "date": checkpoint.date.map { .value(.date($0), .row) } ?? .null,
      "unsent": .optional(checkpoint.unsent), "retries": wire(checkpoint.retries),
    ]
  }

  private static func wire(_ reasons: IDMap<String>) -> Wire {
    .array(
      reasons.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }.map {
        ["key": .string($0.id), "reason": .string($0.value)]
      })
  }

  /// Returns the two versions of a document that differ, and the one from which both were edited.
  func conflict(in collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let key = try request.required("key")
    let database = try SyncDatabase(collection)
    guard let conflict = try await database.offThread({ try $0.storedConflict(key) }) else {
      throw RouteError.missing("The conflict")
    }
    return [
      "winner": .string(conflict.revisions.winner.description),
      "other": .string(conflict.revisions.other.description),
      "isMineWinning": .bool(conflict.isMineWinning),
      "base": conflict.base.map { .value(.object($0), .document) } ?? .null,
      "winnerValue": .value(.object(conflict.winner), .document),
      "otherValue": .value(.object(conflict.loser), .document),
    ]
  }

  /// Resolves a conflict if it still has the versions that the page shows.
  func resolve(in collection: DocumentCollection, _ body: DocumentObject) async throws -> Wire {
    let key = try Self.text("key", body)
    let shown = [try Self.text("winner", body), try Self.text("other", body)]
    let choice = try Self.text("take", body)
    let database = try SyncDatabase(collection)
    let isResolved = try await store.onWriterAlone { () throws -> Bool in
      guard let conflict = try database.conflict(key),
        shown == [conflict.revisions.winner.description, conflict.revisions.other.description]
      else { return false }
      let resolution: ConflictResolution
      switch choice {
      case "winner": resolution = .object(conflict.winner)
      case "other": resolution = .object(conflict.loser)
      case "delete": resolution = .delete
      case "merge" where conflict.base != nil: resolution = .merge
      default:
        throw RouteError.invalid(
          "take", "winner, other, delete, or merge if the common version is known")
      }
      return try database.resolve(conflict, by: resolution)
    }
    return ["resolved": .bool(isResolved)]
  }
}
