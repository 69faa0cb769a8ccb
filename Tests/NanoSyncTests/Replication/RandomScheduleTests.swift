// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoServerSupport
import NanoStore
import NanoStoreEncryption
import NanoSync
import NanoTestSupport
import Synchronization
import Testing

@Suite struct RandomScheduleTests {
  private static let schedules = TrialLimits.schedules ?? 12
  private static let counts = Mutex((ended: 0, done: 0))

  @Test(arguments: 0..<schedules)
  func `Replicas that write and sync at random agree in the end and lose nothing`(
    _ number: Int
  ) async throws {
    let isOver = TrialLimits.isOver
    defer {
      let (ended, done) = Self.counts.withLock { counts in
        counts.ended += 1
        counts.done += isOver ? 0 : 1
        return counts
      }
      if ended == Self.schedules { print("\(done) random schedules of replicas ran") }
    }
    guard !isOver else { return }
    var schedule = try RandomSchedule(seed: TrialLimits.seed + UInt64(number))
    try await schedule.run(steps: 60)
    try await schedule.settle()
    try schedule.check()
  }
}

/// Several replicas of a collection, with random writes and replications between them.
struct RandomSchedule {
  private var generator: SeededGenerator
  private let scratch: Scratch
  private let replicas: [SyncDatabase]
  /// Other programs' connections to the files and the server.
  private let foreign: [Store?]
  /// The replica on a server, if one is installed.
  private let server: (index: Int, schema: ServerSchema)?
  /// The number of increments of each document that was never deleted.
  private var increments: [String: Int64] = [:]
  /// The fields that were written to each document, each only once.
  private var fields: [String: Set<String>] = [:]
  private var deleted: Set<String> = []
  private var nextField = 0
  private var log: [String] = []

