// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Names and texts that differ in their bytes alone: for Swift's `String` both of a pair are equal.
enum UnicodeForms {
  static let pairs: [(String, String)] = [
    ("caf\u{E9}", "cafe\u{301}"),
    // The Kelvin sign, and the Greek question mark, of which the other form is plain ASCII.
    ("K", "\u{212A}"), (";", "\u{37E}"),
    ("\u{C5}", "\u{212B}"),
    // The same marks in another order.
    ("e\u{323}\u{302}", "e\u{302}\u{323}"),
    ("\u{AC00}", "\u{1100}\u{1161}"),
  ]
  static let all = pairs.flatMap { [$0.0, $0.1] }
}

extension EngineConformance {
  static let names: [Check] = [
    Check("Collections whose names differ in their Unicode form are two collections") { probe in
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
    Check("Fields whose names differ in their Unicode form are two fields") { probe in
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
        try expectEqual(try reader.ids(selected), [id], "the one that has the first form")
        try expectEqual(
          try reader.ids(Query(.exists(path(UnicodeForms.pairs[0].1)))), [id, other],
          "those that have the second form")
        let stored = try reader.document(.rowID(id))?.body ?? ""
        try expectEqual(try DocumentObject(json: stored), object, "the document")
      }
    },
    Check("Texts in two Unicode forms are two values") { probe in
      var ids: [[Int64]] = []
      for (a, b) in UnicodeForms.pairs {
        ids.append([
          try probe.insert(["t": .string(a)]), try probe.insert(["t": .string(b)]),
        ])
      }
      func ask() throws {
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
      try ask()
      guard probe.has(.uniqueIndexes) else { return }
      try probe.write {
        try $0.createIndex(IndexDefinition(columns: [.init("t")], isUnique: true), in: "c")
      }
      try ask()
      try expectError(.uniqueViolation, "the same form") {
        try probe.insert(["t": .string(UnicodeForms.pairs[0].1)])
      }
    },
    Check("Keys and class names in two Unicode forms are two") { probe in
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
      try expect(try probe.write { try $0.delete(.key(first), from: "c") }, "removed")
      try expectEqual(try probe.ids().count, ids.count - 1, "documents that are left")
    },
    Check("Indexes whose names differ in their Unicode form are two indexes") { probe in
      try probe.insert(["a": 1, "b": "text", "c": "other text"])
      for (number, (a, b)) in UnicodeForms.pairs.enumerated() {
        try probe.write { writer in
          try writer.createIndex(
            IndexDefinition(name: a, columns: [.init(FieldPath("a\(number)"))]), in: "c")
          try expect(try !writer.dropIndex(b, in: "c"), "\(b) was dropped before it was made")
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
        try expect(left.containsExactly(a), "\(a) is gone with \(b)")
      }
      try expectEqual(try probe.engine.verify(), [], "problems at last")
    },
    Check("Text indexes whose names differ in their Unicode form are two indexes") { probe in
      guard probe.has(.textIndexes) else { return }
      let (a, b) = UnicodeForms.pairs[0]
      try probe.insert(["a": "gin", "b": "rum"])
      try probe.write { writer in
        try writer.createTextIndex(.init(name: a, fields: ["a"]), in: "c")
        try writer.createTextIndex(.init(name: b, fields: ["b"]), in: "c")
      }
      try expectEqual(try probe.ids(Query(.search("gin", in: a))).count, 1, "by the first")
      try expectEqual(try probe.ids(Query(.search("gin", in: b))).count, 0, "by the second")
      try expect(try probe.write { try $0.dropIndex(b, in: "c") }, "dropped")
      try expectEqual(try probe.ids(Query(.search("gin", in: a))).count, 1, "by what is left")
      try expectError(.invalidArgument, "the dropped one") {
        _ = try probe.ids(Query(.search("gin", in: b)))
      }
    },
    Check("Entries of the metadata whose names differ in their Unicode form are two") { probe in
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
        try probe.read { try $0.metadata(UnicodeForms.pairs[0].1) }, 1, "after the other is gone")
    },
    Check("Settings that change in the Unicode form of a text alone are kept") { probe in
      let (a, b) = UnicodeForms.pairs[0]
      for text in [a, b, a] {
        let given = CollectionSettings(defaults: [text: .string(text)], aliases: [text: text])
        try probe.write { try $0.setSettings(given, of: "c") }
        try expectEqual(try probe.read { try $0.settings(of: "c") }, given, "settings with \(text)")
      }
    },
    Check("Documents under random names in several Unicode forms stay apart") { probe in
      for seed in UInt64(0)..<4 { try RandomNames(seed).run(probe) }
    },
  ]
}

/// Random writes to collections, keys and fields of which only the Unicode forms differ, compared with a
/// dictionary by bytes.
private struct RandomNames {
  private struct Place: Hashable {
    let collection: ExactName
    let key: ExactName
  }
  private var random: SplitMix
  private let seed: UInt64
  private var expected: [Place: DocumentObject] = [:]

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
      // Every round has collections of its own.
      let collection = "\(seed)" + random.pick(UnicodeForms.all)
      let name = random.pick(UnicodeForms.all)
      let place = Place(collection: ExactName(collection), key: ExactName(name))
      if random.oneIn(4) {
        let isThere = expected.removeValue(forKey: place) != nil
        try expectEqual(
          try writer.delete(.key(try DocumentKey(name)), from: collection), isThere,
          "seed \(seed): \(name) of \(collection) was removed")
        continue
      }
      var object = DocumentObject()
      for _ in 0..<random.number(1...4) {
        object[random.pick(UnicodeForms.all)] = .string(random.pick(UnicodeForms.all))
      }
      expected[place] = object
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
        let wanted = expected.filter { $0.key.collection == ExactName(collection) }
        try expectEqual(
          found, Dictionary(uniqueKeysWithValues: wanted.map { ($0.key.key, $0.value) }),
          "seed \(seed): documents of \(collection)")
      }
    }
    try expectEqual(try probe.engine.verify(), [], "seed \(seed): problems")
  }
}
