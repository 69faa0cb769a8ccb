// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Guarantees that caches rely on; an engine without content versions and committed states passes.
extension EngineConformance {
  static let versions: [Check] = [
    Check("A content version never identifies two different contents of a row") { probe in
      struct Content: Hashable {
        var rowID: Int64
        var version: ContentVersion
      }
      var seen: [Content: DocumentObject] = [:]
      func note(_ id: Int64) throws {
        try probe.read { reader in
          var object: DocumentObject = [:]
          var current: ContentVersion?
          let exists = try reader.get(.rowID(id), in: "c") { document in
            current = document.contentVersion
            var body = JSONReader(document.body)
            object = try body.object()
          }
          let version = try reader.version(ofRow: id, in: "c")
          try expectEqual(version, exists ? current : nil, "version(ofRow:)")
          guard let version else { return }
          let content = Content(rowID: id, version: version)
          try expect(
            seen[content] ?? object == object, "\(content) identified different content before")
          seen[content] = object
        }
      }
      for round in 0..<3 {
        let id = try probe.insert(["round": .int(Int64(round))], key: "k")
        try note(id)
        try probe.write { _ = try $0.save(["round": .int(Int64(round)), "n": 1], key: "k") }
        try note(id)
        struct Rollback: Error {}
        do {
          try probe.write { writer in
            _ = try writer.save(["undone": true], key: "k")
            throw Rollback()
          }
        } catch is Rollback {}
        try note(id)
        try probe.write { _ = try $0.save(["done": .int(Int64(round))], key: "k") }
        try note(id)
        try probe.write { writer in
          _ = try writer.delete(.key(DocumentKey("k")), from: "c")
          if round == 1 { _ = try writer.dropCollection("c") }
        }
        try note(id)
      }
    },
    Check(
      "Equal committed states have the same documents, and a transaction has no committed state"
    ) { probe in
      let id = try probe.insert(["n": 1])
      func current() throws -> CommittedState? {
        try probe.read { reader in
          _ = try reader.document(.rowID(id))
          return try reader.committedState()
        }
      }
      let before = try current()
      try expectEqual(try current(), before, "nothing was committed")
      try probe.write { writer in
        try writer.insert(["n": 2])
        _ = try writer.document(.rowID(id))
        try expectEqual(try writer.committedState(), nil, "inside a transaction")
        try expectEqual(try writer.rowIDs(Query(), in: "c").state, nil, "rows of a transaction")
      }
      try expect(try before == nil || current() != before, "a commit did not change the state")
    },
    Check("The last commit is the same until the next one, and no other commit has been that") {
      probe in
      var seen: Set<CommitStamp> = []
      for round in 0..<20 {
        try probe.insert(["round": .int(Int64(round))])
        guard let commit = probe.engine.lastCommit else { return }
        try expect(seen.insert(commit).inserted, "commit \(round) has the stamp of another one")
        _ = try probe.read { try $0.rowIDs(Query(), in: "c") }
        try expectEqual(probe.engine.lastCommit, commit, "after a read")
        struct Rollback: Error {}
        do {
          try probe.write { writer in
            try writer.insert(["undone": true])
            try expectEqual(probe.engine.lastCommit, commit, "in a transaction")
            throw Rollback()
          }
        } catch is Rollback {}
        try expectEqual(probe.engine.lastCommit, commit, "after a transaction that was rolled back")
      }
    },
    Check("Row IDs are those of the matching documents, in order") { probe in
      let none = try probe.read { try $0.rowIDs(Query(), in: "c") }
      try expectEqual(none.rowIDs, [], "missing collection")
      try probe.write { writer in
        for n in [3, 1, 2, 1, nil] as [DocumentValue] { try writer.insert(["n": n]) }
        try writer.createIndex(IndexDefinition(columns: [.init("n")]), in: "c")
      }
      let one = Condition.comparison(.field("n"), .greaterOrEqual, .value(.int(1)))
      for query in [
        Query(), Query(one), Query(one, orderings: [Ordering("n", descending: true)]),
        Query(orderings: [Ordering("n")], limit: 2, offset: 1),
      ] {
        try probe.read { reader in
          let found = try reader.rowIDs(query, in: "c")
          try expectEqual(found.rowIDs, try reader.ids(query), "\(query)")
          var incarnation: Int64?
          try reader.find(query, in: "c") {
            incarnation = $0.incarnation
            return true
          }
          try expectEqual(found.incarnation, incarnation, "incarnation")
          var any: [Int64] = []
          try reader.findInAnyOrder(query, in: "c") {
            any.append($0.rowID)
            return true
          }
          try expectEqual(
            query.orderings.isEmpty ? any.sorted() : any, found.rowIDs, "in any order, \(query)")
        }
      }
    },
  ]
}