  init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    let distinctions = Distinctions(seed: seed)
    scratch = try Scratch()
    var (replicas, foreign) = ([SyncDatabase](), [Store?]())
    for index in 0..<Int.random(in: 3...5, using: &generator) {
      let path = scratch.file("\(index).db")
      let store: Store
      switch index {
      case 0: store = try anyStore()
      case 1:
        store = try Store(.file(path), encryption: Encryption(.key(Data(repeating: 7, count: 32))))
      default: store = try Store(.file(path))
      }
      let database = try SyncDatabase(store["films"], distinction: distinctions.next)
      try database.enable()
      if Bool.random(using: &generator) { try database.setRevisionLimit(20) }
      replicas.append(database)
      foreign.append(index > 1 ? try Store(.file(path)) : nil)
    }
    if PostgresRequirement.isMet {
      let schema = try ServerSchema()
      let database = try SyncDatabase(schema.store()["films"], distinction: distinctions.next)
      try database.enable()
      replicas.append(database)
      foreign.append(try schema.store())
      server = (replicas.count - 1, schema)
    } else {
      server = nil
    }
    self.replicas = replicas
    self.foreign = foreign
  }

  mutating func run(steps: Int) async throws {
    for _ in 0..<steps {
      let index = Int.random(in: 0..<replicas.count, using: &generator)
      switch Int.random(in: 0..<11, using: &generator) {
      case 10: try count(index)
      case 0..<5: try write(index)
      case 5: try delete(index)
      case 6: try writeBySQL(index)
      case 7: try attach(index)
      default: try await sync(index)
      }
    }
  }

  private mutating func key() -> String { "k\(Int.random(in: 0..<6, using: &generator))" }

  /// Adds a field of its own and one to the counter.
  private mutating func write(_ index: Int) throws {
    let (key, films) = (key(), replicas[index].collection)
    nextField += 1
    let field = "w\(nextField)"
    log.append("write \(index) \(key) \(field)")
    if let document = try films.get(key) {
      try films.update(
        key,
        set: [
          FieldPath(field): true, "n": .int((document["n"]?.int64 ?? 0) + 1),
          "last": .int(Int64(nextField)),
        ])
    } else {
      try films.save(
        DocumentObject([(field, .bool(true)), ("n", .int(1)), ("last", .int(Int64(nextField)))]),
        key: key)
    }
    fields[key, default: []].insert(field)
    increments[key, default: 0] += 1
  }

  /// Adds one to the counter and changes nothing else, as another replica may do at the same time.
  private mutating func count(_ index: Int) throws {
    let (key, films) = (key(), replicas[index].collection)
    guard let n = try films.get(key)?["n"]?.int64 else { return }
    log.append("count \(index) \(key)")
    try films.update(key, set: ["n": .int(n + 1)])
    increments[key, default: 0] += 1
  }

  private mutating func delete(_ index: Int) throws {
    let key = key()
    log.append("delete \(index) \(key)")
    if try replicas[index].collection.delete(key) { deleted.insert(key) }
  }

  private mutating func writeBySQL(_ index: Int) throws {
    guard let store = foreign[index] else { return try write(index) }
    let key = key()
    nextField += 1
    let field = "w\(nextField)"
    log.append("sql \(index) \(key) \(field)")
    if index == server?.index {
      try server?.schema.psql(Self.serverSQL(key, field))
    } else {
      try writeByFileSQL(key, field, store)
    }
    fields[key, default: []].insert(field)
    increments[key, default: 0] += 1
  }

  private func writeByFileSQL(_ key: String, _ field: String, _ store: Store) throws {
    try store.write {
      _ = try store.sql(
        """
        UPDATE films SET body = \
        json_set(body, '$.' || ?, json('true'), '$.n', coalesce(json_extract(body, '$.n'), 0) + 1) WHERE key = ?
        """, field, key)
      _ = try store.sql(
        """
        INSERT INTO films(key, body) SELECT ?, json_object(?, json('true'), 'n', 1) \
        WHERE NOT EXISTS (SELECT 1 FROM films WHERE key = ?)
        """, key, field, key)
    }
  }

  private static func serverSQL(_ key: String, _ field: String) -> String {
    """
    INSERT INTO films (key, added, revision, body) VALUES ('\(key)', 0, 1, '{"\(field)": true, "n": 1}')
    ON CONFLICT (key) WHERE key IS NOT NULL DO UPDATE SET source = NULL, body = films.body ||
    excluded.body || jsonb_build_object('n', coalesce((films.body ->> 'n')::int, 0) + 1)
    """
  }

  private mutating func attach(_ index: Int) throws {
    let (key, films) = (key(), replicas[index].collection)
    guard try films.get(key) != nil else { return }
    let byte = UInt8.random(in: 0..<4, using: &generator)
    log.append("attach \(index) \(key) \(byte)")
    try films.attach(.data(Data(repeating: byte, count: 2_000)), named: "a\(byte)", to: key)
  }

  private mutating func sync(_ index: Int) async throws {
    let other = (index + Int.random(in: 1..<replicas.count, using: &generator)) % replicas.count
    var options = Self.options
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: options.pulls = false
    case 1: options.pushes = false
    default: break
    }
    options.batchDocuments = Int.random(in: 1...8, using: &generator)
    log.append(
      "sync \(index) \(other) \(options.pulls ? "pull" : "") \(options.pushes ? "push" : "")")
    try await replicate(index, other, options)
  }

  private static var options: ReplicationOptions {
    var options = ReplicationOptions()
    options.rules.counters = ["n"]
    return options
  }

  private func replicate(_ a: Int, _ b: Int, _ options: ReplicationOptions) async throws {
    let status = StatusBox()
    try await Replication(
      replicas[a], with: LocalPeer(replicas[b]), options, report: status.change
    ).run()
    #expect(status.value.failures.isEmpty)
  }

  /// Replicates among all until nothing changes.
  mutating func settle() async throws {
    for round in 0..<12 {
      for a in replicas.indices {
        for b in replicas.indices where a != b { try await replicate(a, b, Self.options) }
      }
      let contents = try replicas.map { try $0.contents() }
      if Set(contents).count == 1, try replicas.allSatisfy({ try $0.conflictedIDs().isEmpty }) {
        return
      }
      let differing = Set(contents.flatMap(\.self)).filter { line in
        !contents.allSatisfy { $0.contains(line) }
      }
      let open = try replicas.map { try $0.conflictedIDs() }
      try #require(
        round < 11,
        "The replicas do not settle: \(differing.sorted().map { $0.prefix(600) }), \(open)"
      )
    }
  }

  func check() throws {
    for (index, replica) in replicas.enumerated() {
      for (key, names) in fields {
        let document = try replica.collection.get(key)
        // A deletion ends what was written before, which the test does not follow.
        guard !deleted.contains(key) else { continue }
        let object = try #require(try document?.object(), "\(key) is lost: \(log)")
        #expect(names.subtracting(object.names).isEmpty, "Fields of \(key) are lost: \(log)")
        #expect(object["n"] == .int(increments[key] ?? 0), "The counter of \(key): \(log)")
      }
      // Fields that only other programs wrote are missing from the path catalog of a server, as POSTGRES.md says.
      let problems = try replica.store.verify().filter {
        index != server?.index || !$0.message.contains("the path catalog is missing w")
      }
      #expect(problems.isEmpty, "\(problems) \(log)")
      for document in try replica.collection.find().fetch() {
        for named in try replica.collection.attachments(of: document.key ?? "").all() {
          #expect(
            try replica.store.data(of: named.attachment).count == 2_000, "\(named.name): \(log)")
        }
      }
    }
  }
}

/// Distinctions of revisions that are the same in each run of a seed.
private final class Distinctions: Sendable {
  private let generator: Mutex<SeededGenerator>
  init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }
  @Sendable func next() -> Int64 {
    generator.withLock { Int64(truncatingIfNeeded: $0.next()) }
  }
}

/// The generator of Sebastiano Vigna's SplitMix64 (public domain).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
