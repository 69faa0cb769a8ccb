// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

/// Every command exits with a result or an error, whatever the internal tables contain.
@Suite("Commands on files with damaged internal tables", .timeLimit(.minutes(10)))
struct DamagedTablesTests {
  let command: CommandRunner
  private var path: String { command.folder.appending(path: "s.db").path }

  init() throws {
    command = try CommandRunner()
    let store = try Store(.file(command.folder.appending(path: "s.db").path))
    for name in ["films_a", "films_b", "caf\u{E9}", "cafe\u{301}"] {
      try store[name].createIndex("n")
      try store[name].createIndex("tags", elements: true)
      try store[name].createFullTextIndex("t")
      try store[name].save(["n": 1, "t": "word", "tags": ["x"], "o": ["p": 1]], key: "k")
    }
    try store.setMetadata(1, "m")
    try store.close()
  }

  private static let reading = [
    ["collections", "s.db"], ["stats", "s.db", "--json"], ["verify", "s.db"],
    ["find", "s.db", "films_a", "[n] = 1"], ["find", "s.db", "films_b", "--csv"],
    ["get", "s.db", "films_a", "k"], ["schema", "s.db", "films_a"],
    ["search", "s.db", "films_a", "word"], ["aggregate", "s.db", "films_a", "--group", "n"],
    ["explain", "s.db", "films_a", "[n] = 1"], ["export", "s.db", "films_a"],
    ["index", "list", "s.db", "films_a"], ["index", "export", "s.db"], ["index", "advise", "s.db"],
    ["recover", "s.db", "r.db", "--force"], ["copy", "s.db", "c.db"],
  ]
  private static let writing = [
    ["put", "s.db", "films_a", "new", #"{"x":{"y":{"z":1}},"w":[{"v":1}]}"#],
    ["index", "s.db", "films_b", "o.p"], ["index", "advise", "s.db", "--apply"],
    ["compact", "s.db"], ["delete", "s.db", "films_a", "--all"],
  ]

  /// Runs all commands and returns the outcome of each.
  @discardableResult
  private func runAll(_ damage: String) throws -> [String: CommandRunner.Outcome] {
    var outcomes: [String: CommandRunner.Outcome] = [:]
    for arguments in Self.reading + Self.writing {
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(at: command.folder.appending(path: "c.db" + suffix))
      }
      let outcome = try command.run(arguments, environment: ["SWIFT_BACKTRACE": "enable=no"])
      outcomes[arguments[0]] = outcome
      // Noise can change the name of the collection or the key. `get` then finds no document.
      let accepted: [Int32] = arguments[0] == "get" ? [0, 1, 2] : [0, 1]
      #expect(
        accepted.contains(outcome.status), "\(damage): \(arguments): \(outcome.diagnostics)")
      if outcome.status != 0 {
        #expect(outcome.diagnostics.contains("error: "), "\(damage): \(arguments)")
      }
    }
    return outcomes
  }

  private func rootPage(of table: String) throws -> Int {
    let found = try command.run(
      "sql", "s.db", "SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'", "--csv")
    return try #require(found.lines.last.flatMap { Int($0) })
  }

  /// Modifies the root page of a small table.
  private func change(_ table: String, _ change: (inout Data) -> Void) throws {
    let page = try rootPage(of: table)
    var file = try Data(contentsOf: URL(filePath: path))
    let range = (page - 1) * 4096..<page * 4096
    var bytes = Data(file[range])
    change(&bytes)
    file.replaceSubrange(range, with: bytes.prefix(4096))
    try file.write(to: URL(filePath: path))
  }

  @Test("Two collections with the same name are an error that names the table")
  func duplicates() throws {
    try change("nano_collections") { page in
      guard let range = page.range(of: Data("films_b".utf8)) else { return }
      page.replaceSubrange(range, with: Data("films_a".utf8))
    }
    let outcomes = try runAll("two rows of one name")
    for name in ["collections", "stats", "verify"] {
      let outcome = try #require(outcomes[name])
      #expect(outcome.status == 1)
      #expect((outcome.output + outcome.diagnostics).contains("nano_collections"), "\(name)")
    }
  }

  @Test("A collection name that is not text is an error that names the table")
  func names() throws {
    let changed = try command.run(
      "sql", "s.db", "--write", "--internal",
      "UPDATE nano_collections SET name = x'ff00' WHERE name = 'films_b'")
    #expect(changed.status == 0, "\(changed.diagnostics)")
    let outcomes = try runAll("a name of bytes")
    #expect(outcomes["collections"]?.diagnostics.contains("nano_collections") == true)
  }

  @Test(
    "No command crashes on a page with rows of a different table, noise or zeros",
    arguments: ["nano_collections", "nano_indexes", "nano_paths", "nano_metadata"])
  func pages(table: String) throws {
    let whole = try Data(contentsOf: URL(filePath: path))
    var random = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: .min ... .max, using: &random)
    var noise = seed
    func next() -> UInt8 {
      noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: noise >> 33)
    }
    let others = [table == "nano_collections" ? "nano_indexes" : "nano_collections"]
    var changes: [(String, (inout Data) -> Void)] = []
    for other in others {
      let page = try rootPage(of: other)
      let content = Data(whole[(page - 1) * 4096..<page * 4096])
      changes.append(("the page of \(other)", { $0 = content }))
    }
    changes.append(("zeros", { $0 = Data(repeating: 0, count: 4096) }))
    changes.append(
      (
        "some noise \(seed)",
        { page in for _ in 0..<40 { page[Int(next()) * 16 + Int(next() & 15)] = next() } }
      ))
    for (name, work) in changes {
      try change(table, work)
      try runAll("\(table): \(name)")
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
      try whole.write(to: URL(filePath: path))
    }
  }
}
