// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineConformance {
  static let collections: [Check] = [
    Check("A collection that does not exist is empty, and reading does not create it") { probe in
      let key = try DocumentKey("k")
      try probe.read { reader in
        try expect(try !reader.get(.key(key), in: "x") { _ in }, "get")
        try expectEqual(try reader.ids(in: "x"), [], "find")
        try expectEqual(try reader.count(Query(), in: "x"), 0, "count")
        let rows = try reader.aggregate(AggregateQuery(aggregates: [.count]), in: "x")
        try expectEqual(rows, [AggregateRow(group: [], values: [.int(0)])], "aggregate")
        let groups = try reader.aggregate(
          AggregateQuery(groups: ["a"], aggregates: [.count]), in: "x")
        try expectEqual(groups, [], "groups")
        try expectEqual(try reader.distinct("a", Query(), in: "x"), [], "distinct")
        let search = Query(.search("a", in: "i"))
        try expectEqual(try reader.ids(search, in: "x"), [], "search")
        try expectEqual(try reader.count(search, in: "x"), 0, "count of a search")
        _ = try reader.explain(Query(), in: "x")
        try expectEqual(try reader.indexes(in: "x"), [], "indexes")
        try expectEqual(try reader.observedPaths(in: "x"), [], "paths")
        try expectEqual(try reader.identity(of: "x"), .key, "identity")
      }
      try probe.write { writer in
        try expect(try !writer.delete(.rowID(1), from: "x"), "delete")
        try expectEqual(try writer.delete(Query(), from: "x"), 0, "delete by query")
        let replaced = try GeneratedDocument([:]).new {
          try writer.replace(.key(key), with: $0, in: "x")
        }
        try expect(!replaced, "replace")
        try expect(try !writer.dropIndex("i", in: "x"), "drop index")
        try expectEqual(try writer.dropIndexes(in: "x"), 0, "drop indexes")
        try expect(try !writer.dropCollection("x"), "drop collection")
      }
      try expectEqual(try probe.read { try $0.collections() }, [], "collections")
    },
    Check("The first write creates a collection with key identity") { probe in
      try probe.insert([:], into: "b")
      try probe.write { try $0.createCollection(CollectionDescription(name: "a")) }
      let expected = [CollectionDescription(name: "a"), CollectionDescription(name: "b")]
      try expectEqual(try probe.read { try $0.collections() }, expected, "collections")
    },
    Check("A collection with row ID identity accepts documents with and without a key") { probe in
      let description = CollectionDescription(name: "c", identity: .rowID)
      try probe.write { try $0.createCollection(description) }
      try expectEqual(try probe.read { try $0.identity(of: "c") }, .rowID, "identity")
      let ids = try probe.write { [try $0.insert([:]), try $0.insert([:]), try $0.save([:])] }
      try expectEqual(Set(ids).count, 3, "row IDs")
      let keyed = try probe.write { try $0.save(["n": 1], key: "k") }
      try expectEqual(try probe.write { try $0.save(["n": 2], key: "k") }, keyed, "save by key")
      try expectEqual(try probe.read { try $0.collections() }, [description], "collections")
    },
    Check("Inserting several documents at once is equivalent to inserting them in order") { probe in
      let key = try DocumentKey("k")
      let documents = (0..<NewDocument.batchSize).map { n in
        GeneratedDocument(["n": .int(Int64(n))], key: n == 0 ? key : nil)
      }
      let ids = try probe.write { writer in
        var ids = [try writer.insert(["n": -1])]
        try writer.insert(all: documents, &ids)
        try writer.insert(all: Array(documents.dropFirst()), &ids)
        try expectError(.duplicateKey, "a duplicate of the first document") {
          try writer.insert(all: documents.reversed(), &ids)
        }
        return ids
      }
      try expectEqual(ids.count, 3 * NewDocument.batchSize - 1, "row IDs")
      try expectEqual(ids, ids.sorted(), "order of the row IDs")
      let last = try probe.read { try $0.document(.rowID(ids[ids.count - 1])) }
      try expectEqual(last?.body, #"{"n":1}"#, "the last document before the rejected one")
      try expectEqual(last?.revision, 1, "revision of the last document")
      let count = try probe.read { try $0.count(Query(), in: "c") }
      try expectEqual(count, ids.count, "documents")
    },
    Check("Creating an existing collection requires the same identity") { probe in
      try probe.write { writer in
        try writer.createCollection(CollectionDescription(name: "c"))
        try writer.createCollection(CollectionDescription(name: "c"))
        try expectError(.alreadyExists, "a different identity") {
          try writer.createCollection(CollectionDescription(name: "c", identity: .rowID))
        }
      }
    },
    Check("Many collections are created at once, except those that exist") { probe in
      let names = (0..<200).map { "many \($0)" }
      let existing = CollectionDescription(name: "MANY 7")
      try probe.write { writer in
        try writer.createCollection(existing)
        _ = try writer.insert(["n": 1], into: existing.name)
        try writer.createCollections((names + ["Many 3"]).map { CollectionDescription(name: $0) })
        try expectEqual(try writer.count(Query(), in: "many 7"), 1, "documents")
        _ = try writer.insert(["n": 2], into: "many 199")
      }
      _ = try probe.insert(["n": 3], into: "many 199")
      _ = try probe.insert(["n": 4], into: "many 0")
      let expected = names.map { $0 == "many 7" ? existing.name : $0 }.sorted {
        $0.lowercased() < $1.lowercased()
      }
      try expectEqual(try probe.read { try $0.collections() }.map(\.name), expected, "collections")
      try expectEqual(try probe.ids(in: "many 199").count, 2, "documents of the last one")
      try expectEqual(try probe.ids(in: "many 0").count, 1, "documents of the first one")
    },
    Check("If many collections are rolled back, none exists") { probe in
      let many = (0..<200).map { CollectionDescription(name: "many \($0)") }
      let other = CollectionDescription(name: "MANY 150", identity: .rowID)
      try probe.write { writer in
        try writer.createCollection(other)
        try expectError(.alreadyExists, "a different identity") {
          try writer.savepoint { try writer.createCollections(many) }
        }
        struct Undo: Error {}
        do {
          try writer.savepoint {
            _ = try writer.dropCollection(other.name)
            try writer.createCollections(many)
            throw Undo()
          }
        } catch is Undo {}
        try expectEqual(try writer.collections(), [other], "collections")
        _ = try writer.insert(["n": 1], into: other.name)
      }
      try expectEqual(try probe.read { try $0.collections() }, [other], "collections")
      try expectEqual(try probe.ids(in: other.name).count, 1, "documents")
    },
    Check("Reserved and invalid collection names are rejected") { probe in
      for name in ["", "nano_x", "a\u{0}b"] {
        try expectError(.invalidName, "collection \(name.debugDescription)") {
          try probe.write { try $0.createCollection(CollectionDescription(name: name)) }
        }
        try expectError(.invalidName, "insert into \(name.debugDescription)") {
          try probe.insert([:], into: name)
        }
      }
      try expectEqual(try probe.read { try $0.collections() }, [], "collections")
    },
    Check("Internal collections are created only by an explicit internal description") { probe in
      let internals = InternalCollection.allCases + [.revisions(of: "Films")]
      for internalCollection in internals {
        let name = internalCollection.rawValue
        try expectError(.invalidName, "insert into \(name)") { try probe.insert([:], into: name) }
        let plain = CollectionDescription(name: name, identity: internalCollection.identity)
        try expectError(.invalidName, "create \(name)") {
          try probe.write { try $0.createCollection(plain) }
        }
        try probe.write { try $0.createCollection(internalCollection.description) }
        _ = try probe.insert([:], key: "k", into: name)
      }
      let unknown = CollectionDescription(name: "nano_other", isInternal: true)
      try expectError(.invalidName, "an unknown internal name") {
        try probe.write { try $0.createCollection(unknown) }
      }
      let expected = internals.map(\.description).sorted { $0.name < $1.name }
      try expectEqual(try probe.read { try $0.collections() }, expected, "collections")
      let other = InternalCollection.revisions(of: "FILMS").rawValue
      try expectEqual(try probe.ids(in: other).count, 1, "documents under another spelling")
    },
    Check("Collection and index names may contain characters that require quoting") { probe in
      let names = [
        "a b", "it's", #"say "x""#, "select", "ключ", "a.b", "%", "[a]", "a;b--", "x\"\u{301}y",
        "x'\u{301}y", "\u{301}", "x.\u{301}y",
        "x]\u{301}y",
      ]
      for name in names {
        try probe.insert(["n": 1], key: "k", into: name)
        let index = IndexDefinition(name: name, columns: [.init("n")])
        try probe.write { try $0.createIndex(index, in: name) }
        let one = Query(.comparison(.field("n"), .equal, .value(.int(1))))
        try expectEqual(try probe.ids(one, in: name).count, 1, "documents of \(name)")
        try expectEqual(
          try probe.write { try $0.delete(one, from: name) }, 1, "deleted from \(name)")
      }
      try expectEqual(
        try probe.read { try $0.collections() }.count, names.count, "collections")
    },
    Check("Dropping a collection removes its documents and indexes") { probe in
      try probe.insert(["a": 1], key: "k")
      let index = IndexDefinition(columns: [.init("a")], isUnique: probe.has(.uniqueIndexes))
      try probe.write { try $0.createIndex(index, in: "c") }
      try probe.insert(["a": 1], into: "other")
      try expect(try probe.write { try $0.dropCollection("c") }, "dropped")
      try probe.read { reader in
        try expectEqual(try reader.collections().map(\.name), ["other"], "collections")
        try expectEqual(try reader.ids(), [], "documents")
        try expectEqual(try reader.indexes(in: "c"), [], "indexes")
        try expectEqual(try reader.observedPaths(in: "c"), [], "paths")
      }
      try probe.write { writer in
        try writer.insert(["a": [1]], key: "k")
        try writer.insert(["a": [1]])
      }
      try expectEqual(try probe.ids().count, 2, "documents of the new collection")
    },
    Check("A transaction sees the paths that its documents added") { probe in
      try probe.insert(["old": 1])
      let paths = try probe.write { writer in
        try writer.insert(["new": [], "x'\u{301}": "text"])
        return try writer.observedPaths(in: "c").map(\.path)
      }
      for path in ["new", "old", "x'\u{301}"] {
        try expect(paths.contains(path), "\(path) is not among \(paths)")
      }
    },
    Check("The paths of documents are observed with their types") { probe in
      try probe.insert(["a": ["b": 1], "l": [["n": "x"], 2.5], "z": nil])
      try probe.insert(["a": ["b": "text"], "$d": ["x.y": true]])
      let paths = try probe.read { try $0.observedPaths(in: "c") }
      let found = Dictionary(uniqueKeysWithValues: paths.map { ($0.path, $0.types) })
      let expected: [String: ObservedTypes] = [
        "a": .object, "a.b": [.int, .string], "l": .array, "l[]": [.object, .double],
        "l[].n": .string, "z": .null, "$d": .object,
        #"$d."x.y""#: .bool,
      ]
      for (path, types) in expected { try expectEqual(found[path], types, "types at \(path)") }
    },
    Check("The paths of a document that is not stored are not observed") { probe in
      try rejectDocuments(["a": [1], "b": ["c": [2.5]]], indexing: .declared, probe)
    },
    Check("The paths of a document with the first decimals that is not stored are not observed") {
      probe in
      try rejectDocuments(["a": [1], "b": ["c": [.decimal(2.5)]]], indexing: .declared, probe)
    },
    Check("The paths of a document that is not stored are not observed where all are indexed") {
      probe in
      guard probe.has(.everythingIndex) else { return }
      try rejectDocuments(["a": [1], "b": ["c": [2.5]]], indexing: .everything, probe)
    },
    Check("The paths of a rejected document of a batch are not observed") { probe in
      try probe.insert(["a": 1], key: "k")
      let batch = try (0..<NewDocument.batchSize).map { number in
        let key = try DocumentKey(number == 1 ? "k" : "n\(number)")
        return GeneratedDocument(number == 0 ? ["z": 1] : ["a": [1]], key: key)
      }
      try probe.write { writer in
        _ = try expectError(.duplicateKey, "batch") {
          var rowIDs: [Int64] = []
          try writer.insert(all: batch, &rowIDs)
        }
      }
      // The documents before it are stored.
      try probe.read { try $0.expectPaths(["a": .int, "z": .int]) }
    },
  ]
}

