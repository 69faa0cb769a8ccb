// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

@Suite struct InterruptedRuleTests {
  private func pull(
    _ a: SyncDatabase, from b: SyncDatabase, _ change: (inout ReplicationOptions) -> Void
  ) async throws -> SyncStatus {
    var options = ReplicationOptions()
    options.pushes = false
    change(&options)
    let status = StatusBox()
    try await Replication(a, with: LocalPeer(b), options, report: status.change).run()
    return status.value
  }

  @Test func `A deletion that was received but not applied wins with the next pull`() async throws {
    let (device, server) = (try anyDatabase(), try anyDatabase())
    try await server.collection.save(["n": 1], key: "x")
    _ = try await pull(device, from: server) { _ in }
    try await server.collection.delete("x")
    try await device.collection.update("x", set: ["n": 2])
    // As a pull with the rule leaves it that ends before the rule is applied. The filter has a checkpoint of its own.
    _ = try await pull(device, from: server) { $0.pullFilter = .ids(["x"]) }
    #expect(try await device.collection.get("x")?["n"] == 2)

    let status = try await pull(device, from: server) { $0.rules.deletions = .deletionWins }

    #expect(status.resolved == 1)
    #expect(try await device.collection.get("x") == nil)
  }

  @Test(arguments: [.max, .max - 1, -1, .min] as [Int64])
  func `A checkpoint of another program can have any number of saves`(saves: Int64) async throws {
    let (device, server) = (try anyDatabase(), try anyDatabase())
    try await server.collection.save(["n": 1], key: "x")
    _ = try await pull(device, from: server) { _ in }
    for database in [device, server] {
      for name in try database.localIDs() {
        var body = try #require(try database.local(name)?.body)
        body["saves"] = .int(saves)
        try database.setLocal(name, body)
      }
    }
    try await server.collection.save(["n": 2], key: "y")

    #expect(try await pull(device, from: server) { _ in }.pulled == 1)
    #expect(try await pull(device, from: server) { _ in }.pulled == 0)
  }
}
