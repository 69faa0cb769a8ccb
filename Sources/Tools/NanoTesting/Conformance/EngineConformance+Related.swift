// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Conditions on related documents.
extension EngineConformance {
  /// Stores three people, one with a UUID as key, and four documents that refer to them.
  private static func fill(_ probe: Probe) throws -> [Int64] {
    let uuid = "0190d1f0-0000-7000-8000-000000000001"
    return try probe.write { writer in
      _ = try writer.insert(["city": "x", "rank": 1], key: uuid, into: "people")
      _ = try writer.insert(["city": "y", "rank": 2], key: "b", into: "people")
      _ = try writer.insert(["city": "x", "rank": 2.0], key: "c", into: "people")
      return try [.string(uuid), "b", "none", nil].map { (person: DocumentValue) in
        try writer.insert(["person": person, "rank": 2], into: "c")
      }
    }
  }

  private static func index(_ probe: Probe) throws {
    try probe.write { writer in
      for (path, collection) in [("person", "c"), ("city", "people"), ("rank", "people")] {
        try writer.createIndex(IndexDefinition(columns: [.init(FieldPath(path))]), in: collection)
      }
    }
  }

  private static func positions(
    _ probe: Probe, _ ids: [Int64], _ text: String
  ) throws -> [Int] {
    let query = Query(try QueryText(text).condition)
    let found = try probe.ids(query).map { id in ids.firstIndex(of: id) ?? -1 }
    try expectEqual(
      try probe.read { try $0.count(query, in: "c") }, found.count, "count of \(text)")
    try expectEqual(
      try probe.read { try $0.rowIDs(query, in: "c").rowIDs.count }, found.count, "IDs of \(text)")
    _ = try probe.read { try $0.explain(query, in: "c") }
    return found
  }

  private static func expectRelated(_ probe: Probe, _ ids: [Int64]) throws {
    for (text, expected) in [
      ("[person] IN (SELECT [__key__] FROM people)", [0, 1]),
      ("[person] NOT IN (SELECT [__key__] FROM people)", [2, 3]),
      ("[person] IN (SELECT [__key__] FROM people WHERE [city] = 'x')", [0]),
      (
        "[person] IN (SELECT [__key__] FROM people WHERE [city] = 'x') OR [person] IS NULL", [0, 3]
      ),
      ("(SELECT COUNT(*) FROM people WHERE [rank] = PARENT[rank]) = 2", [0, 1, 2, 3]),
      ("(SELECT COUNT(*) FROM people WHERE [rank] = PARENT[rank] AND [city] = 'y') > 1", []),
      ("(SELECT COUNT(*) FROM people WHERE [__key__] = PARENT[person]) < 1", [2, 3]),
      ("[__rowid__] IN (SELECT [rank] FROM people WHERE [__rowid__] > 0)", [0, 1]),
      ("[person] IN (SELECT [person] FROM c WHERE [__rowid__] > 1)", [1, 2]),
      ("[person] IN (SELECT [__key__] FROM nothing)", []),
      ("upper([person]) IN (SELECT upper([__key__]) FROM people)", [0, 1]),
    ] { try expectEqual(try positions(probe, ids, text), expected, text) }
  }

  static let related: [Check] = [
    Check("Conditions on related documents hold by the values of the other collection") { probe in
      let ids = try fill(probe)
      try expectRelated(probe, ids)
      try index(probe)
      try expectRelated(probe, ids)
      // With several types, values are compared one by one.
      try probe.write { writer in
        _ = try writer.insert(["person": 5, "rank": "2"], into: "c")
        _ = try writer.insert(["city": ["x"], "rank": [7]], key: "d", into: "people")
      }
      try expectEqual(
        try positions(probe, ids, "[person] IN (SELECT [__key__] FROM people WHERE [city] = 'x')"),
        [0], "mixed types")
      try expectEqual(
        try positions(
          probe, ids, "(SELECT COUNT(*) FROM people WHERE [rank] = PARENT[rank]) = 2"),
        [0, 1, 2, 3], "mixed types, counted")
    },
    Check("A writer sees its own related documents, and deletes by them") { probe in
      let ids = try fill(probe)
      try index(probe)
      let condition = try QueryText("[person] IN (SELECT [__key__] FROM people WHERE [city] = 'z')")
        .condition
      try probe.write { writer in
        _ = try writer.insert(["city": "z"], key: "none", into: "people")
        try expectEqual(try writer.count(Query(condition), in: "c"), 1, "count")
        try expectEqual(try writer.delete(Query(condition), from: "c"), 1, "deleted")
      }
      try expectEqual(try probe.ids(), [ids[0], ids[1], ids[3]], "remaining")
    },
  ]
}
