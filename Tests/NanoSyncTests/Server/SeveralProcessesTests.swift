// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoServerSupport
import NanoStore
import NanoSync
import NanoTestSupport
import Synchronization
import Testing

/// Several stores with one database, as of several processes.
@Suite("One database of several processes", .postgres, .timeLimit(.minutes(15)))
struct SeveralProcessesTests {
  private static let rounds = 9

  @Test("Of edits of one revision, one succeeds and the others are conflicts")
  func edits() async throws {
    let schema = try ServerSchema()
    let databases = try (0..<2).map { _ in try Follower.database(schema) }
    for round in 0..<Self.rounds {
      let id = round % 2 == 0 ? "x" : "new\(round)"
      let parent = try databases[0].revisions([id])[id]?.winner?.revision
      let won = Mutex<[RevisionID]>([])
      await onThreads(4) { number in
        let edit = DocumentEdit(
          id: id, parent: parent, body: ["round": .int(Int64(round)), "n": .int(Int64(number))])
        #expect(throws: Never.self) {
          switch try databases[number % 2].edit([edit])[0] {
          case .success(let revision): won.withLock { $0.append(revision) }
          case .failure(let error): #expect((error as? StoreError)?.code == .revisionConflict)
          }
        }
      }
      let winners = won.withLock { $0 }
      #expect(winners.count == 1)
      for database in databases {
        #expect(try database.revisions([id])[id]?.leaves.map(\.id) == winners)
      }
    }
  }

  @Test("Revisions that are replicated to several processes at once are all kept")
  func replicated() async throws {
    let schema = try ServerSchema()
    let databases = try (0..<2).map { _ in try Follower.database(schema) }
    let letters = Array("abcdef")
    for round in 0..<Self.rounds {
      await onThreads(letters.count) { number in
        let json = #"{"_id":"x\#(round)","_rev":"1-\#(hash(letters[number]))","n":\#(number)}"#
        #expect(throws: Never.self) {
          let failures = try databases[number % 2].replicate(json: json)
          #expect(failures.isEmpty)
        }
      }
      for database in databases {
        #expect(
          try database.leaves("x\(round)") == letters.reversed().map { "1-\(hash($0))" })
        #expect(try await database.collection.get("x\(round)")?["n"] == 5)
      }
    }
  }

  @Test("Changes of several writers are all listed, once and in one order")
  func changes() async throws {
    let schema = try ServerSchema()
    let databases = try (0..<2).map { _ in try Follower.database(schema) }
    let held = try ServerSchema().store()
    _ = try databases[0].edit([DocumentEdit(id: "shared", parent: nil, body: [:])])[0].get()
    let followers = databases.map { Follower($0) }
    let edits = Atomic(0)
    let isDone = Atomic(false)
    let following = Task {
      await onThreads(followers.count) { number in
        #expect(throws: Never.self) {
          while !isDone.load(ordering: .acquiring) { try followers[number].read() }
        }
      }
    }
    await onThreads(8) { number in
      let database = databases[number % 2]
      #expect(throws: Never.self) {
        switch number {
        case 0...3:
          // As clients of the server do.
          for count in 0..<Self.rounds {
            let own = DocumentEdit(id: "edit\(number)-\(count)", parent: nil, body: ["n": 1])
            _ = try database.edit([own])[0].get()
            edits.add(try Self.increment(database), ordering: .relaxed)
          }
        case 4, 5:
          for count in 0..<Self.rounds {
            try database.collection.save(["n": 1], key: "save\(number)-\(count)")
            if count % 3 == 0 { try database.collection.delete("save\(number)-\(count)") }
          }
        case 6:
          // Another program, whose transactions commit late.
          for _ in 0..<Self.rounds {
            try schema.psql(
              """
              BEGIN; SELECT pg_current_xact_id(); SELECT pg_sleep(0.02);
              UPDATE films SET source = NULL, body = body ||
              jsonb_build_object('m', coalesce((body ->> 'm')::int, 0) + 1) WHERE key = 'shared'; COMMIT
              """)
          }
        default:
          // Transactions elsewhere on the server.
          for _ in 0..<5 {
            let other = OpenTransaction(held) { try held["other"].save(["n": 1], key: "a") }
            usleep(.random(in: 100_000..<300_000))
            other.end()
          }
        }
      }
    }
    isDone.store(true, ordering: .releasing)
    await following.value
    for follower in followers {
      while try follower.read() {}
      try follower.check()
    }
    let document = try #require(try await databases[0].collection.get("shared"))
    #expect(document["n"] == .int(Int64(edits.load(ordering: .relaxed))))
    #expect(document["m"] == .int(Int64(Self.rounds)))
    #expect(try databases[0].leaves("shared").count == 1)
    #expect(try databases[0].contents() == databases[1].contents())
    #expect(try await databases[0].collection.count() == Self.rounds * 6 + 1 - 2 * 3)
  }

  /// Increments the counter of the shared document from the newest revision, and returns 1.
  private static func increment(_ database: SyncDatabase) throws -> Int {
    while true {
      let current = try #require(try database.revisions(["shared"])["shared"]?.winner)
      var body = current.body
      body["n"] = .int((body["n"]?.int64 ?? 0) + 1)
      let edit = DocumentEdit(id: "shared", parent: current.revision, body: body)
      switch try database.edit([edit])[0] {
      case .success: return 1
      case .failure(let error as StoreError) where error.code == .revisionConflict: continue
      case .failure(let error): throw error
      }
    }
  }
}

/// Reads the changes of a database page by page, and keeps what it has seen.
private final class Follower: Sendable {
  private struct State {
    var position: RevisionChange.Sequence?
    var seen: [(id: String, leaves: [RevisionID])] = []
  }
  private let database: SyncDatabase
  private let state = Mutex(State())

  init(_ database: SyncDatabase) { self.database = database }

  static func database(_ schema: ServerSchema) throws -> SyncDatabase {
    let database = try SyncDatabase(schema.store()["films"])
    try database.enable()
    return database
  }

  /// Returns whether there was something.
  @discardableResult
  func read() throws -> Bool {
    let position = state.withLock { $0.position }
    let page = try database.changes(since: position, limit: 7)
    return state.withLock { state in
      var last = state.position
      for change in page.changes {
        if let last { #expect(last.position < change.sequence.position, "out of order") }
        last = change.sequence
        state.seen.append((change.id, change.leaves.map(\.id)))
      }
      state.position = page.last
      return !page.changes.isEmpty
    }
  }

  func check() throws {
    let seen = state.withLock { $0.seen }
    var last: [String: [RevisionID]] = [:]
    for (id, leaves) in seen {
      #expect(last[id] != leaves, "\(id) is repeated")
      last[id] = leaves
    }
    // What a reader finds that begins now.
    let all = try database.changes(since: nil, limit: 10_000).changes
    #expect(Set(all.map(\.id)) == Set(last.keys))
    for change in all {
      #expect(
        last[change.id] == change.leaves.map(\.id), "The last change of \(change.id) is missed")
    }
  }
}
