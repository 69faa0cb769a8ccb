// SPDX-License-Identifier: MIT

import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

@Suite("Ranks on a server", .postgres)
struct TextStatisticsTests {
  private static let words = ["gin", "tonic", "rum", "sloe", "fizz", "lime", "crème", "日本語"]

  private let configuration = Faults.configuration()
  private let store: Store
  private var notes: DocumentCollection { store["notes"] }

  init() throws { store = try TestDatabase.store(configuration) }

  private static func text(_ random: inout SplitMix) -> String {
    (0..<Int.random(in: 1...12, using: &random)).map { _ in
      words[Int.random(in: 0..<words.count, using: &random)]
    }.joined(separator: " ")
  }

  private func ranks(_ store: Store, _ query: String) throws -> [String] {
    try store["notes"].search(query).results().map {
      "\($0.document.key ?? "") \($0.rank)"
    }
  }

  /// Ranks in a store in memory with the same documents.
  private func expected(_ query: String) throws -> [String] {
    let memory = try Store.postgres(
      TestDatabase.url(), engine: Faults.configuration { $0.fieldOrder = .any })
    defer { try? memory.close() }
    try memory["notes"].createFullTextIndex("a", "b")
    for document in try notes.find().fetch() {
      try memory["notes"].insert(document)
    }
    return try ranks(memory, query)
  }

  private func sql(_ text: String) throws {
    try Faults.server().psql("SET search_path = \"\(configuration.schema)\"; " + text)
  }

  private func fill(_ count: Int, seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for number in 0..<count {
      try notes.save(
        ["a": .string(Self.text(&random)), "b": .string(Self.text(&random))], key: "\(number)")
    }
  }

