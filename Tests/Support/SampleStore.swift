// SPDX-License-Identifier: MIT

import Foundation
public import NanoStore

/// A store with every kind of content that the file format supports, and its description as text.
public enum SampleStore {
  /// Fills a new store.
  ///
  /// - Parameter isPlain: False for an encrypted store, which does not support these indexes.
  public static func fill(_ store: Store, isPlain: Bool = true) throws {
    try fillValues(store["values"])
    try fillFilms(store["films"], isPlain)
    try store.createCollection("log", identity: .rowID)
    try store["log"].insert(
      (0..<40).map { ["n": .int($0), "even": .bool($0 % 2 == 0)] })
    try store["log"].find(Field("n") >= 38).delete()
    if isPlain {
      try store["everything"].insert(["a": ["b": [1, "two", ["deep": 3.5]]]], key: "one")
      try store["everything"].setIndexing(.everything)
      try store["everything"].insert(["a": ["b": [2, "two"]]], key: "two")
    }
    let bag = try store.bag(named: "favourites")
    try bag.add(try store["films"].get(keys: ["ran", "brazil"]))
    let outer = Bag(name: "outer", in: store)
    try bag.save()
    try outer.add(bag)
    try outer.save()
    try store.setMetadata(["x": [1, 2.5, nil]], "entry")
    try store.setMetadata("é", "text")
  }

  private static func fillValues(_ values: DocumentCollection) throws {
    let long = String(repeating: "long ", count: 4_000)
    try values.insert(
      [
        "null": nil, "true": true, "int": .int(.min), "large": .int(.max), "double": 0.1,
        "whole": 2.0, "minus zero": -0.0, "not a number": .double(.nan),
        "infinite": .double(-.infinity), "text": "quote \" slash / \u{1} \u{2028} 😀 e\u{301}",
        "date": .date(Date(timeIntervalSinceReferenceDate: 800_000_000.123456)),
        "data": .data(Data([0, 255, 7])), "list": [1, ["nested": []], []], "empty": [:],
        "$dollar": "escaped", "a.b": "point", "": "no name", "long": .string(long),
      ], key: "all")
    if let url = URL(string: "https://example.org/a?b=c#d") {
      try values.insert(["url": .url(url)])
    }
    try values.insert(["key": "a UUID"], key: "0199A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B")
    try values.insert(["key": "a text like a UUID"], key: "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b x")
    try values.write(.insert, key: try DocumentKey("typed"), type: "Person", version: 3) {
      $0.object(["name": "Ada"])
    }
  }

  private static func fillFilms(_ films: DocumentCollection, _ isPlain: Bool) throws {
    try films.insert(
      ["title": "Ran", "year": 1985, "genres": ["drama", "war"], "code": "r-1"], key: "ran")
    if isPlain {
      try films.createIndex("year", "-title", elements: false)
      try films.createIndex("genres", elements: true)
      try films.createIndex("code", unique: true, elements: false)
      try films.createFullTextIndex("title", "plot")
      try films.createFullTextIndex("title", tokens: .substrings)
    }
    try films.setDefaults(["rating": 5])
    try films.setAliases(["released": "[year]"])
    try films.insert(
      ["title": "Brazil", "year": 1985, "genres": ["comedy"], "code": "b-1", "plot": "A fly"],
      key: "brazil")
    try films.insert(["title": "Red Desert", "year": 1964, "code": "d-1"], key: "desert")
  }

  /// Returns the content of a store and the results of its indexes. The description is the same for the same content.
  public static func description(of store: Store) throws -> DocumentObject {
    var collections = DocumentObject()
    for collection in try store.collections().map(\.name).sorted() {
      collections[collection] = .object(try description(of: store[collection]))
    }
    var bags = DocumentObject()
    for bag in try store.bags() {
      let members = try bag.members()
      bags[bag.name ?? ""] = .array(
        members.map { $0.isBag ? "a bag" : .string($0.key ?? "\($0.rowID ?? 0)") })
    }
    var metadata = DocumentObject()
    for name in try store.metadataNames().sorted() { metadata[name] = try store.metadata(name) }
    return [
      "collections": .object(collections), "bags": .object(bags), "metadata": .object(metadata),
    ]
  }

  private static func description(of collection: DocumentCollection) throws -> DocumentObject {
    let documents = try collection.fetch().map { document in
      DocumentValue.object([
        "rowID": document.rowID.map { .int($0) } ?? nil,
        // A generated key differs each time.
        "key": document.key.map { $0.hasPrefix("0199") || $0.count < 30 ? .string($0) : "made" }
          ?? nil,
        "type": document.type.map { .string($0) } ?? nil,
        "version": document.version.map { .int($0) } ?? nil,
        "fields": .object(try document.object()),
      ])
    }
    let indexes = try collection.indexes().map(\.name) + collection.fullTextIndexes().map(\.name)
    var description: DocumentObject = [
      "documents": .array(documents), "indexes": .array(indexes.sorted().map { .string($0) }),
      "indexing": .string(try collection.indexing().rawValue),
      "defaults": .object(try collection.defaults()),
      "aliases": .object(
        DocumentObject(try collection.aliases().map { ($0.key, .string($0.value)) })),
      "paths": .array(
        try collection.observedPaths().map { .string($0.path) }.sorted { "\($0)" < "\($1)" }),
    ]
    guard collection.name == "films", !indexes.isEmpty else { return description }
    description["found"] = .array(
      [
        try collection.find(Field("genres") == "war").keys(),
        try collection.find("[released] = 1985 ORDER BY [title]").keys(),
        try collection.find(Field("code") == "d-1").keys(),
        try collection.search("fly", in: "title_plot_text").keys(),
        try collection.search("esert", in: "title_substrings").keys(),
        try collection.find(Field("rating") == 5).keys(),
      ].map { .array($0.sorted().map { .string($0) }) })
    return description
  }
}