extension EngineConformance {
  /// Tries to store documents with new paths in each way in which they can be rejected, and expects that only the last
  /// one, which is stored, has added them.
  private static func rejectDocuments(
    _ new: DocumentObject, indexing: IndexingPolicy, _ probe: Probe
  ) throws {
    let isUnique = probe.has(.uniqueIndexes)
    try probe.write { writer in
      let index = IndexDefinition(columns: [.init("u")], isUnique: true)
      if isUnique { try writer.createIndex(index, in: "c") }
      let id = try writer.insert(["a": 1, "u": 1], key: "k")
      if probe.has(.everythingIndex) { try writer.setIndexing(indexing, in: "c", nil) }
      try writer.insert(["a": 2, "u": 2], key: "l")
      try expectError(.duplicateKey, "insert") { try writer.insert(new, key: "k") }
      try writer.expectPaths(["a": .int, "u": .int])
      let missing = try DocumentKey("missing")
      let isReplaced = try GeneratedDocument(new).new {
        try writer.replace(.key(missing), with: $0, in: "c")
      }
      try expect(!isReplaced, "a missing document was replaced")
      try writer.expectPaths(["a": .int, "u": .int])
      guard isUnique else { return }
      var duplicate = new
      duplicate["u"] = 2
      for key in ["k", "m"] {
        try expectError(.uniqueViolation, "save as \(key)") {
          try writer.save(duplicate, key: key)
        }
        try writer.expectPaths(["a": .int, "u": .int])
      }
      try expectError(.uniqueViolation, "replace") {
        _ = try GeneratedDocument(duplicate).new {
          try writer.replace(.rowID(id), with: $0, in: "c")
        }
      }
    }
    try probe.read { try $0.expectPaths(["a": .int, "u": .int]) }
    try probe.insert(new)
    let later = try probe.read { try $0.observedPaths(in: "c") }
    try expectEqual(
      later.map(\.path), ["a", "a[]", "b", "b.c", "b.c[]", "u"], "paths of a later document")
  }
}

extension EngineReader {
  fileprivate func expectPaths(_ expected: [String: ObservedTypes], line: UInt = #line) throws {
    let paths = try observedPaths(in: "c")
    let found = Dictionary(uniqueKeysWithValues: paths.map { ($0.path, $0.types) })
    try expectEqual(found, expected, "paths", line: line)
  }
}
