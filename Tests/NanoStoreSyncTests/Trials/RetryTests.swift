// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport
import NanoTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct RetryTests {
  /// The time within which a sync has to stop: a second on an idle machine. What it must not wait for takes 30 seconds or more.
  private static let soon = Duration.seconds(25)

  private func expectStop(_ sync: Sync) async {
    let start = ContinuousClock.now
    await sync.stop()
    #expect(ContinuousClock.now - start < Self.soon)
    #expect(sync.status.phase == .stopped)
  }

  @Test func `Pauses double up to a minute, and differ between devices`() {
    var random = SplitMix(seed: 1)
    let lists = (0..<200).map { _ in
      var backoff = Backoff()
      return (0..<12).map { _ in backoff.next(using: &random) }
    }
    for index in 0..<12 {
      let longest = min(0.25 * pow(2, Double(index)), 60)
      let pauses = lists.map { $0[index] }
      #expect(pauses.allSatisfy { $0 >= longest / 2 && $0 <= longest })
      #expect(pauses.min()! < longest * 0.6 && pauses.max()! > longest * 0.9)
    }
    var backoff = Backoff()
    for _ in 0..<8 { _ = backoff.next(using: &random) }
    backoff = Backoff()
    #expect(backoff.next(using: &random) <= 0.25)
  }

  @Test func `Attempts pause before they are repeated`() async throws {
    let times = Mutex<[ContinuousClock.Instant]>([])
    try await ScriptedServer.serving { _ in
      times.withLock { $0.append(.now) }
      return .json(503, "{}")
    } while: { server in
      let sync = try anyStore().replicate(["films"], with: .url(server.url), mode: .once)
      await #expect(throws: SyncError.self) { try await sync.finish() }
    }
    let attempts = times.withLock { $0 }
    #expect(attempts.count == 5)
    for (index, (earlier, later)) in zip(attempts, attempts.dropFirst()).enumerated() {
      #expect(later - earlier >= .seconds(0.125 * pow(2, Double(index))))
    }
  }

  @Test func `A retry on demand ends the pause at once, whenever it comes`() async throws {
    let served = try anyStore()
    try await TrialServer.running(served) { port in
      try await FaultyProxy.running(before: port) { proxy in
        for number in 0..<12 {
          let device = try anyStore()
          try await device["films"].save(["n": 1], key: "\(number)")
          proxy.plan([.busy(600)])
          let sync = try device.replicate(
            ["films"], with: .url(proxy.url), direction: .push, mode: .once)
          let impatience = Task {
            for await status in sync.updates where status.phase == .offline { sync.retry() }
          }
          try await sync.finish()
          impatience.cancel()
        }
        #expect(try await served["films"].count() == 12)
      }
    }
  }

  @Test func `A sync with nothing to push notices a lost connection, and pulls again later`()
    async throws
  {
    let (device, served) = (try anyStore(), try anyStore())
    try await device["films"].save(["n": 1], key: "a")
    try await FaultyProxy.running(before: 1) { proxy in
      let sync = try device.replicate(["films"], with: .url(proxy.url))
      try await TrialServer.running(served) { port in
        proxy.serverPort = port
        sync.retry()
        for await status in sync.updates where status.phase == .idle { break }
      }
      for await status in sync.updates where status.phase == .offline { break }

      try await served["films"].save(["n": 2], key: "b")
      try await TrialServer.running(served) { port in
        proxy.serverPort = port
        sync.retry()
        for try await films in device["films"].find().updates() where films.count == 2 { break }
        await sync.stop()
      }
    }
  }

  @Test func `A push that fails once beside a pull that does not is repeated`() async throws {
    let (device, served) = (try anyStore(), try anyStore())
    try await device["films"].save(["n": 1], key: "a")
    try await TrialServer.running(served) { port in
      try await FaultyProxy.running(before: port) { proxy in
        let sync = try device.replicate(["films"], with: .url(proxy.url))
        for await status in sync.updates where status.phase == .idle { break }
        proxy.plan([.status(503)])

        try await device["films"].save(["n": 2], key: "b")

        for try await films in served["films"].find().updates() where films.count == 2 { break }
        #expect(proxy.faults == 1)
        await sync.stop()
      }
    }
  }

  @Test func `A document that is tried again is pulled only while it matches the selector`()
    async throws
  {
    let (device, served) = (try anyStore(), try anyStore())
    try await device["films"].createIndex("title", unique: true)
    try await device["films"].save(["title": "Alien"], key: "mine")
    for key in ["a", "b"] {
      try await served["films"].save(["title": "Alien", "seen": false], key: key)
    }
    try await TrialServer.running(served) { port in
      func pull() async throws -> SyncStatus {
        var options = SyncOptions()
        options.pullFilter = .selector(["seen": false])
        let sync = try device.replicate(
          ["films"], with: .url("http://127.0.0.1:\(port)"), direction: .pull, mode: .once,
          options: options)
        return try await sync.finish()
      }
      let failed = try await pull().failures.map(\.key)
      #expect(Set(failed) == ["a", "b"])

      try await device["films"].delete("mine")
      try await served["films"].update("b", set: ["title": "Aliens", "seen": true])

      #expect(try await pull().failures.isEmpty)
      #expect(try await device["films"].find().keys() == ["a"])
    }
  }

  @Test func `A sync that pauses is stopped within a second`() async throws {
    try await ScriptedServer.serving { _ in
      .json(503, "{}", ["Retry-After": "600"])
    } while: {
      server in
      let sync = try anyStore().replicate(["films"], with: .url(server.url))
      for await status in sync.updates where status.phase == .offline { break }
      await expectStop(sync)
    }
  }

  @Test func `A sync that waits for an answer is stopped within a second`() async throws {
    try await ScriptedServer.serving { request in
      request.path == "/films/" ? .json(200, #"{"db_name":"films"}"#) : [.hang]
    } while: { server in
      let sync = try anyStore().replicate(["films"], with: .url(server.url))
      while !server.requests.contains(where: { $0.path != "/films/" }) {
        try await Task.sleep(for: .milliseconds(5))
      }
      await expectStop(sync)
    }
  }

  @Test func `A sync that waits for changes is stopped within a second`() async throws {
    let served = try anyStore()
    try await TrialServer.running(served) { port in
      let sync = try anyStore().replicate(["films"], with: .url("http://127.0.0.1:\(port)"))
      for await status in sync.updates where status.phase == .idle { break }
      await expectStop(sync)
    }
  }

  @Test(.sqlite)
  func `A sync that waits for the lock of another program is stopped within a second`()
    async throws
  {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db")) { $0.busyTimeout = .seconds(600) }
    let foreign = try Store.file(scratch.file("a.db"))
    let other = try anyStore()
    _ = try await store.replicate(["films"], with: .store(other), mode: .once).finish()
    try await other["films"].save(["n": 1], key: "theirs")
    let (held, release) = (Gate(), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      try? foreign.write {
        try foreign["films"].save(["n": 1], key: "mine")
        held.open()
        release.wait()
      }
    }
    await held.wait()
    let sync = try store.replicate(["films"], with: .store(other))
    for await status in sync.updates where status.phase == .busy { break }
    try await Task.sleep(for: .milliseconds(100))
    await expectStop(sync)
    release.signal()
    let status = try await store.replicate(["films"], with: .store(other), mode: .once).finish()
    #expect((status.pulled, status.pushed) == (1, 1))
  }
}
