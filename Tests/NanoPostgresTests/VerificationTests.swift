// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import Testing

/// What verification reports after another program has changed the tables.
@Suite("Verification on a server", .postgres)
struct VerificationTests {
  private let configuration = Faults.configuration()
  private let store: Store
  private var films: DocumentCollection { store["films"] }

  init() throws {
    store = try TestDatabase.store(configuration)
    try films.save(["title": "Alien", "year": 1979], key: "alien")
  }

  private func sql(_ text: String) throws {
    try Faults.server().psql("SET search_path = \"\(configuration.schema)\"; " + text)
  }

  private func messages() throws -> [String] { try store.verify().map(\.message) }

  @Test("A dropped index is reported until it is dropped in the store, too")
  func droppedIndex() throws {
    defer { try? store.close() }
    try films.createIndex("year")
    #expect(try messages() == [])

    try sql(
      """
      DO $$ DECLARE i text; BEGIN
        SELECT sql_name INTO i FROM nano_indexes;
        EXECUTE format('DROP INDEX %I', i);
      END $$;
      """)
    let found = try messages()
    #expect(found.count == 1)
    #expect(found.allSatisfy { $0.hasSuffix("is missing") })
    #expect(try films.dropIndex("year"))
    #expect(try messages() == [])
    try films.createIndex("year")
    #expect(try messages() == [])
    #expect(try films.find("[year] = 1979").keys() == ["alien"])
  }

  @Test("A disabled or dropped trigger of the feed, of expirations or of statistics is reported")
  func triggers() throws {
    defer { try? store.close() }
    try films.setChangeTracking(.on)
    try films.setExpiration(Date(timeIntervalSince1970: 4_000_000_000), of: "alien")
    try films.createFullTextIndex("title")
    #expect(try messages() == [])

    try sql("ALTER TABLE films DISABLE TRIGGER USER")
    let found = try messages()
    #expect(found.count == 9, "\(found)")
    #expect(found.allSatisfy { $0.hasSuffix("is missing or disabled") })
    try sql("ALTER TABLE films ENABLE TRIGGER USER")
    #expect(try messages() == [])
    try sql("DROP TRIGGER nano_feed_delete ON films")
    #expect(try messages() == ["the trigger nano_feed_delete is missing or disabled"])
  }

  @Test("Wrong tokens are reported, also if their number is right")
  func tokens() throws {
    defer { try? store.close() }
    try films.createFullTextIndex("title")
    #expect(try messages() == [])

    try sql(
      """
      DO $$ DECLARE c text; BEGIN
        SELECT definition::jsonb ->> 'column' INTO c FROM nano_indexes WHERE kind = 'text';
        EXECUTE format('UPDATE films SET %I = ''ran''::tsvector', c);
      END $$;
      """)
    #expect(try messages() == ["text index title_text does not match document 1"])
    try films.rebuildIndexes()
    #expect(try messages() == [])
  }
}
