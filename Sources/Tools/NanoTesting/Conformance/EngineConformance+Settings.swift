// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineConformance {
  static let settings: [Check] = [
    Check("Settings are returned unchanged, and collection names are case-insensitive") { probe in
      try expectEqual(
        try probe.read { try $0.settings(of: "x") }, CollectionSettings(), "missing collection")
      let settings = CollectionSettings(
        defaults: ["a": ["b": [1, nil]], "$d": 2.5], aliases: ["last": "[user.\"l.n\"]"],
        queryableFields: ["a.b", FieldPath(components: ["x.y"])])
      try probe.write { try $0.setSettings(settings, of: "C") }
      try expectEqual(try probe.read { try $0.settings(of: "c") }, settings, "settings")
      try expectEqual(try probe.read { try $0.collections().map(\.name) }, ["C"], "collections")
      try probe.write { try $0.setSettings(CollectionSettings(), of: "c") }
      try expect(try probe.read { try $0.settings(of: "C").isEmpty }, "emptied")
    },
    Check("Invalid settings are rejected, and the previous settings remain") { probe in
      let settings = CollectionSettings(aliases: ["a": "[b]"])
      try probe.write { try $0.setSettings(settings, of: "c") }
      try expectError(.invalidPath, "an empty name") {
        try probe.write {
          try $0.setSettings(CollectionSettings(queryableFields: ["a..b"]), of: "c")
        }
      }
      try expectEqual(try probe.read { try $0.settings(of: "c") }, settings, "settings")
    },
    Check("Settings changed in a failed transaction are rolled back") { probe in
      struct Rollback: Error {}
      try probe.insert(["n": 1])
      do {
        try probe.write { writer in
          try writer.setSettings(CollectionSettings(defaults: ["a": 1]), of: "c")
          try expectEqual(try writer.count(Self.isOne, in: "c"), 1, "in the transaction")
          throw Rollback()
        }
      } catch is Rollback {}
      try expectEqual(try probe.ids(Self.isOne), [], "afterwards")
      try expect(try probe.read { try $0.settings(of: "c").isEmpty }, "settings")
    },
    Check("Dropping a collection removes its settings") { probe in
      try probe.write { writer in
        try writer.setSettings(CollectionSettings(defaults: ["a": 1]), of: "c")
        _ = try writer.dropCollection("c")
        try writer.insert([:])
        try expect(try writer.settings(of: "c").isEmpty, "settings")
      }
      try expectEqual(try probe.ids(Self.isOne), [], "found")
    },
    Check("Defaults apply to every query, but not to documents") { probe in
      let ids = try probe.write { writer in
        [
          try writer.insert(["n": 1]), try writer.insert(["n": 2, "a": 5]),
          try writer.insert(["n": 3, "a": nil]),
        ]
      }
      try probe.write { try $0.setSettings(CollectionSettings(defaults: ["a": 1]), of: "c") }
      for index in [nil, IndexDefinition(columns: [.init("a")])] {
        if let index { try probe.write { try $0.createIndex(index, in: "c") } }
        try probe.read { reader in
          try expectEqual(try reader.ids(Self.isOne), [ids[0]], "equal")
          try expectEqual(
            try reader.ids(Query(.not(Self.isOne.condition))), [ids[1], ids[2]], "not equal")
          try expectEqual(try reader.ids(Query(.isNull(.field("a")))), [ids[2]], "null")
          try expectEqual(try reader.ids(Query(.exists("a"))).count, 3, "exists")
          try expectEqual(
            try reader.ids(Query(orderings: [.forward("a")])), [ids[2], ids[0], ids[1]], "order")
          try expectEqual(
            try reader.distinct("a", Query(), in: "c"), [.null, .int(1), .int(5)], "distinct")
          let rows = try reader.aggregate(AggregateQuery(aggregates: [.sum("a")]), in: "c")
          try expectEqual(rows.map(\.values), [[.int(6)]], "total")
          try expectEqual(
            try reader.document(.rowID(ids[0]))?.body, "{\"n\":1}", "the stored document")
        }
      }
    },
    Check("Unique indexes ignore defaults") { probe in
      guard probe.has(.uniqueIndexes) else { return }
      let index = IndexDefinition(columns: [.init("a")], isUnique: true)
      try probe.write { writer in
        try writer.setSettings(CollectionSettings(defaults: ["a": 1]), of: "c")
        try writer.createIndex(index, in: "c")
        for object in [["n": 1], ["n": 2], ["a": 1]] as [DocumentObject] {
          try writer.insert(object)
        }
      }
      try expectEqual(try probe.ids(Self.isOne).count, 3, "found")
    },
    Check("Settings survive reopening the database") { probe in
      guard probe.has(.durable) else { return }
      try probe.insert(["n": 1])
      try probe.write { try $0.setSettings(CollectionSettings(defaults: ["a": 1]), of: "c") }
      try probe.reopen()
      try expectEqual(try probe.ids(Self.isOne).count, 1, "found")
    },
  ]

  private static let isOne = Query(.comparison(.field("a"), .equal, .value(.int(1))))
}
