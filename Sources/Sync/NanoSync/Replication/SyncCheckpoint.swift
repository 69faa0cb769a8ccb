// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// What a replication saves on both sides to resume: a list of sessions and how far each came.
///
/// The newest session that both sides have tells where to resume: a side that was restored from a backup lacks the newest
/// ones. The form is that of PouchDB, with a count.
struct SyncCheckpoint: Sendable, Hashable {
  struct Session: Sendable, Hashable {
    var id: String
    var sequence: String
    /// Increases with each checkpoint of the session: positions themselves cannot be compared.
    var count: Int64
  }
  /// The newest first.
  var sessions: [Session] = []

  /// As many as PouchDB keeps.
  private static let maximumSessions = 5

  init() {}

  init(_ object: DocumentObject?) {
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
      "replicator": "nanostore", "version": 1,
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

  /// A session as each side has it; nil for a side that is not known to have one.
  struct Sides: Sendable {
    var own: Session?
    var other: Session?

    /// The position from which both sides can continue; nil for the beginning.
    var position: String? {
      guard let own, let other else { return nil }
      // A process was killed between the two writes, or a side was restored: the earlier one is safe.
      return other.count < own.count ? other.sequence : own.sequence
    }
  }

  /// Returns the newest session that both sides have.
  func common(with other: SyncCheckpoint) -> Sides {
    for session in sessions {
      guard let same = other.sessions.first(where: { $0.id == session.id }) else { continue }
      return Sides(own: session, other: same)
    }
    return Sides()
  }

  /// Checks that a side still has a session that it had before. If not, a server was restored from a backup, for example, and
  /// may lack changes from before the position of the session.
  ///
  /// - Throws: A transient error: the next attempt resumes from what both sides have.
  func require(_ session: Session?) throws(PeerError) {
    guard let session else { return }
    guard sessions.contains(where: { $0.id == session.id && $0.count >= session.count }) else {
      throw PeerError(.unavailable, "A checkpoint is missing, and the databases are compared again")
    }
  }

  mutating func record(_ session: Session) {
    sessions.removeAll { $0.id == session.id }
    sessions.insert(session, at: 0)
    sessions = Array(sessions.prefix(Self.maximumSessions))
  }
}
