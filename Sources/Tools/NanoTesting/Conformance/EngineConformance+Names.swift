// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Strings that differ only in their bytes: Swift's `String` considers both of a pair equal.
enum UnicodeForms {
  static let pairs: [(String, String)] = [
    ("caf\u{E9}", "cafe\u{301}"),
    // The Kelvin sign and the Greek question mark, whose other form is ASCII.
    ("K", "\u{212A}"), (";", "\u{37E}"),
    ("\u{C5}", "\u{212B}"),
    // The same combining marks in a different order.
    ("e\u{323}\u{302}", "e\u{302}\u{323}"),
    ("\u{AC00}", "\u{1100}\u{1161}"),
  ]
  static let all = pairs.flatMap { [$0.0, $0.1] }
}

extension EngineConformance {
  static let names: [Check] = [
    Check("Collection names that differ only in Unicode normalization are distinct") { probe in
      for (a, b) in UnicodeForms.pairs {
        try probe.insert(["n": 1], key: "k", into: a)
        try probe.insert(["n": 2], key: "k", into: b)
        try probe.write { try $0.setSettings(CollectionSettings(defaults: ["d": 1]), of: b) }
      }
      let counted = try probe.engine.statistics().collections.map { ExactName($0.name) }
      try probe.read { reader in
        let found = try reader.collections().map { ExactName($0.name) }
        try expectEqual(found, found.sorted(by: { $0.text.folded < $1.text.folded }), "order")
        try expectEqual(Set(found), Set(UnicodeForms.all.map { ExactName($0) }), "collections")
        for (a, b) in UnicodeForms.pairs {
          let key = Identity.key(try DocumentKey("k"))
          try expectEqual(try reader.document(key, in: a)?.body, #"{"n":1}"#, a)
          try expectEqual(try reader.document(key, in: b)?.body, #"{"n":2}"#, b)
          try expect(try reader.settings(of: a).isEmpty, "settings of \(a)")
          try expect(try !reader.settings(of: b).isEmpty, "settings of \(b)")
        }
        try expectEqual(counted, found, "statistics")
      }
      try expectEqual(try probe.engine.verify(), [], "problems")
      for (a, b) in UnicodeForms.pairs {
        try expect(try probe.write { try $0.dropCollection(b) }, "\(b) was not dropped")
        try expectEqual(
          try probe.ids(in: a).count, 1, "documents of \(a) after the other was dropped")
        try expect(try probe.write { try !$0.dropCollection(b) }, "\(b) was dropped twice")
      }
    },
    Check("Field names that differ only in Unicode normalization are distinct") { probe in
      var object = DocumentObject()
      for (number, name) in UnicodeForms.all.enumerated() { object[name] = .int(Int64(number)) }
      let id = try probe.insert(object, key: "all")
      let other = try probe.write { try $0.insert([UnicodeForms.pairs[0].1: 0]) }
      let path = { (name: String) in FieldPath(components: [name]) }
      try probe.read { reader in
        for (number, name) in UnicodeForms.all.enumerated() {
          let value = QueryExpression.value(.int(Int64(number)))
          let isEqual = Condition.comparison(.field(path(name)), .equal, value)
          try expectEqual(try reader.ids(Query(isEqual)), [id], "found by \(name)")
          let values = try reader.distinct(path(name), Query(.exists(path(name))), in: "c")
          try expectEqual(
            values.filter { $0 != 0 || number == 0 }, [.int(Int64(number))], "values of \(name)")
        }
        let paths = try reader.observedPaths(in: "c").map { ExactName($0.path) }
        try expectEqual(Set(paths), Set(UnicodeForms.all.map { ExactName($0) }), "paths")
        let selected = Query(.exists(path(UnicodeForms.pairs[0].0)))
        try expectEqual(try reader.ids(selected), [id], "the document with the first form")
        try expectEqual(
          try reader.ids(Query(.exists(path(UnicodeForms.pairs[0].1)))), [id, other],
          "the documents with the second form")
        let stored = try reader.document(.rowID(id))?.body ?? ""
        try expectEqual(try DocumentObject(json: stored), object, "the document")
      }
    },
    Check("Strings that differ only in Unicode normalization are distinct values") { probe in
      var ids: [[Int64]] = []
      for (a, b) in UnicodeForms.pairs {
        ids.append([
          try probe.insert(["t": .string(a)]), try probe.insert(["t": .string(b)]),
        ])
      }
      func checkResults() throws {
        for (pair, ids) in zip(UnicodeForms.pairs, ids) {
          for (text, id) in zip([pair.0, pair.1], ids) {
            try expectEqual(try probe.ids(Query(Field("t") == text)), [id], "= \(text)")
            try expectEqual(try probe.ids(Query(Field("t").isIn([text]))), [id], "IN \(text)")
          }
        }
        let values = try probe.read { try $0.distinct("t", Query(), in: "c") }
        let texts = UnicodeForms.all.map { ExactName($0) }.sorted().map(\.text)
        try expectEqual(values, texts.map { .string($0) }, "distinct values")
        let groups = try probe.read {
          try $0.aggregate(AggregateQuery(groups: ["t"], aggregates: [.count]), in: "c")
        }
        try expectEqual(groups.map(\.group), texts.map { [.string($0)] }, "groups")
      }
      try checkResults()
      guard probe.has(.uniqueIndexes) else { return }
      try probe.write {
        try $0.createIndex(IndexDefinition(columns: [.init("t")], isUnique: true), in: "c")
      }
      try checkResults()
      try expectError(.uniqueViolation, "the same form") {
        try probe.insert(["t": .string(UnicodeForms.pairs[0].1)])
      }
    },
    Check("Keys and class names that differ only in Unicode normalization are distinct") { probe in
      var ids: [Int64] = []
      for name in UnicodeForms.all {
        let document = GeneratedDocument(
          ["n": .string(name)], key: try DocumentKey(name), type: name)
        ids.append(try probe.write { w in try document.new { try w.insert($0, into: "c") } })
      }
      for (id, name) in zip(ids, UnicodeForms.all) {
        let key = try DocumentKey(name)
        let found = try probe.read { try $0.document(.key(key)) }
        try expectEqual(found?.rowID, id, "by key \(name)")
        try expectEqual(found?.key, key, "key")
        let ofClass = Condition.comparison(.attribute(.type), .equal, .value(.string(name)))
        try expectEqual(try probe.ids(Query(ofClass)), [id], "by class \(name)")
      }
      let types = try probe.read { try $0.types(in: "c") }.map { ExactName($0) }
      try expectEqual(types, UnicodeForms.all.map { ExactName($0) }.sorted(), "classes")
      let first = try DocumentKey(UnicodeForms.pairs[0].0)
      try expect(try probe.write { try $0.delete(.key(first), from: "c") }, "deleted")
      try expectEqual(try probe.ids().count, ids.count - 1, "remaining documents")
    },
    Check("Index names that differ only in Unicode normalization are distinct") { probe in
      try probe.insert(["a": 1, "b": "text", "c": "other text"])
      for (number, (a, b)) in UnicodeForms.pairs.enumerated() {
        try probe.write { writer in
          try writer.createIndex(
            IndexDefinition(name: a, columns: [.init(FieldPath("a\(number)"))]), in: "c")
          try expect(try !writer.dropIndex(b, in: "c"), "\(b) was dropped before it was created")
          try writer.createIndex(
            IndexDefinition(name: b, columns: [.init(FieldPath("b\(number)"))]), in: "c")
        }
      }
      let names = Set(UnicodeForms.all.map { ExactName($0) })
      try expectEqual(
        Set(try probe.read { try $0.indexes(in: "c") }.map { ExactName($0.name) }), names, "indexes"
      )
      try expectEqual(try probe.engine.verify(), [], "problems")
      for (a, b) in UnicodeForms.pairs {
        try expect(try probe.write { try $0.dropIndex(b, in: "c") }, "\(b) was not dropped")
        try expect(try probe.write { try !$0.dropIndex(b, in: "c") }, "\(b) was dropped twice")
        let left = try probe.read { try $0.indexes(in: "c") }.map(\.name)
        try expect(left.containsExactly(a), "\(a) was dropped with \(b)")
      }
      try expectEqual(try probe.engine.verify(), [], "problems after dropping")
    },
    Check("Text index names that differ only in Unicode normalization are distinct") { probe in
      guard probe.has(.fullTextIndexes) else { return }
      let (a, b) = UnicodeForms.pairs[0]
      try probe.insert(["a": "gin", "b": "rum"])
      try probe.write { writer in
        try writer.createFullTextIndex(.init(name: a, fields: ["a"]), in: "c")
        try writer.createFullTextIndex(.init(name: b, fields: ["b"]), in: "c")
      }
      try expectEqual(try probe.ids(Query(.search("gin", in: a))).count, 1, "by the first")
      try expectEqual(try probe.ids(Query(.search("gin", in: b))).count, 0, "by the second")
      try expect(try probe.write { try $0.dropIndex(b, in: "c") }, "dropped")
      try expectEqual(
        try probe.ids(Query(.search("gin", in: a))).count, 1, "by the remaining index")
      try expectError(.invalidArgument, "the dropped index") {
        _ = try probe.ids(Query(.search("gin", in: b)))
      }
    },
    Check("Metadata names that differ only in Unicode normalization are distinct") { probe in
      try probe.write { writer in
        for (number, name) in UnicodeForms.all.enumerated() {
          try writer.setMetadata(.int(Int64(number)), name)
        }
      }
      let names = try probe.read { try $0.metadataNames() }.map { ExactName($0) }
      try expectEqual(names, UnicodeForms.all.map { ExactName($0) }.sorted(), "names")
      for (number, name) in UnicodeForms.all.enumerated() {
        try expectEqual(
          try probe.read { try $0.metadata(name) }, .int(Int64(number)), "value of \(name)")
      }
      try probe.write { try $0.setMetadata(nil, UnicodeForms.pairs[0].0) }
      try expectEqual(
        try probe.read { try $0.metadata(UnicodeForms.pairs[0].1) }, 1, "after removing the other")
    },
    Check("A settings change that differs only in Unicode normalization is stored") { probe in
      let (a, b) = UnicodeForms.pairs[0]
      for text in [a, b, a] {
        let settings = CollectionSettings(defaults: [text: .string(text)], aliases: [text: text])
        try probe.write { try $0.setSettings(settings, of: "c") }
        try expectEqual(
          try probe.read { try $0.settings(of: "c") }, settings, "settings with \(text)")
      }
    },
    Check("Documents with random names in several Unicode normalizations remain distinct") {
      probe in
      for seed in UInt64(0)..<4 { try RandomNames(seed).run(probe) }
    },
  ]
}

/// Random writes to collections, keys and fields whose names differ only in Unicode normalization, compared with a
/// dictionary keyed by bytes.
private struct RandomNames {
  private struct Location: Hashable {
    let collection: ExactName
    let key: ExactName
  }
  private var random: SplitMix
  private let seed: UInt64
  private var expected: [Location: DocumentObject] = [:]

  init(_ seed: UInt64) {
    self.seed = seed
    random = SplitMix(seed: seed)
  }

  func run(_ probe: Probe) throws {
    var copy = self
    for _ in 0..<8 { try probe.write { try copy.write($0) } }
    try copy.check(probe)
  }

  private mutating func write(_ writer: any EngineWriter) throws {
    for _ in 0..<10 {
      // Each seed uses separate collections.
      let collection = "\(seed)" + random.pick(UnicodeForms.all)
      let name = random.pick(UnicodeForms.all)
      let location = Location(collection: ExactName(collection), key: ExactName(name))
      if random.oneIn(4) {
        let exists = expected.removeValue(forKey: location) != nil
        try expectEqual(
          try writer.delete(.key(try DocumentKey(name)), from: collection), exists,
          "seed \(seed): \(name) of \(collection) was deleted")
        continue
      }
      var object = DocumentObject()
      for _ in 0..<random.number(1...4) {
        object[random.pick(UnicodeForms.all)] = .string(random.pick(UnicodeForms.all))
      }
      expected[location] = object
      try writer.save(object, key: name, in: collection)
    }
  }

  private func check(_ probe: Probe) throws {
    try probe.read { reader in
      for collection in UnicodeForms.all.map({ "\(seed)" + $0 }) {
        var found: [ExactName: DocumentObject] = [:]
        try reader.find(Query(), in: collection) { document in
          var json = JSONReader(document.body)
          found[ExactName(document.key?.description ?? "")] = try json.object()
          return true
        }
        let matching = expected.filter { $0.key.collection == ExactName(collection) }
        try expectEqual(
          found, Dictionary(uniqueKeysWithValues: matching.map { ($0.key.key, $0.value) }),
          "seed \(seed): documents of \(collection)")
      }
    }
    try expectEqual(try probe.engine.verify(), [], "seed \(seed): problems")
  }
}
