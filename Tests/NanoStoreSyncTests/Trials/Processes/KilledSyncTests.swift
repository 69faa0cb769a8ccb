// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport
import NanoTesting
import Testing

@Suite(.sqlite) struct KilledSyncTests {
  /// Checks documents to which processes added a field and one to the counter in each transaction.
  private func check(_ database: SyncDatabase, _ output: [String]) throws {
    var tried: [String: Set<String>] = [:]
    for (key, field) in output.words("try") { tried[key, default: []].insert(field) }
    var acknowledged: [String: Set<String>] = [:]
    for (key, field) in output.words("ack") { acknowledged[key, default: []].insert(field) }
    for (key, fields) in tried {
      let object = try database.collection.get(key)?.object() ?? [:]
      let names = Set(object.names).subtracting(["n"])
      #expect(acknowledged[key, default: []].subtracting(names).isEmpty, "\(key)")
      #expect(names.subtracting(fields).isEmpty, "\(key)")
      #expect(object["n"]?.int64 ?? 0 == Int64(names.count), "\(key) was incremented otherwise")
    }
  }

  @Test func `A process that is killed while it writes and syncs loses nothing`() async throws {
    let scratch = try Scratch()
    let paths = ["a", "b"].map { scratch.file($0) }
    let served = try Store(.memory)
    var random = SplitMix(seed: TrialLimits.seed)
    let plans = (0..<TrialLimits.kills).map { _ in
      (lines: random.number(1...120), pause: Duration.microseconds(random.number(0...20_000)))
    }
    try await TrialServer.running(served) { port in
      try await FaultyProxy.running(before: port, rate: 0.05, seed: TrialLimits.seed) { proxy in
        var output: [String] = []
        for (number, plan) in plans.enumerated() where !TrialLimits.isOver {
          let process = try SyncProcess(
            paths[number % 2], url: proxy.url, name: "r\(number)_", count: 1_000)
          output += await process.output(
            killingWhen: { $1 >= plan.lines }, after: plan.pause)
        }
        proxy.rate = 0
        for path in paths + paths {
          let last = await (try SyncProcess(path, url: proxy.url, count: 0)).output()
          #expect(last.numbers("end")?.last == 0)
        }
        let databases =
          try [SyncDatabase(served["films"])]
          + paths.map { try SyncDatabase(try Store(.file($0))["films"]) }
        for database in databases {
          try check(database, output)
          #expect(try database.state() == databases[0].state())
          #expect(try await database.store.verify().isEmpty)
        }
      }
    }
  }

