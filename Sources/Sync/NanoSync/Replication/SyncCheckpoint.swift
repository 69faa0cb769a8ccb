// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// What a replication saves on both sides to resume: a list of sessions and how far each came.
///
/// The newest session that both sides have tells where to resume: a side that was restored from a backup lacks the newest
/// ones. The form is that of PouchDB, with a count.
package struct SyncCheckpoint: Sendable, Hashable {
  struct Session: Sendable, Hashable {
    var id: String
    var sequence: String
    /// Increases with each checkpoint of the session: positions themselves cannot be compared.
    var count: Int64
  }
  /// The newest first.
  var sessions: [Session] = []
  /// How often it was saved, by any session: sessions that are not among the newest are removed.
  private(set) var saves: Int64 = 0
  private static let savesField = "saves"
  /// Arbitrary: far more than any session saves, and exact in other JSON parsers.
  private static let maximumSaves: Int64 = 1 << 53

  /// As many as PouchDB keeps.
  private static let maximumSessions = 5

  init() {}

  init(_ object: DocumentObject?) {
    // Another program can have stored any number, which the next save increases.
    let count = object?[Self.savesField]?.int64 ?? 0
    saves = (0..<Self.maximumSaves).contains(count) ? count : 0
    for value in object?["history"]?.array ?? [] {
      guard let session = value.object, let id = session["session_id"]?.string,
        let sequence = session["last_seq"]?.string
      else { continue }
      sessions.append(
        Session(id: id, sequence: sequence, count: session["count"]?.int64 ?? 0))
    }
  }

  var body: DocumentObject {
    [
      "session_id": sessions.first.map { .string($0.id) } ?? .null,
      "last_seq": sessions.first.map { .string($0.sequence) } ?? .null,
      "history": .array(
        sessions.map {
          [
            "session_id": .string($0.id), "last_seq": .string($0.sequence),
            "count": .int($0.count),
          ]
        }),
      Self.savesField: .int(saves), "replicator": "nanostore", "version": 1,
    ]
  }

  /// What this side notes beside its checkpoint, for people who look at the store.
  struct Description: Sendable {
    /// The other side, without credentials.
    var peer: String
    var isPush: Bool
    /// When a change was last transferred.
    var date: Date

    private static let field = "run"

    init(peer: String, isPush: Bool, date: Date) {
      (self.peer, self.isPush, self.date) = (peer, isPush, date)
    }

    /// Nil for the checkpoint of another program.
    init?(_ body: DocumentObject) {
      guard let object = body[Self.field]?.object, let peer = object["peer"]?.string,
        let isPush = object["push"]?.bool, let date = object["date"]?.date
      else { return nil }
      self.init(peer: peer, isPush: isPush, date: date)
    }

    func add(to body: inout DocumentObject) {
      body[Self.field] = ["peer": .string(peer), "push": .bool(isPush), "date": .date(date)]
    }
  }

  /// Returns the position from which both sides can continue; nil for the beginning.
  func resume(with other: SyncCheckpoint) -> String? {
    for session in sessions {
      guard let same = other.sessions.first(where: { $0.id == session.id }) else { continue }
      // A process was killed between the two writes, or a side was restored: the earlier one is safe.
      return same.count < session.count ? same.sequence : session.sequence
    }
    return nil
  }

  /// Checks that a side has not lost what was saved. A server that was restored from a backup, for example, may lack changes
  /// from before the position that is about to be saved.
  ///
  /// - Parameter saves: How often it was saved the last time.
  /// - Throws: A transient error: the next attempt resumes from what both sides have.
  func require(_ saves: Int64) throws(PeerError) {
    guard self.saves >= saves else {
      throw PeerError(.unavailable, "A checkpoint is gone, and the databases are compared again")
    }
  }

  /// Returns a body to store over another one, which another session may have saved since it was read.
  package static func body(_ body: DocumentObject, over stored: DocumentObject?) -> DocumentObject {
    let saves = SyncCheckpoint(stored).saves
    guard saves > SyncCheckpoint(body).saves else { return body }
    var body = body
    body[savesField] = .int(saves)
    return body
  }

  mutating func record(_ session: Session) {
    saves += 1
    sessions.removeAll { $0.id == session.id }
    sessions.insert(session, at: 0)
    sessions = Array(sessions.prefix(Self.maximumSessions))
  }
}
