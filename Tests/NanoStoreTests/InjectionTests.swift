// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

/// A store with a collection that no hostile string may affect.
private struct Target {
  let store: Store
  private let schema: SQLResult

  init() throws {
    store = try anyStore()
    let victim = store["victim"]
    try victim.createIndex("n", unique: true)
    try victim.createFullTextIndex("text")
    try victim.insert(["n": 1, "text": "first", "tags": ["x"]], key: "one")
    try victim.insert(["n": 2, "text": "second", "tags": ["y"]], key: "two")
    try store.setMetadata(["kept": true], "kept")
    let bag = Bag(name: "kept", in: store)
    try bag.add(Document(["n": 1], key: "member"), in: "members")
    try bag.save()
    schema = try Self.schema(of: store)
  }

  private static func schema(of store: Store) throws -> SQLResult {
    try store.sql("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")
  }

  /// Expects that existing data is unchanged, and that nothing else exists unless it was to be created.
  func expectUnharmed(_ what: String, created: Bool) throws {
    let now = try Self.schema(of: store)
    if created {
      #expect(Set(schema).isSubset(of: Set(now)), "\(what) changed the schema")
    } else {
      #expect(schema == now, "\(what) changed the schema")
    }
    let documents = try store["victim"].find().sorted(by: "n").fetch()
    #expect(documents.compactMap(\.key) == ["one", "two"], "\(what)")
    #expect(
      try documents.map { try $0.object() } == [
        ["n": 1, "text": "first", "tags": ["x"]], ["n": 2, "text": "second", "tags": ["y"]],
      ], "\(what)")
    #expect(try store.metadata("kept") == ["kept": true], "\(what)")
    #expect(try store.bags(named: "kept").count == 1, "\(what)")
    let integrity = try store.sql("PRAGMA integrity_check").first?.values.first
    #expect(integrity == "ok", "\(what)")
  }
}

/// Expects the string to be read back exactly, byte for byte.
private func expectSame(_ a: String?, _ b: String, _ what: String) {
  #expect(a.map { $0.utf8.elementsEqual(b.utf8) } == true, "\(what): \(b.debugDescription)")
}

