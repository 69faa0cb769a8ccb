// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The state of a synced collection that is not part of a document, one document of the internal collection
/// `nano_sync_state`, with the folded name of the collection as its key.
struct SyncState: Sendable, Hashable {
  /// How far the feed of the collection has been read.
  var timeline: Int64
  var cursor: FeedCursor
  /// Whether all records have to be compared with the documents, because the feed began again.
  var isRestarted = false
  /// The number of ancestors that are kept for each leaf.
  var revisionLimit = Self.defaultRevisionLimit
  /// Identifies the database for checkpoints of other programs.
  var uuid: String
  /// The largest pruned number when the feed was read from the beginning: such deletions are known.
  var floor: Int64 = 0
  /// Documents that cannot be synced, with the reason.
  var problems: DocumentObject = [:]

  /// As in CouchDB.
  static let defaultRevisionLimit = 1_000
  static let collection = InternalCollection.syncState.rawValue

  var body: DocumentObject {
    var object: DocumentObject = [
      "position": .string(
        FeedPosition(timeline: timeline, cursor: cursor, floor: floor).description),
      "limit": .int(Int64(revisionLimit)), "uuid": .string(uuid),
    ]
    if isRestarted { object["restarted"] = true }
    if !problems.isEmpty { object["problems"] = .object(problems) }
    return object
  }

  init(uuid: String) {
    timeline = 0
    cursor = .start
    self.uuid = uuid
  }

  init?(_ object: DocumentObject) {
    guard let position = object["position"]?.string.flatMap({ FeedPosition($0) }),
      let uuid = object["uuid"]?.string
    else { return nil }
    self.init(uuid: uuid)
    timeline = position.timeline
    cursor = position.cursor
    floor = position.floor
    isRestarted = object["restarted"] == true
    revisionLimit = object["limit"]?.int64.map { Int($0) } ?? Self.defaultRevisionLimit
    problems = object["problems"]?.object ?? [:]
  }
}
