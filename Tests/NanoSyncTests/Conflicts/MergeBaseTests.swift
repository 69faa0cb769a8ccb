// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync
import Testing

@Suite struct MergeBaseTests {
  /// Stores a revision that another device made.
  ///
  /// - Parameters:
  ///   - path: The letters of the hashes of the revision and its ancestors, from the newest to the oldest.
  ///   - fields: More fields as JSON.
  private func add(_ path: String, _ fields: String, to database: SyncDatabase) throws {
    let hashes = path.map { "\"\(hash($0))\"" }
    let failures = try database.replicate(
      json: """
        {"_id":"x","_rev":"\(path.count)-\(hash(path.first ?? "0"))",\
        "_revisions":{"start":\(path.count),"ids":[\(hashes.joined(separator: ","))]},\(fields)}
        """)
    #expect(failures.isEmpty)
  }

  @Test func `What three versions in common have counted counts once`() throws {
    let database = try anyDatabase()
    try add("0", #""n":0"#, to: database)
    // Three devices count, two of them after they have seen what one has counted before.
    try add("10", #""n":1"#, to: database)
    try add("c10", #""n":2,"c":1"#, to: database)
    try add("a10", #""n":2,"a":1"#, to: database)
    try add("20", #""n":0,"y":1"#, to: database)
    try add("b20", #""n":1,"y":1,"b":1"#, to: database)
    // Two devices have merged all of that, each with its own revisions, and have counted one and two more.
    try add("ec10", #""n":5,"e":1"#, to: database)
    try add("dc10", #""n":6,"d":1"#, to: database)
    for (deletions, merged) in [("14", "e"), ("23", "d")] as [(String, Character)] {
      for (deletion, loser) in zip(deletions, ["b20", "a10"]) {
        try add(
          "\(deletion)\(loser)", #""_deleted":true,"$resolved":"4-\#(hash(merged))""#,
          to: database)
      }
    }
    var rules = ConflictRules()
    rules.counters = ["n"]
    _ = try database.resolve("x", by: rules)
    #expect(try database.conflictedIDs().isEmpty)
    #expect(try database.collection.get("x")?["n"] == 7)
  }
}
