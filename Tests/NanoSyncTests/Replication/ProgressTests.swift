// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStore
import NanoStoreCore
import NanoSync
import Synchronization
import Testing

/// What a replication reports about its progress, and when it gives up.
@Suite(.timeLimit(.minutes(15))) struct ProgressTests {
  @Test func `A peer that stores no checkpoints ends a replication after five attempts`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await b.collection.save(["n": 1], key: "x")
    var options = ReplicationOptions()
    options.pushes = false
    let peer = HinderedPeer(peer: try LocalPeer(b))
    peer.state.refusesCheckpoints.store(true, ordering: .sequentiallyConsistent)
    let status = StatusBox()

    await #expect(throws: SyncError.self) {
      try await Replication(a, with: peer, options, report: status.change).run()
    }

    let attempts = peer.state.openings.load(ordering: .sequentiallyConsistent)
    #expect(attempts == 5)
    #expect(status.value.pulled == 1)
  }

  @Test func `A replication is not idle while documents are being sent`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    var options = ReplicationOptions()
    options.isContinuous = true
    let peer = HinderedPeer(peer: try LocalPeer(b))
    let status = StatusBox()
    let replication = Replication(a, with: peer, options, report: status.change)
    let task = Task { try await replication.run() }
    try await until { status.value.phase == .idle }

    try await a.collection.save(["n": 1], key: "mine")
    await peer.state.writes.wait()
    try await b.collection.save(["n": 1], key: "theirs")
    try await until { status.value.pulled == 1 }
    // The pull looks again for changes when it rests.
    try await until { peer.state.waits.load(ordering: .sequentiallyConsistent) >= 2 }

    #expect(status.value.phase == .busy)
    peer.state.release.open()
    try await until { status.value.phase == .idle }
    #expect(status.value.pushed == 1)
    task.cancel()
    _ = await task.result
  }

  @Test(arguments: [false, true])
  func `A side that loses its data while nothing is transferred gets it again`(
    isPulled: Bool
  ) async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    let (source, target) = isPulled ? (b, a) : (a, b)
    var options = ReplicationOptions()
    options.isContinuous = true
    options.pulls = isPulled
    options.pushes = !isPulled
    try await source.collection.save(["n": 1], key: "x")
    let status = StatusBox()
    let replication = Replication(a, with: try LocalPeer(b), options, report: status.change)
    let task = Task { try await replication.run() }
    try await until { try status.value.phase == .idle && target.collection.get("x") != nil }

    #expect(try target.delete())
    try target.enable()
    try await source.collection.save(["n": 1], key: "y")

    try await until { try target.collection.get("x") != nil && target.collection.get("y") != nil }
    task.cancel()
    _ = await task.result
  }

  @Test func `Any number of sessions that save the same checkpoint do not disturb each other`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    var options = ReplicationOptions()
    options.isContinuous = true
    options.pushes = false
    let statuses = (0..<8).map { _ in StatusBox() }
    let errors = Mutex(0)
    let tasks = try statuses.map { status in
      let replication = Replication(a, with: try LocalPeer(b), options) { change in
        status.change(change)
        if status.value.phase == .offline { errors.withLock { $0 += 1 } }
      }
      return Task { try await replication.run() }
    }
    for number in 1...5 as ClosedRange<Int64> {
      try await b.collection.save(["n": .int(number)], key: "x")
      try await until {
        try a.collection.get("x")?["n"]?.int64 == number
          && statuses.allSatisfy { $0.value.phase == .idle }
      }
    }
    for task in tasks {
      task.cancel()
      _ = await task.result
    }
    #expect(errors.withLock { $0 } == 0)
  }
}

/// Something that happens once, for which others wait.
private final class Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func open() { continuation.finish() }
  func wait() async { for await _ in stream {} }
}

/// A peer that stores no checkpoints, or waits with writes.
private struct HinderedPeer: SyncPeer {
  final class State: Sendable {
    let refusesCheckpoints = Atomic(false)
    let openings = Atomic(0)
    let waits = Atomic(0)
    /// Opens when the first write arrives.
    let writes = Gate()
    let release = Gate()
  }
  let peer: LocalPeer
  let state = State()
  var identity: String { peer.identity }

  init(peer: LocalPeer) { self.peer = peer }

  func open(creates: Bool) async throws -> PeerState {
    _ = state.openings.wrappingAdd(1, ordering: .sequentiallyConsistent)
    return try await peer.open(creates: creates)
  }

  func changes(
    since: String?, limit: Int, filter: PeerFilter, waits: Bool
  ) async throws -> PeerChanges {
    if waits { _ = state.waits.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    return try await peer.changes(since: since, limit: limit, filter: filter, waits: waits)
  }

  func revisions(_ wanted: [WantedRevision]) async throws -> [FetchedRevision] {
    try await peer.revisions(wanted)
  }

  func attachment(
    _ attachment: WireAttachment, of id: String, revision: RevisionID, in store: Store
  ) async throws -> SyncAttachment {
    try await peer.attachment(attachment, of: id, revision: revision, in: store)
  }

  func missing(_ revisions: IDMap<[RevisionID]>) async throws -> IDMap<MissingRevisions> {
    try await peer.missing(revisions)
  }

  func write(
    _ documents: [SyncDocument], ancestors: IDMap<[RevisionID]>, from store: Store
  ) async throws -> [PeerRefusal] {
    state.writes.open()
    if documents.contains(where: { $0.id == "mine" }) { await state.release.wait() }
    return try await peer.write(documents, ancestors: ancestors, from: store)
  }

  func checkpoint(_ id: String) async throws -> DocumentObject? {
    try await peer.checkpoint(id)
  }

  func setCheckpoint(_ id: String, _ body: DocumentObject) async throws {
    guard !state.refusesCheckpoints.load(ordering: .sequentiallyConsistent) else {
      throw PeerError(.unavailable, "The disk is full")
    }
    try await peer.setCheckpoint(id, body)
  }
}