  @Test("The numbers of documents and tokens are exact after writes of all kinds by many threads")
  func concurrent() throws {
    try notes.createFullTextIndex("a", "b")
    let (store, notes) = (store, notes)
    Faults.inThreads(8) { thread in
      #expect(throws: Never.self) {
        var random = SplitMix(seed: UInt64(thread))
        for round in 0..<20 {
          let key = "\(Int.random(in: 0..<30, using: &random))"
          let text = Self.text(&random)
          switch Int.random(in: 0..<6, using: &random) {
          case 0: try notes.delete(key)
          case 1: try notes.update(key, .set("a", .string(text)), upsert: true)
          case 2: try notes.update(key, .set("other", .int(Int64(round))), upsert: true)
          case 3:
            try notes.save(
              (0..<3).map { try Document(["b": .string(text)], key: "\(thread) \($0)") })
          case 4:
            try? store.write {
              try notes.save(["a": .string(text)], key: "rolled back \(thread)")
              throw StoreError(.invalidArgument, "rolled back")
            }
          default: try notes.save(["a": .string(text), "b": "gin"], key: key)
          }
        }
      }
    }
    #expect(try store.verify() == [])
    #expect(try ranks(store, "gin") == expected("gin"))
  }

  @Test("Ranks follow the commits of other programs")
  func others() throws {
    try notes.createFullTextIndex("a", "b")
    try fill(20, seed: 1)
    let other = try TestDatabase.store(configuration)
    defer { try? other.close() }
    var random = SplitMix(seed: 2)
    for round in 0..<15 {
      for query in ["gin", "gin tonic", "gin OR rum"] {
        // Twice, since the second search may use what the first one has counted.
        let fresh = try TestDatabase.store(configuration)
        #expect(try ranks(store, query) == ranks(fresh, query), "round \(round): \(query)")
        #expect(try ranks(store, query) == ranks(fresh, query), "round \(round): \(query)")
        try fresh.close()
      }
      switch round % 3 {
      case 0: try other["notes"].save(["a": .string(Self.text(&random))], key: "new \(round)")
      case 1: try other["notes"].delete("\(round)")
      // The same tokens in another order, and others.
      default: try other["notes"].update("0", set: ["b": .string(Self.text(&random))])
      }
    }
  }

  @Test("A transaction ranks by its own documents, and leaves nothing behind if it is rolled back")
  func transaction() throws {
    try notes.createFullTextIndex("a", "b")
    try fill(20, seed: 3)
    let before = try ranks(store, "gin tonic")
    var inside: [String] = []
    #expect(throws: StoreError.self) {
      try store.write {
        for number in 0..<10 { try notes.save(["a": "gin tonic tonic"], key: "new \(number)") }
        inside = try ranks(store, "gin tonic")
        throw StoreError(.invalidArgument, "rolled back")
      }
    }
    #expect(inside.count == before.count + 10)
    #expect(try ranks(store, "gin tonic") == before)
    for number in 0..<10 { try notes.save(["a": "gin tonic tonic"], key: "new \(number)") }
    #expect(try ranks(store, "gin tonic") == inside)
  }

  @Test("Documents and indexes that were stored without occurrences are ranked by their texts")
  func earlierVersion() throws {
    try notes.createFullTextIndex("a", "b")
    try fill(40, seed: 4)
    let queries = ["gin", "gin tonic", "rum OR sloe", "gin -rum", "\"gin tonic\" OR lime", "sl*"]
    let expected = try queries.map { try ranks(store, $0) }
    // What earlier versions stored: lexemes without positions, and no statistics.
    try sql(
      """
      DO $$ DECLARE c text; s text; BEGIN
        SELECT definition::jsonb ->> 'column', definition::jsonb ->> 'statistics' INTO c, s
          FROM nano_indexes WHERE kind = 'text';
        EXECUTE format('UPDATE notes SET %I = strip(%I) WHERE id %% 2 = 0', c, c);
      END $$;
      """)
    #expect(try queries.map { try ranks(store, $0) } == expected)
    try sql(
      """
      DO $$ DECLARE c text; s text; e text; BEGIN
        SELECT definition::jsonb ->> 'column', definition::jsonb ->> 'statistics' INTO c, s
          FROM nano_indexes WHERE kind = 'text';
        FOREACH e IN ARRAY ARRAY['insert', 'update', 'delete', 'truncate'] LOOP
          EXECUTE format('DROP TRIGGER %I ON notes', c || '_' || e);
        END LOOP;
        EXECUTE format('DROP TABLE %I', s);
        EXECUTE format('DROP FUNCTION %I()', s);
        UPDATE nano_indexes SET definition = (definition::jsonb - 'statistics')::text
          WHERE kind = 'text';
        UPDATE nano_collections SET generation = generation + 1;
      END $$;
      """)
    #expect(try queries.map { try ranks(store, $0) } == expected)
    try notes.rebuildIndexes()
    #expect(try queries.map { try ranks(store, $0) } == expected)
    #expect(try store.verify() == [])
    // The statistics are new, and kept.
    try notes.save(["a": "gin"], key: "last")
    #expect(try store.verify() == [])
    #expect(try notes.dropIndex("a_b_text"))
    try notes.delete("last")
    #expect(try store.verify() == [])
  }

  @Test("More occurrences of a word than the server can store are counted in the text")
  func manyOccurrences() throws {
    try notes.createFullTextIndex("a", "b")
    let many = Array(repeating: "gin", count: 9_000).joined(separator: " ")
    try notes.save(["a": .string(many)], key: "many")
    try notes.save(["a": "gin tonic"], key: "few")
    try notes.save(["a": "rum"], key: "none")
    let memory = try Store.postgres(
      TestDatabase.url(), engine: Faults.configuration { $0.layout = .partitions(2) })
    defer { try? memory.close() }
    for document in try notes.find().fetch() { try memory["notes"].insert(document) }
    try memory["notes"].createFullTextIndex("a", "b")
    let ranks = try ranks(store, "gin")
    #expect(ranks.count == 2)
    #expect(try self.ranks(memory, "gin") == ranks)
    #expect(try store.verify() == [])
  }

  @Test("Words that exceed the server's limit are refused, and nothing is stored")
  func manyWords() throws {
    try notes.createFullTextIndex("a")
    let words = (0..<120_000).map { "word\($0)" }.joined(separator: " ")
    #expect(
      Faults.code { try notes.save(["a": .string(words)], key: "large") } == .documentTooLarge)
    #expect(try notes.count() == 0)
    // An index on such documents is refused as a whole.
    try store["plain"].save(["a": .string(words)], key: "large")
    #expect(Faults.code { try store["plain"].createFullTextIndex("a") } == .documentTooLarge)
    #expect(try store["plain"].fullTextIndexes() == [])
    try store["plain"].save(["a": "few"], key: "large")
    try store["plain"].createFullTextIndex("a")
    #expect(try store["plain"].search("few").count() == 1)
  }

  @Test("Merging the statistics changes no rank")
  func merging() throws {
    try notes.createFullTextIndex("a", "b")
    try fill(30, seed: 5)
    let expected = try ["gin", "tonic rum"].map { try ranks(store, $0) }
    try store.compact()
    #expect(try ["gin", "tonic rum"].map { try ranks(store, $0) } == expected)
    #expect(try store.verify() == [])
  }

  @Test("Statistics that other programs have made wrong are reported, and rebuilt")
  func verification() throws {
    try notes.createFullTextIndex("a", "b")
    try fill(5, seed: 6)
    try sql(
      """
      DO $$ BEGIN EXECUTE (SELECT format('UPDATE %I SET tokens = tokens + 1',
        definition::jsonb ->> 'statistics') FROM nano_indexes WHERE kind = 'text'); END $$;
      """)
    #expect(
      try store.verify().map(\.message) == ["the statistics of text index a_b_text are wrong"])
    try notes.rebuildIndexes()
    #expect(try store.verify() == [])
    try sql("TRUNCATE notes")
    #expect(try store.verify() == [])
    #expect(try ranks(store, "gin") == [])
  }

  @Test(
    "A search while indexes are rebuilt has the ranks that it has before, and the rebuild goes on")
  func rebuilding() throws {
    let run = try Interleaving(2, .serializable) { store in
      try store["rebuilt"].createFullTextIndex("a")
      for text in ["rum", "gin rum fizz", "gin gin"] {
        try store["rebuilt"].save(["a": .string(text)])
      }
    }
    defer { run.end() }
    let expected = try run.observer["rebuilt"].search("gin").results().map(\.rank)
    try run[0].step { try $0["rebuilt"].rebuildIndexes() }
    // Readers that wait for the index hold the table, so no lock of it may wait for them.
    let locks = try run.observer.sql(
      """
      SELECT count(*) AS n FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation \
      WHERE c.relname = 'rebuilt' AND l.mode = 'AccessExclusiveLock'
      """)
    #expect(locks.first?["n"]?.int == 0)

    let search = try run[1].startAlone { try $0["rebuilt"].search("gin").results().map(\.rank) }
    try run[0].step { try $0["rebuilt"].rebuildIndexes() }
    #expect(try run[0].commit() == nil)
    #expect(try search.value() == expected)
    #expect(expected.allSatisfy { $0 > 0 })
    #expect(try run.observer.verify() == [])
  }

  @Test("An index of documents whose changes are tracked is no change")
  func tracked() throws {
    try notes.setChangeTracking(.on)
    try fill(5, seed: 7)
    let revisions = try notes.find().fetch().map(\.revision)
    try notes.createFullTextIndex("a", "b")
    try notes.rebuildIndexes()
    #expect(try notes.find().fetch().map(\.revision) == revisions)
    try notes.save(["a": "gin"], key: "0")
    #expect(try notes.get("0")?.revision != revisions[0])
  }

  @Test("Writes that wait for each other are indexed")
  func combined() async throws {
    try await notes.createFullTextIndex("a", "b")
    let notes = notes
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask { try await notes.save(["a": "gin \(number)"], key: "\(number % 32)") }
      }
      try await group.waitForAll()
    }
    #expect(try await notes.search("gin").count() == 32)
    let problems = try await Faults.onThread { [store] in try store.verify() }
    #expect(problems == [])
  }

  @Test("Results in another order have the ranks that they have in the order of ranks")
  func sortedRanks() throws {
    try notes.createFullTextIndex("a", "b")
    try fill(30, seed: 8)
    func ranks(_ query: DocumentQuery) throws -> [String: Double] {
      Dictionary(
        uniqueKeysWithValues: try query.results().map { ($0.document.key ?? "", $0.rank) })
    }
    #expect(try !ranks(notes.search("gin")).isEmpty)
    for query in ["gin", "gin tonic", "rum OR sloe", "gin -rum", "sl*", "\"gin tonic\" OR lime"] {
      let found = notes.search(query)
      let expected = try ranks(found)
      #expect(expected.values.allSatisfy { $0 > 0 }, "\(query)")
      #expect(try ranks(found.sorted(by: "a")) == expected, "\(query)")
      let inBlock = try store.write { try ranks(found.sorted(by: "a")) }
      #expect(inBlock == expected, "\(query)")
      let sorted = try found.sorted(by: "a").results()
      #expect(try sorted.compactMap(\.document.rowID) == found.sorted(by: "a").rowIDs(), "\(query)")
    }
  }

  @Test("A phrase of more words than the server accepts in a search is found")
  func longPhrase() throws {
    try notes.createFullTextIndex("a")
    let words = (0..<20_000).map { "w\($0)" }
    let phrase = words.joined(separator: " ")
    try notes.save(["a": .string(phrase)], key: "whole")
    try notes.save(["a": .string(words.dropLast().joined(separator: " ") + " x")], key: "almost")
    try notes.save(["a": .string(words.prefix(100).joined(separator: " "))], key: "beginning")
    #expect(try notes.search(FullTextQuery.phrase(phrase)).keys() == ["whole"])
    #expect(try notes.search(FullTextQuery.phrase(phrase)).count() == 1)
  }

  @Test("The document with the smallest row ID is indexed")
  func smallestRowID() throws {
    try notes.save(["a": "gin"], key: "first")
    try notes.save(["a": "gin"], key: "second")
    try sql("UPDATE notes SET id = -9223372036854775808 WHERE key = 'first'")
    try notes.createFullTextIndex("a")
    #expect(try notes.search("gin").keys() == ["first", "second"])
    #expect(try store.verify() == [])
  }
}
