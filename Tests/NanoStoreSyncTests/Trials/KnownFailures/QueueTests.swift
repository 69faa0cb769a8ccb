// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport
import Testing

/// Failures that other synchronizing stores were known for: what waits for transfer is lost or sent forever.
@Suite struct QueueTests {
  private func once(
    _ store: Store, _ target: SyncTarget, _ direction: SyncDirection = .both, batch: Int = 500
  ) async throws -> SyncStatus {
    var options = SyncOptions()
    options.batchDocuments = batch
    let sync = try store.replicate(
      ["films"], with: target, direction: direction, mode: .once, options: options)
    let impatience = Task {
      for await status in sync.updates where status.phase == .offline { sync.retry() }
    }
    defer { impatience.cancel() }
    return try await sync.finish()
  }

  @Test(arguments: [
    ProxyFault.status(500), .status(503), .status(429), .refuse, .cutRequest(0.5), .cutAnswer(30),
    .cutAnswer(300), .lostAnswer, .late(.milliseconds(20)),
  ])
  func `Pending uploads are not dropped after a transient error`(_ fault: ProxyFault) async throws {
    let (device, served) = (try anyStore(), try anyStore())
    for n in 0..<30 { try await device["films"].save(["n": .int(Int64(n))], key: "\(n)") }
    try await TrialServer.running(served) { port in
      try await FaultyProxy.running(before: port) { proxy in
        // Three attempts that fail in other places.
        proxy.plan([.delay(.zero), .delay(.zero), .delay(.zero), fault])
        proxy.plan(Array(repeating: .delay(.zero), count: 9) + [fault])
        proxy.plan(Array(repeating: .delay(.zero), count: 14) + [fault])
        let status = try await once(device, .url(proxy.url), .push, batch: 7)
        #expect(status.failures.isEmpty)
        #expect(try await served["films"].count() == 30)
        let again = try await once(device, .url(proxy.url), .push)
        #expect((again.pushed, again.done) == (0, 0))
      }
    }
  }

  @Test func `Changes that are written while the server cannot be reached arrive later`()
    async throws
  {
    let (device, served) = (try anyStore(), try anyStore())
    try await TrialServer.running(served) { port in
      try await FaultyProxy.running(before: port, rate: 1) { proxy in
        proxy.plan(Array(repeating: .refuse, count: 5))
        let sync = try device.replicate(["films"], with: .url(proxy.url))
        for await status in sync.updates where status.phase == .offline { break }
        for n in 0..<30 { try await device["films"].save(["n": .int(Int64(n))], key: "\(n)") }
        proxy.rate = 0
        for _ in 0..<40_000 where try await served["films"].count() < 30 {
          sync.retry()
          try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await served["films"].count() == 30)
        await sync.stop()
      }
    }
  }