private func expect(_ holds: Bool) { #expect(holds) }

@Suite("Hostile strings")
struct InjectionTests {
  /// Error codes of a rejected string; an SQL error is never among them.
  private static let rejectionCodes: Set<StoreError.Code> = [
    .invalidPath, .invalidQuery, .invalidArgument, .invalidKey, .invalidName, .unsupported,
    .notPermitted, .alreadyExists, .notFound,
  ]

  private func attempt(_ what: String, _ text: String, _ work: () throws -> Void) {
    do {
      try work()
    } catch let error as StoreError {
      #expect(
        Self.rejectionCodes.contains(error.code),
        "\(what) \(text.debugDescription): \(error.debugDescription)")
    } catch {
      Issue.record("\(what) \(text.debugDescription): \(error)")
    }
  }

  @Test("A hostile string in a query changes nothing", .sqlite, arguments: HostileStrings.all)
  func queries(text: String) throws {
    let target = try Target()
    let victim = target.store["victim"]
    let path = FieldPath(text)
    let literal = FieldPath(components: [text])
    let queries: [(String, () throws -> Void)] = [
      ("query text", { _ = try victim.find(text).fetch() }),
      ("literal in query text", { _ = try victim.find("[n] = '\(text)'").fetch() }),
      ("field in query text", { _ = try victim.find("[\(text)] = 1").fetch() }),
      ("argument", { expect(try victim.find("[text] = ?", text).count() == 0) }),
      ("name of an argument", { _ = try victim.find("[n] = :a", named: [text: 1]).fetch() }),
      ("path", { _ = try victim.find(Field(path) == 1).fetch() }),
      ("literal path", { _ = try victim.find(Field(literal) == 1).fetch() }),
      ("value", { expect(try victim.find(Field("text") == text).count() == 0) }),
      ("pattern", { _ = try victim.find(Field("text").like(text)).fetch() }),
      ("glob", { _ = try victim.find(Field("text").glob(text)).fetch() }),
      ("regular expression", { _ = try victim.find(Field("text").regexp(text)).fetch() }),
      ("order", { _ = try victim.find().sorted(by: text).fetch() }),
      ("literal order", { _ = try victim.find().sorted(by: [Ordering(literal)]).fetch() }),
      ("order as text", { _ = try victim.find().sorted(byText: text).fetch() }),
      ("selection", { _ = try victim.find().select(text).fetch() }),
      ("literal selection", { _ = try victim.find().select([literal]).fetch() }),
      ("group", { _ = try victim.find().grouped(by: text, aggregates: [.count]) }),
      ("minimum", { _ = try victim.find().min(text) }),
      ("total", { _ = try victim.find().sum(text) }),
      ("distinct", { _ = try victim.find().distinct(text) }),
      ("text query", { _ = try victim.search(text).fetch() }),
      ("ranked text query", { _ = try victim.search(text).ranked().results() }),
      ("phrase", { _ = try victim.search(.phrase(text)).fetch() }),
      ("part of a text", { _ = try victim.search(.part(text, .anywhere)).fetch() }),
      ("near", { _ = try victim.search(.near([text, "x"], distance: 2)).fetch() }),
      ("text index", { _ = try victim.search("first", in: text).fetch() }),
      ("expression", { _ = try victim.search(FullTextQuery(bnrExpression: text)).fetch() }),
      ("weight", { _ = try victim.search("first").ranked(weights: [text: 2]).results() }),
      ("key", { if text != "one", text != "two" { expect(try victim.get(text) == nil) } }),
      ("keys", { _ = try victim.get(keys: [text, "one"]) }),
      ("search", { _ = try Search(attribute: text, value: .string(text)).documents(in: victim) }),
      ("search by key", { _ = try Search(key: text).documents(in: victim) }),
      ("search by class", { _ = try Search(type: text).documents(in: victim) }),
      ("search in order", { _ = try Search(orderings: [SearchOrdering(text)]).keys(in: victim) }),
      ("search of fields", { _ = try Search(fields: [text]).documents(in: victim) }),
      ("explanation", { _ = try victim.find(Field(path) == .string(text)).explain() }),
      ("bag", { if text != "kept" { expect(try target.store.bags(named: text).isEmpty) } }),
      ("key of a bag", { _ = try target.store.bag(key: text) }),
      ("member of a bag", { _ = try target.store.bags(containingKey: text, in: text) }),
      ("metadata", { if text != "kept" { expect(try target.store.metadata(text) == nil) } }),
      ("collection", { _ = try target.store[text].find(Field("n") == 1).fetch() }),
      ("types of a collection", { _ = try target.store[text].observedPaths() }),
      ("index", { expect(try victim.dropIndex(text) == false) }),
      ("value of SQL", { _ = try target.store.sql("SELECT ?", text) }),
    ]
    for (what, work) in queries { attempt(what, text, work) }
    try target.expectUnharmed(text.debugDescription, created: false)
    #expect(try target.store.verify().isEmpty)
  }

  @Test(
    "A hostile string in stored content is read back exactly or rejected", .sqlite,
    arguments: HostileStrings.all)
  func contents(text: String) throws {
    let target = try Target()
    let store = target.store
    let other = store["other"]
    let name = FieldPath(components: [text])
    attempt("value and field", text) {
      try other.save(
        DocumentObject([(text, .string(text)), ("v", .array([.string(text)]))]), key: "k")
      guard text != DocumentObject.rowIDName else { return }
      let document = try #require(try other.get("k"))
      expectSame(document[name]?.string, text, "value")
      expectSame(try document.object().first?.name, text, "field")
      if !text.isEmpty, !text.utf8.contains(0) {
        #expect(try other.find(Field(name) == text).keys() == ["k"], "\(text.debugDescription)")
      }
      #expect(try other.find(Field("v") == text).keys() == ["k"])
    }
    attempt("key", text) {
      try other.save(["n": 1], key: text)
      expectSame(try other.get(text)?.key, text, "key")
      #expect(try other.delete(text))
    }
    attempt("class", text) {
      try other.save(Document(["n": 1], key: "typed", type: text))
      expectSame(try other.get("typed")?.type, text, "class")
      #expect(try Search(type: text).keys(in: other) == ["typed"])
    }
    attempt("default", text) {
      try other.setDefaults(DocumentObject([(text, .string(text))]))
      expectSame(try other.defaults()[text]?.string, text, "default")
      _ = try other.find(Field(name) == text).count()
    }
    attempt("alias", text) {
      try other.setAliases([text: text])
      expectSame(try other.aliases()[text], text, "alias")
      _ = try other.find(text).count()
    }
    attempt("queryable field", text) { try other.addQueryableFields(text) }
    attempt("update", text) { try other.update("k", set: [name: .string(text)]) }
    attempt("update of many", text) { _ = try other.find().update(set: [name: .string(text)]) }
    attempt("metadata", text) {
      try store.setMetadata(.string(text), text)
      expectSame(try store.metadata(text)?.string, text, "metadata")
      #expect(try store.metadataNames().contains(text))
    }
    attempt("bag", text) {
      let bag = Bag(name: text, in: store)
      try bag.add(Document(["n": 1], key: "in the bag"), in: "other")
      try bag.save()
      expectSame(try store.bag(key: bag.key)?.name, text, "bag")
    }
    try target.expectUnharmed(text.debugDescription, created: true)
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "A hostile string as an index or collection name is used exactly or rejected", .sqlite,
    arguments: HostileStrings.all)
  func names(text: String) throws {
    let target = try Target()
    let store = target.store
    let other = store["other"]
    try other.save(["n": 1, "tags": ["a"], "text": "gin"], key: "k")
    attempt("index of a field", text) {
      let index = try other.createIndex(text)
      _ = try other.find(Field(text) == 1).count()
      #expect(try other.dropIndex(index.name))
    }
    attempt("unique index on elements", text) {
      let index = try other.createIndex(text, unique: true, elements: true)
      #expect(try other.dropIndex(index.name))
    }
    attempt("index as text", text) { try other.createIndex(keys: text) }
    attempt("named index", text) {
      try other.createIndex("n", name: text)
      #expect(try other.indexes().contains { $0.name.utf8.elementsEqual(text.utf8) })
      #expect(try other.find(Field("n") == 1).keys() == ["k"])
      #expect(try other.dropIndex(text))
    }
    attempt("text index of a field", text) {
      let index = try other.createFullTextIndex(text)
      #expect(try other.dropIndex(index.name))
    }
    attempt("named text index", text) {
      try other.createFullTextIndex("text", name: text)
      #expect(try other.search("gin", in: text).keys() == ["k"])
      #expect(try other.dropIndex(text))
    }
    attempt("collection", text) {
      guard text.lowercased() != "victim" else { return }
      let created = store[text]
      try created.save(["n": 1, "tags": ["a"], "text": "gin"], key: "k")
      try created.createIndex("n", unique: true)
      try created.createIndex("tags", unique: true, elements: true)
      try created.createFullTextIndex("text")
      #expect(try created.find(Field("tags") == "a" && Field("n") == 1).keys() == ["k"])
      #expect(try created.search("gin").keys() == ["k"])
      #expect(try store.collections().contains { $0.name.utf8.elementsEqual(text.utf8) })
      #expect(try store.verify().isEmpty)
      #expect(try created.drop())
    }
    attempt("setup", text) {
      guard text.lowercased() != "victim" else { return }
      try store.apply(
        StoreSetup(collections: [text: CollectionSetup(indexes: [text], textIndexes: [text])]))
      _ = try store[text].drop()
    }
    try target.expectUnharmed(text.debugDescription, created: true)
    #expect(try store.verify().isEmpty)
  }

  @Test("A hostile string as a file name names exactly that file", arguments: HostileStrings.all)
  func files(text: String) throws {
    // Other characters change the folder; a leading `~` is documented to mean the home folder.
    guard !text.contains("/"), !text.contains(".."), !text.hasPrefix("~"), !text.isEmpty,
      text != "."
    else { return }
    let scratch = try Scratch()
    let path = scratch.file(text)
    attempt("file", text) {
      do {
        let store = try Store.file(path)
        try store["a"].save(["n": 1], key: "k")
        try store.backup(to: scratch.file("backup " + text))
        try store.close()
      } catch let error as StoreError where error.code == .cannotOpen { return }
      #expect(try Store.file(path)["a"].get("k")?["n"] == 1)
      #expect(try Store.file(scratch.file("backup " + text))["a"].get("k")?["n"] == 1)
    }
    let names = try scratch.names
    #expect(
      names.allSatisfy { $0.utf8.starts(with: text.utf8) || $0.utf8.starts(with: "backup ".utf8) },
      "\(names.debugDescription)")
    #expect(!names.contains("owned"))
  }
}
