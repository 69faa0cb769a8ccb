// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport
import Testing

@Suite(.sqlite) struct RestoredBackupTests {
  @discardableResult
  private func sync(_ replica: TrialReplica, _ proxy: FaultyProxy) async throws -> SyncStatus {
    try await replica.store.replicate(
      ["films"], with: .url(proxy.url), mode: .once, options: NetworkSchedule.options
    ).finish()
  }

  @Test(arguments: [false, true])
  func `A device that was restored gets back what it sent, and sends what it writes then`(
    isCopied: Bool
  ) async throws {
    let scratch = try Scratch()
    let served = try TrialReplica(.memory, "")
    let device = try TrialReplica(.file, scratch.file("a.db"))
    try await TrialServer.running(served.store) { port in
      try await FaultyProxy.running(before: port) { proxy in
        for n in 0..<20 { try await device.films.save(["n": .int(Int64(n))], key: "\(n)") }
        try await sync(device, proxy)
        try device.back(up: isCopied)
        // Lost by the restored file, known to the server.
        for n in 0..<10 { try await device.films.update("\(n)", set: ["late": true]) }
        try await device.films.save(["n": 0], key: "new")
        try await device.films.delete("19")
        try await sync(device, proxy)
        try device.restore()
        // As many changes as were lost, so that positions are as large as before.
        for n in 5..<17 { try await device.films.update("\(n)", set: ["again": true]) }
        try await served.films.save(["n": 1], key: "served")
        try await sync(device, proxy)
        #expect(try device.database.state() == served.database.state())
        #expect(try await device.films.get("new") != nil)
        #expect(try await device.films.get("19") == nil)
        #expect(try await device.films.get("served") != nil)
        for n in 0..<17 {
          let film = try await served.films.get("\(n)")
          #expect(film?["late"] == (n < 10 ? true : nil), "\(n)")
          #expect(film?["again"] == (n >= 5 ? true : nil), "\(n)")
        }
        try await sync(device, proxy)
        let status = try await sync(device, proxy)
        #expect((status.pulled, status.pushed, status.done) == (0, 0, 0))
      }
    }
  }

  @Test(arguments: [false, true])
  func `A server that was restored gets everything back from its clients`(
    isCopied: Bool
  ) async throws {
    let scratch = try Scratch()
    let served = try TrialReplica(.file, scratch.file("server.db"))
    let devices = try (0..<2).map { try TrialReplica(.file, scratch.file("\($0).db")) }
    try await FaultyProxy.running(before: 1) { proxy in
      try await TrialServer.running(served.store) { port in
        proxy.serverPort = port
        for n in 0..<20 { try await devices[0].films.save(["n": .int(Int64(n))], key: "\(n)") }
        for device in devices { try await sync(device, proxy) }
      }
      try served.back(up: isCopied)
      try await TrialServer.running(served.store) { port in
        proxy.serverPort = port
        for n in 0..<10 { try await devices[n % 2].films.update("\(n)", set: ["late": true]) }
        try await devices[1].films.delete("19")
        for device in devices + devices { try await sync(device, proxy) }
      }
      try served.restore()
      // Changes of the restored server, as many as it lost: clients must not take them for those they know.
      for n in 5..<17 { try await served.films.update("\(n)", set: ["again": true]) }
      try await TrialServer.running(served.store) { port in
        proxy.serverPort = port
        for device in devices + devices { try await sync(device, proxy) }
        for device in devices {
          #expect(try device.database.state() == served.database.state())
          for n in 0..<17 {
            let film = try await device.films.get("\(n)")
            #expect(film?["late"] == (n < 10 ? true : nil), "\(n)")
            #expect(film?["again"] == (n >= 5 ? true : nil), "\(n)")
          }
          #expect(try await device.films.get("19") == nil)
          try await sync(device, proxy)
          let status = try await sync(device, proxy)
          #expect((status.pulled, status.pushed, status.done) == (0, 0, 0))
        }
      }
    }
  }

  @Test func `A server that is restored while a client syncs continuously gets everything back`()
    async throws
  {
    let scratch = try Scratch()
    let served = try TrialReplica(.file, scratch.file("server.db"))
    let device = try TrialReplica(.file, scratch.file("a.db"))
    try await FaultyProxy.running(before: 1) { proxy in
      let sync = try device.store.replicate(
        ["films"], with: .url(proxy.url), options: NetworkSchedule.options)
      let impatience = Task {
        for await status in sync.updates where status.phase == .offline {
          try await Task.sleep(for: .milliseconds(20))
          sync.retry()
        }
      }
      defer { impatience.cancel() }
      @Sendable func arrives(_ key: String) async throws {
        for _ in 0..<2_000 {
          if try await served.films.get(key) != nil { return }
          try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("\(key) does not arrive")
      }
      try await TrialServer.running(served.store) { port in
        proxy.serverPort = port
        try await device.films.save(["n": 1], key: "a")
        try await arrives("a")
      }
      try served.back(up: true)
      try await TrialServer.running(served.store) { port in
        proxy.serverPort = port
        for key in ["b", "c", "d"] {
          try await device.films.save(["n": 1], key: key)
          try await arrives(key)
        }
      }
      try served.restore()
      for key in ["x", "y", "z"] { try await served.films.save(["n": 2], key: key) }
      try await TrialServer.running(served.store) { port in
        proxy.serverPort = port
        for key in ["b", "c", "d"] { try await arrives(key) }
        await sync.stop()
        _ = try await self.sync(device, proxy)
        #expect(try device.database.state() == served.database.state())
        #expect(try await device.films.count() == 7)
      }
    }
  }

  @Test func `Two copies of one file sync as two devices`() async throws {
    let scratch = try Scratch()
    let served = try TrialReplica(.memory, "")
    let device = try TrialReplica(.file, scratch.file("a.db"))
    try await TrialServer.running(served.store) { port in
      try await FaultyProxy.running(before: port) { proxy in
        for n in 0..<10 { try await device.films.save(["n": .int(Int64(n))], key: "\(n)") }
        try await sync(device, proxy)
        try device.back(up: true)
        try FileManager.default.copyItem(
          atPath: scratch.file("a.db-backup"), toPath: scratch.file("b.db"))
        let copy = try TrialReplica(.file, scratch.file("b.db"))
        for round in 0..<8 {
          for (index, replica) in [device, copy].enumerated() {
            try await replica.films.save(["round": .int(Int64(round))], key: "\(index)-\(round)")
            try await replica.films.update("\(round)", set: [FieldPath("by\(index)"): true])
          }
          for replica in [device, copy, device] { try await sync(replica, proxy) }
        }
        try await sync(copy, proxy)
        #expect(try device.database.state() == served.database.state())
        #expect(try copy.database.state() == served.database.state())
        #expect(try await served.films.count() == 26)
        #expect(try await served.films.find("[by0] = true and [by1] = true").count() == 8)
      }
    }
  }
}