  @Test func `A process that is killed continues from its checkpoint`() async throws {
    let scratch = try Scratch()
    let path = scratch.file("a")
    let (total, batch) = (600, 20)
    try Store.file(path).using { store in
      try store.write {
        for number in 0..<total {
          try store["films"].save(["n": .int(Int64(number))], key: "f\(number)")
        }
      }
    }
    let served = try Store(.memory)
    try await TrialServer.running(served) { port in
      try await FaultyProxy.running(before: port) { proxy in
        var seen = 0
        for limit in [100, 150] {
          let process = try SyncProcess(path, url: proxy.url, count: 0, pulls: false)
          let output = await process.output(killingWhen: { line, _ in
            line.hasPrefix("done ") && Int(line.dropFirst(5)) ?? 0 >= limit
          })
          // Its last batch may have no checkpoint.
          seen += (output.numbers("done")?.first ?? 0) - batch
        }
        #expect(seen >= 200)
        let end = try #require(
          await (try SyncProcess(path, url: proxy.url, count: 0, pulls: false)).output()
            .numbers("end"))
        #expect(end[1] <= total - seen)
        #expect(end[2] <= total - seen)
        #expect(try await served["films"].count() == total)
        _ = await (try SyncProcess(path, url: proxy.url, count: 0)).output()
        let again = await (try SyncProcess(path, url: proxy.url, count: 0)).output()
        #expect(again.numbers("end") == [0, 0, 0, 0])
        let local = try SyncDatabase(try Store(.file(path))["films"])
        #expect(try local.state() == SyncDatabase(served["films"]).state())
      }
    }
  }

  @Test func `A server that is killed loses nothing, and clients continue`() async throws {
    let scratch = try Scratch()
    let path = scratch.file("server.db")
    let clients = try (0..<2).map { try TrialReplica(.file, scratch.file("\($0).db")) }
    var random = SplitMix(seed: TrialLimits.seed)
    let pauses = (0..<TrialLimits.kills).map { _ in Duration.milliseconds(random.number(20...400)) }
    try await FaultyProxy.running(before: 1) { proxy in
      let syncs = try clients.map {
        try $0.store.replicate(["films"], with: .url(proxy.url), options: NetworkSchedule.options)
      }
      let impatience = syncs.map { sync in
        Task {
          for await status in sync.updates where status.phase == .offline {
            try await Task.sleep(for: .milliseconds(20))
            sync.retry()
          }
        }
      }
      var number = 0
      for pause in pauses where !TrialLimits.isOver {
        let server = try await ServerProcess(path)
        proxy.serverPort = server.port
        let end = ContinuousClock.now + pause
        while ContinuousClock.now < end {
          for client in clients {
            number += 1
            let (key, field) = ("k\(number % 7)", "w\(number)")
            try await client.store.write {
              let n = try client.films.get(key)?["n"]?.int64 ?? 0
              var object = try client.films.get(key)?.object() ?? [:]
              object[field] = true
              object["n"] = .int(n + 1)
              try client.films.save(object, key: key)
            }
          }
          try await Task.sleep(for: .milliseconds(5))
        }
        server.kill()
      }
      for task in impatience { task.cancel() }
      for sync in syncs { await sync.stop() }
      let server = try await ServerProcess(path)
      proxy.serverPort = server.port
      for client in clients + clients {
        _ = try await client.store.replicate(
          ["films"], with: .url(proxy.url), mode: .once, options: NetworkSchedule.options
        ).finish()
      }
      server.kill()
      let served = try SyncDatabase(try Store(.file(path))["films"])
      for database in clients.map(\.database) + [served] {
        #expect(try database.state() == served.state())
        var sum: Int64 = 0
        for document in try await database.collection.find().fetch() {
          let object = try document.object()
          #expect(object["n"]?.int64 == Int64(object.names.count - 1))
          sum += object["n"]?.int64 ?? 0
        }
        #expect(sum == Int64(number))
        #expect(try await database.store.verify().isEmpty)
      }
    }
  }

  @Test func `Two processes that sync one file at once do not disturb each other`() async throws {
    let scratch = try Scratch()
    let path = scratch.file("shared")
    let served = try Store(.memory)
    try await TrialServer.running(served) { port in
      try await FaultyProxy.running(before: port, rate: 0.05, seed: TrialLimits.seed) { proxy in
        let outputs = try await withThrowingTaskGroup(of: [String].self) { group in
          for name in ["p", "q"] {
            group.addTask {
              await (try SyncProcess(path, url: proxy.url, name: name, count: 40)).output()
            }
          }
          // Another device changes the same documents in the meantime.
          group.addTask {
            await (try SyncProcess(path + "2", url: proxy.url, name: "r", count: 40)).output()
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        for output in outputs { #expect(output.words("ack").count == 40) }
        proxy.rate = 0
        for path in [path, path + "2", path] {
          let last = await (try SyncProcess(path, url: proxy.url, count: 0)).output()
          #expect(last.numbers("end")?.last == 0)
        }
        let databases =
          try [SyncDatabase(served["films"])]
          + [path, path + "2"].map { try SyncDatabase(try Store(.file($0))["films"]) }
        for database in databases {
          try check(database, outputs.flatMap(\.self))
          #expect(try database.state() == databases[0].state())
        }
      }
    }
  }
}

/// The program that serves a file.
private final class ServerProcess: Sendable {
  let port: Int
  private let process: SyncProcess

  struct NotReady: Error {}

  init(_ path: String) async throws {
    process = try SyncProcess("nanostore-server", [path, "--port", "0", "--manage-databases"])
    for await line in process.lines {
      guard let colon = line.lastIndex(of: ":"), line.hasSuffix("/"),
        let port = Int(line[line.index(after: colon)...].dropLast())
      else { continue }
      self.port = port
      return
    }
    throw NotReady()
  }

  func kill() { process.kill() }
}
