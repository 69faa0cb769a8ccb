// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

/// Change feeds of files: writes of other programs, backups, copies and replaced files.
@Suite("Change feeds of files", .sqlite)
struct FeedFileTests {
  private let scratch: Scratch
  private let store: Store
  private let films: DocumentCollection

  init() throws {
    scratch = try Scratch()
    store = try Store.file(scratch.file("a.db"))
    films = store["films"]
    for number in 0..<5 as Range<Int64> { try films.save(["n": .int(number)], key: "\(number)") }
    try films.setChangeTracking(.on)
  }

  private static func values(_ films: DocumentCollection) throws -> [Int64: Int64] {
    var values: [Int64: Int64] = [:]
    for document in try films.find().fetch() {
      values[document.rowID!] = try Follower.value(of: document)
    }
    return values
  }

  private func expectCurrent(
    _ follower: Follower, _ location: SourceLocation = #_sourceLocation
  ) throws {
    try follower.catchUp(films)
    #expect(try follower.values == Self.values(films), sourceLocation: location)
  }

  private func shell(_ sql: String) throws { try scratch.shell("a.db", sql) }

  @Test("SQL of every kind is in the feed")
  func sql() throws {
    let follower = Follower()
    try follower.catchUp(films)
    let statements = [
      #"INSERT INTO films(key, body) VALUES ('sql', '{"n":100}')"#,
      #"INSERT INTO films(key, body) SELECT 'many ' || key, body FROM films"#,
      #"UPDATE films SET body = '{"n":200}' WHERE key = 'sql'"#,
      #"UPDATE films SET body = json_set(body, '$.n', 7) WHERE id % 2"#,
      #"INSERT OR REPLACE INTO films(id, key, body) VALUES (2, '1', '{"n":300}')"#,
      #"INSERT OR IGNORE INTO films(key, body) VALUES ('sql', '{"n":400}')"#,
      "UPDATE films SET id = 99 WHERE id = 3",
      "UPDATE films SET key = 'renamed' WHERE id = 4",
      "DELETE FROM films WHERE id = 5",
      "DELETE FROM films WHERE id > 7",
    ]
    for statement in statements {
      try store.execute(statement)
      try expectCurrent(follower)
      try films.save(["n": 1], key: "between")
    }
    #expect(follower.resets == [])
    #expect(follower.deletedKeys.contains("2") && follower.deletedKeys.contains("4"))
    try store.execute("DELETE FROM films")
    try expectCurrent(follower)
    #expect(follower.values.isEmpty)
    #expect(try store.verify() == [])
  }