  @Test(.sqlite) func `A local record that cannot be decoded does not empty the queue`()
    async throws
  {
    let scratch = try Scratch()
    let (device, other) = (try Store.file(scratch.file("a.db")), try anyStore())
    try await device.enableSync(for: ["films"])
    for n in 0..<9 { try await device["films"].save(["n": .int(Int64(n))], key: "\(n)") }
    try scratch.shell(
      "a.db",
      """
      UPDATE films SET body = '{"_n":4}' WHERE key = '4';
      UPDATE films SET body = '{"n":' WHERE key = '6';
      """)
    let status = try await once(device, .store(other), batch: 2)
    #expect(try await other["films"].count() == 7)
    #expect(Set(status.failures.map(\.key)) == ["4", "6"])
    // What comes after it is transferred, too, and it when it is repaired.
    try await device["films"].save(["n": 9], key: "9")
    try scratch.shell(
      "a.db", #"UPDATE films SET body = '{"n":' || key || '}' WHERE key IN ('4', '6')"#)
    #expect(try await once(device, .store(other), batch: 2).failures.isEmpty)
    #expect(try await other["films"].count() == 10)
    #expect(try await other["films"].get("6")?["n"] == 6)
  }

  @Test func `A remote record that cannot be decoded does not empty the queue`() async throws {
    let isRepaired = Flag()
    try await ScriptedServer.serving { request in
      let rest = request.path.dropFirst("/films".count)
      switch (request.method, rest) {
      case ("GET", "/_changes"):
        let since = request.query["since"] ?? "0"
        let rows = (1...3).map { #"{"seq":\#($0),"id":"f\#($0)","changes":[{"rev":"1-a"}]}"# }
        return .json(
          200, #"{"results":[\#(since == "0" ? rows.joined(separator: ",") : "")],"last_seq":3}"#)
      case ("POST", "/_changes"):
        return .json(
          200, #"{"results":[{"seq":2,"id":"f2","changes":[{"rev":"1-a"}]}],"last_seq":3}"#)
      case ("POST", "/_bulk_get"):
        let ids = request.json["docs"]?.array?.compactMap { $0.object?["id"]?.string } ?? []
        let rows = ids.map { id in
          let damage = id == "f2" && !isRepaired.isSet ? #","_revisions":7,"_attachments":[1]"# : ""
          return #"{"id":"\#(id)","docs":[{"ok":{"_id":"\#(id)","_rev":"1-a","n":1\#(damage)}}]}"#
        }
        return .json(200, #"{"results":[\#(rows.joined(separator: ","))]}"#)
      case ("PUT", _): return .json(201, #"{"ok":true,"rev":"0-1"}"#)
      case (_, "/"), (_, ""): return .json(200, #"{"db_name":"films","update_seq":3}"#)
      default: return .missing
      }
    } while: { server in
      let device = try anyStore()
      let status = try await once(device, .url(server.url), .pull)
      #expect(status.failures.map(\.key) == ["f2"])
      #expect(try await device["films"].count() == 2)
      isRepaired.set()
      #expect(try await once(device, .url(server.url), .pull).failures.isEmpty)
      #expect(try await device["films"].count() == 3)
    }
  }

  @Test(arguments: [SyncDirection.push, .pull])
  func `A document whose attachment has no content does not empty the queue`(
    _ direction: SyncDirection
  ) async throws {
    let (device, served, content) = (try anyStore(), try anyStore(), Data("hello".utf8))
    let (source, target) = direction == .push ? (device, served) : (served, device)
    let attachment = try await anyStore().addAttachment(.data(content), contentType: "text/plain")
    let document: DocumentObject = [Attachment.field: ["a": attachment.documentValue]]
    try await source["films"].save(document, key: "x")
    try await source["films"].save(["n": 1], key: "y")
    try await TrialServer.running(served) { port in
      let server = SyncTarget.url("http://127.0.0.1:\(port)")
      #expect(try await once(device, server, direction).failures.map(\.key) == ["x"])
      #expect(try await target["films"].find().keys() == ["y"])
      _ = try await source.addAttachment(.data(content), contentType: "text/plain")
      try await source["films"].save(document, key: "x")
      #expect(try await once(device, server, direction).failures.isEmpty)
      #expect(try await target["films"].attachments(of: "x").data("a") == content)
    }
  }

  @Test func `Deletion and insertion of one key in one batch leave the inserted document`()
    async throws
  {
    let (device, served) = (try anyStore(), try anyStore())
    try await TrialServer.running(served) { port in
      try await FaultyProxy.running(before: port) { proxy in
        for key in ["a", "b", "c"] { try await device["films"].save(["old": true], key: key) }
        _ = try await once(device, .url(proxy.url))
        try await device.write {
          let films = device["films"]
          try films.delete("a")
          try films.insert(["new": true], key: "a")
          try films.delete("b")
          try films.insert(["newer": true], key: "b")
          try films.delete("b")
          try films.delete("c")
          try films.insert(["old": true], key: "c")
          try films.insert(["new": true], key: "d")
          try films.delete("d")
        }
        _ = try await once(device, .url(proxy.url))
        for store in [device, served] {
          let films = store["films"]
          #expect(try await films.get("a")?.object() == ["new": true])
          #expect(try await films.get("b") == nil)
          #expect(try await films.get("c")?.object() == ["old": true])
          #expect(try await films.get("d") == nil)
        }
        // The same between two synchronizations, as two batches of the other side.
        try await served["films"].delete("a")
        try await served["films"].insert(["newest": true], key: "a")
        _ = try await once(device, .url(proxy.url), batch: 1)
        #expect(try await device["films"].get("a")?.object() == ["newest": true])
        #expect(
          try SyncDatabase(device["films"]).state() == SyncDatabase(served["films"]).state())
      }
    }
  }

  @Test func `Stores in a ring do not send each other's changes forever`() async throws {
    let stores = try (0..<3).map { _ in try anyStore() }
    let syncs = try stores.indices.map {
      try stores[$0].replicate(["films"], with: .store(stores[($0 + 1) % 3]))
    }
    var writes = 0
    func arrive() async throws {
      for _ in 0..<40_000 {
        if try stores.allSatisfy({ try $0["films"].count() == writes }) { return }
        try await Task.sleep(for: .milliseconds(5))
      }
      Issue.record("The documents do not arrive")
    }
    for round in 0..<5 {
      for (index, store) in stores.enumerated() {
        try await store["films"].save(["n": .int(Int64(round))], key: "\(index)-\(round)")
        writes += 1
      }
      try await arrive()
    }
    for sync in syncs { await sync.stop() }
    // Each document reaches each of the two other stores once, or twice at the same time from both sides.
    let transferred = syncs.reduce(0) { $0 + $1.status.pulled + $1.status.pushed }
    #expect((2 * writes...4 * writes).contains(transferred))
    for store in stores {
      let state = try SyncDatabase(store["films"]).state()
      #expect(state.values.allSatisfy { $0.leaves.count == 1 && $0.leaves[0].hasPrefix("1-") })
    }
  }

  @Test func `An edit of one field is not undone by a newer edit of another field`()
    async throws
  {
    let (device, other) = (try anyStore(), try anyStore())
    try await device["films"].save(["title": "Alien", "seen": false, "plays": 1], key: "x")
    _ = try await once(device, .store(other))
    try await device["films"].update("x", set: ["seen": true])
    for n in 2..<9 {
      try await other["films"].update("x", set: ["plays": .int(Int64(n))])
      _ = try SyncDatabase(other["films"]).state()
    }
    let status = try await once(device, .store(other))
    #expect(status.overridden.isEmpty)
    for store in [device, other] {
      #expect(
        try await store["films"].get("x")?.object()
          == ["title": "Alien", "seen": true, "plays": 8])
    }
  }
}