  @Test("The last changed row, replaced under its ID, is reported again")
  func replacedLast() throws {
    let follower = Follower()
    for number in 0..<10 as Range<Int64> { try films.save(["n": .int(number)], key: "0") }
    try expectCurrent(follower)
    try store.execute(#"INSERT OR REPLACE INTO films(id, key, body) VALUES (1, '0', '{"n":55}')"#)
    try expectCurrent(follower)
    // SQLite deletes the row that it replaces without running triggers, and its number is assigned again.
    try films.save(["n": 77], key: "4")
    try expectCurrent(follower)
    #expect(follower.resets == [.restored])
  }

  @Test("A row to which SQLite gives the ID of a deleted one is reported after the deletion")
  func reusedRowID() throws {
    let follower = Follower()
    try store.execute(#"INSERT INTO films(key, body) VALUES ('x', '{"n":100}')"#)
    try expectCurrent(follower)
    try store.execute("DELETE FROM films WHERE key = 'x'")
    try store.execute(#"INSERT INTO films(key, body) VALUES ('z', '{"n":200}')"#)
    try expectCurrent(follower)
    #expect(follower.deletedKeys.contains("x"))
    #expect(follower.values.values.contains(200))
    // Again, although the reader has passed the number of the first deletion.
    try store.execute("DELETE FROM films WHERE key = 'z'")
    try expectCurrent(follower)
    #expect(follower.deletedKeys.contains("z"))
    try store.execute(#"INSERT INTO films(key, body) VALUES ('w', '{"n":300}')"#)
    try expectCurrent(follower)
    guard case .entries(let page, _, _) = try films.changes(since: nil, withDocuments: true)
    else { throw CancellationError() }
    #expect(page.filter(\.isDeleted).map(\.key) == ["z"])
    #expect(page.allSatisfy { !$0.isDeleted || $0.document == nil })
    // A store adopts the row, which then has a later number.
    try films.save(["n": 1], key: "0")
    try expectCurrent(follower)
    #expect(follower.resets == [])
    let late = Follower()
    try expectCurrent(late)
    #expect(late.deletedKeys.isEmpty)
  }

  private func entries(since position: FeedPosition?, limit: Int = 100) throws -> (
    [FeedEntry], FeedPosition
  ) {
    guard case .entries(let entries, let next, _) = try films.changes(since: position, limit: limit)
    else { throw CancellationError() }
    return (entries, next)
  }

  @Test("Entries are in the order of the changes, however they were made")
  func order() throws {
    let (_, start) = try entries(since: nil)
    try films.insert(["n": 1])
    try films.save(["n": 2], key: "3")
    try films.insert((0..<30).map { ["n": .int($0)] as DocumentObject })
    try films.delete("2")
    try films.save(["n": 3], key: "new")
    try store.write {
      try films.save(["n": 4], key: "1")
      try films.insert(["n": 5])
    }
    let (new, next) = try entries(since: start)
    #expect(new.first?.revision == 1)
    #expect(new[1].key == "3" && new[2...31].allSatisfy { $0.revision == 1 })
    #expect(new[32].isDeleted && new[33].key == "new" && new[34].key == "1" && new.count == 36)
    #expect(zip(new, new.dropFirst()).allSatisfy { $0.position < $1.position })
    #expect(new.last?.position == next)
    for (index, entry) in new.enumerated() {
      #expect(try entries(since: entry.position).0.count == new.count - 1 - index)
    }
  }

  @Test(
    "Documents that another program inserts are read once, also page by page, and again when a store adopts them"
  )
  func foreign() throws {
    let (_, start) = try entries(since: nil)
    try films.save(["n": 1], key: "0")
    try store.execute(
      "INSERT INTO films(key, body) SELECT 'sql ' || key, body FROM films WHERE key <> '4'")
    var position = start
    var keys: [String?] = []
    for _ in 0..<6 {
      let (page, next) = try entries(since: position, limit: 1)
      keys += page.map(\.key)
      position = next
    }
    #expect(keys == ["0", "sql 0", "sql 1", "sql 2", "sql 3"])
    #expect(FeedPosition(position.description) == position)
    #expect(try entries(since: position).0.isEmpty)
    try store.execute("INSERT INTO films(id, key, body) VALUES (-5, 'before', '{}')")
    #expect(try entries(since: position).0.first?.key == "before")
    try films.save(["n": 2], key: "4")
    let (adopted, end) = try entries(since: position)
    #expect(Set(adopted.map(\.key)) == ["before", "sql 0", "sql 1", "sql 2", "sql 3", "4"])
    #expect(try entries(since: end).0.isEmpty)
    try store.execute("INSERT INTO films(key, body) VALUES ('damaged', '{\"a\":1,\"a\":2}')")
    try films.save(["n": 3], key: "4")
    let (_, afterDamaged) = try entries(since: end)
    try films.save(["n": 4], key: "4")
    #expect(try entries(since: afterDamaged).0.map(\.key) == ["4"])
  }

  @Test(
    "A change after the adoption of a row that is rewritten comes after it",
    arguments: [
      #"INSERT INTO films(key, body) VALUES ('77', '{"n": 100}')"#,
      #"INSERT INTO films(key, body) VALUES (77, '{"n":100}')"#,
      #"INSERT INTO films(key, body, added) VALUES (77, '{"n":100}', 'today')"#,
    ])
  func rewritten(statement: String) throws {
    let (_, start) = try entries(since: nil)
    try store.execute(statement)
    // Adopts the row.
    try films.delete("missing")
    let (adopted, next) = try entries(since: start)
    #expect(adopted.map(\.key) == ["77"])

    try films.update("0", set: ["n": 9])

    #expect(try entries(since: next).0.map(\.key) == ["0"])
    #expect(try films.delete("77"))
    #expect(try store.verify() == [])
  }

  @Test("Row IDs that the caller chooses, small and the largest ones, are in order")
  func chosenRowIDs() throws {
    let follower = Follower()
    try follower.catchUp(films)
    for number in 0..<20 as Range<Int64> { try films.save(["n": .int(number)], key: "0") }
    try expectCurrent(follower)
    for id in [9, 4_000, 10, .max, .max - 1, -4] as [Int64] {
      try store.execute(
        "INSERT INTO films(id, key, revision, body) VALUES (?, ?, NULL, '{\"n\":1}')", id, "\(id)")
      try films.insert(["n": 3])
      try films.save(["n": 2], key: "1")
      try films.save(["n": 2], key: "after \(id)")
      try expectCurrent(follower)
      try films.delete(rowID: id)
      try films.insert(["n": 4])
      try expectCurrent(follower)
    }
    #expect(follower.resets == [])
    #expect(try store.verify() == [])
  }

  @Test("Documents with negative and large row IDs from before tracking are in the feed")
  func earlierRowIDs() throws {
    let other = store["other"]
    try other.insert(["n": 1])
    for id in [-7, -1, 0, .max] as [Int64] {
      try store.execute("INSERT INTO other(id, body) VALUES (?, '{\"n\":2}')", id)
    }

    try other.setChangeTracking(.on)

    let follower = Follower()
    try follower.catchUp(other, limit: 2)
    #expect(follower.values == [-7: 2, -1: 2, 0: 2, 1: 1, Int64.max: 2])
    try other.insert(["n": 3])
    try follower.catchUp(other)
    #expect(try follower.values == Self.values(other) && follower.resets == [])
    #expect(try store.verify() == [])
  }

  @Test(
    "A position after which there are no numbers makes writes throw an error, until it is corrected",
    arguments: ["9223372036854775807", "100.5"])
  func wrongPosition(value: String) throws {
    try store.execute("UPDATE films SET position = \(value) WHERE id = 2")

    let thrown = try #require(error { try films.save(["n": 1], key: "0") })

    #expect(thrown.code == .corruptFile)
    #expect(thrown[.collection] == "films" && thrown[.column] == "position")
    try store.execute("UPDATE films SET position = NULL WHERE id = 2")
    try films.save(["n": 1], key: "0")
    try expectCurrent(Follower())
    #expect(try store.verify() == [])
  }

  @Test("A file with a feed is refused by versions of the library that do not know it")
  func format() throws {
    #expect(try store.statistics().settings["user_version"] == "2")
  }

  @Test("A file of format 1 is upgraded by its first feed, whose positions stay valid afterwards")
  func upgraded() throws {
    let old = try Store.file(scratch.file("old.db"))
    for number in 0..<5 as Range<Int64> {
      try old["films"].save(["n": .int(number)], key: "\(number)")
    }
    try old["films"].update("1", set: ["n": 10])
    try old["films"].delete("2")
    #expect(try old.statistics().settings["user_version"] == "1")
    try old.close()

    let store = try Store.file(scratch.file("old.db"))
    try store["films"].setChangeTracking(.on)
    #expect(try store.statistics().settings["user_version"] == "2")
    let follower = Follower()
    try follower.catchUp(store["films"])
    #expect(try follower.values == Self.values(store["films"]))
    try store["films"].save(["n": 11], key: "3")
    try store["others"].setChangeTracking(.on)
    try store["others"].setChangeTracking(.off)
    try store.close()

    let reopened = try Store.file(scratch.file("old.db"))
    try reopened["films"].delete("4")
    try follower.catchUp(reopened["films"])
    #expect(follower.resets == [])
    #expect(try follower.values == Self.values(reopened["films"]))
    #expect(follower.deletedKeys == ["4"])
    #expect(try reopened.verify() == [])
  }

  @Test("A shell writes while a loop follows", .enabled(if: Self.hasShell, "no sqlite3 shell"))
  func otherProcess() async throws {
    let loop = Task {
      let follower = Follower()
      for try await event in films.changeFeed(since: nil, withDocuments: true) {
        try follower.apply(event)
        if follower.values.count == 5, follower.deletedKeys.isEmpty, follower.values[1] == 0 {
          try shell(
            #"DELETE FROM films WHERE key = '3'; UPDATE films SET body = '{"n":9}' WHERE id = 1"#)
        }
        if follower.deletedKeys == ["3"], follower.values[1] == 9 { break }
      }
      return follower.values.count
    }
    #expect(try await loop.value == 4)
  }

  private static let hasShell = ["/usr/bin/sqlite3", "/opt/homebrew/bin/sqlite3"].contains {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(
    "Positions stay valid after reopening, compacting, index changes and turning tracking on again")
  func valid() throws {
    let follower = Follower()
    try follower.catchUp(films)
    try films.save(["n": 10], key: "new")
    try films.createIndex("n")
    try films.setIndexing(.everything)
    try films.setChangeTracking(.on)
    try store.compact()
    try store.close()
    let reopened = try Store.file(scratch.file("a.db"))["films"]
    try reopened.delete("0")
    let before = follower.values.count
    try follower.catchUp(reopened)
    #expect(follower.resets == [] && follower.values.count == before)
    #expect(try follower.values == Self.values(reopened))
    #expect(try reopened.store.verify() == [])
  }

  @Test(
    "A store that is restored from a backup resets its readers, also those from before the backup")
  func backup() throws {
    let early = Follower()
    try early.catchUp(films)
    try store.backup(to: scratch.file("b.db"))
    let late = Follower()
    try films.save(["n": 10], key: "after the backup")
    try late.catchUp(films)

    let restored = try Store.file(scratch.file("b.db"))["films"]
    try restored.save(["n": 11], key: "after the restore")
    for follower in [early, late] {
      try follower.catchUp(restored)
      #expect(follower.resets == [.restored])
      #expect(try follower.values == Self.values(restored))
    }
    try expectCurrent(Follower())
    #expect(try restored.store.verify() == [])
  }

  @Test("A file that was replaced by an older copy resets readers that have seen more")
  func olderCopy() throws {
    try store.close()
    let (file, copy) = (scratch.file("a.db"), scratch.file("c.db"))
    try FileManager.default.copyItem(atPath: file, toPath: copy)
    let follower = Follower()
    try Store.file(file).close()
    do {
      let films = try Store.file(file)["films"]
      for number in 0..<3 as Range<Int64> { try films.save(["n": .int(number)], key: "x") }
      try follower.catchUp(films)
      try films.store.close()
    }
    let older = try Store.file(copy)["films"]
    try follower.catchUp(older)
    #expect(follower.resets == [.restored])
    #expect(try follower.values == Self.values(older))
  }

  @Test("A copy has the same feed: readers continue, with the same positions")
  func copy() throws {
    try films.delete("1")
    let follower = Follower()
    try follower.catchUp(films)
    try films.delete("2")
    try films.save(["n": 50], key: "3")

    let other = try Store.file(scratch.file("d.db"))
    #expect(try store.copy(to: other).isEqual)
    let copied = other["films"]
    try copied.save(["n": 60], key: "4")
    try follower.catchUp(copied)
    #expect(follower.resets == [] && follower.deletedKeys == ["1", "2"])
    #expect(try follower.values == Self.values(copied))
    #expect(try other.verify() == [])
  }

  @Test("Rebuilding the indexes renews triggers of an earlier version, and the feed continues")
  func formerTriggers() throws {
    let follower = Follower()
    try follower.catchUp(films)
    try shell(
      """
      DROP TRIGGER nano_feed_films_delete;
      CREATE TRIGGER nano_feed_films_delete AFTER DELETE ON films BEGIN SELECT 1; END;
      """)
    #expect(
      try store.verify().map(\.message)
        == ["the trigger nano_feed_films_delete differs from the store's definition"])
    try films.rebuildIndexes()
    #expect(try store.verify() == [])
    try shell("DELETE FROM films WHERE key = '2'")
    try expectCurrent(follower)
    #expect(follower.deletedKeys == ["2"] && follower.resets == [])
  }

  @Test("A setup turns tracking on")
  func setup() throws {
    let setup = try CollectionSetup(["changeTracking": "on"])
    let other = store["other"]
    try other.apply(setup)
    #expect(try other.changeTracking() == .on)
    #expect(setup.object == ["changeTracking": "on"])
    #expect(throws: StoreError.self) { try CollectionSetup(["changeTracking": "maybe"]) }
  }

  @Test("Random writes of the store and of SQL are read by other stores that continue at any time")
  func random() throws {
    let follower = Follower()
    try follower.catchUp(films)
    var random = SplitMix(seed: 4)
    for _ in 0..<300 {
      let key = "\(Int.random(in: 0..<10, using: &random))"
      switch Int.random(in: 0..<6, using: &random) {
      case 0: try films.delete(key)
      case 1: try store.execute("DELETE FROM films WHERE key = ?", key)
      case 2:
        try store.execute(
          #"INSERT OR REPLACE INTO films(key, body) VALUES (?, '{"n":1}')"#, "own " + key)
      case 3:
        try store.execute(
          #"UPDATE films SET body = '{"n":2}' WHERE key >= ?"#, key)
      case 4:
        try? store.write {
          try films.save(["n": 3], key: key)
          if Bool.random(using: &random) { throw CancellationError() }
        }
      default: try films.save(["n": .int(Int64.random(in: 0..<9, using: &random))], key: key)
      }
      if Int.random(in: 0..<5, using: &random) == 0 {
        let other = try Store.file(scratch.file("a.db"))["films"]
        try follower.catchUp(other, limit: Int.random(in: 1...5, using: &random))
        try other.store.close()
        // Rows that another program replaced under a different ID leave no tombstone.
        let known = follower.values.filter { try! films.get(rowID: $0.key) != nil }
        #expect(try known == Self.values(films))
      }
    }
  }
}
