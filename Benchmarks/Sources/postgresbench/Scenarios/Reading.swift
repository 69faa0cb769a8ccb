// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

extension Contest {
  /// Documents by key.
  func getting(_ members: MemberSet) -> [Comparison] {
    var random = SplitMix(seed: 3)
    let keys = (0..<5_000).map { _ in members.keys[random.below(members.count)] }
    let lists = stride(from: 0, to: keys.count, by: 100).map { Array(keys[$0..<($0 + 100)]) }
    return [
      Comparison(
        name: "get", work: "get by key", unit: "get", operations: 2_000, contest: self
      ) { side in
        let people = try side.people()
        return { watch in
          try watch.measure {
            try keys.prefix(2_000).reduce(0) { try $0 + people.get($1).found }
          }
        }
      },
      Comparison(
        name: "get-keys", work: "get by 100 keys", unit: "call",
        operations: lists.count, target: 2, contest: self
      ) { side in
        let people = try side.people()
        return { watch in
          try watch.measure { try lists.reduce(0) { try $0 + people.get(keys: $1).count } }
        }
      },
    ]
  }

  /// Documents by content.
  func finding(_ members: MemberSet) -> [Comparison] {
    let cities = Array(MemberSet.cities.prefix(100))
    let scores = (0..<100).map { Double($0 * 9) }
    let tags = Array(MemberSet.tags.prefix(50))
    let words = (0..<5).map { MemberSet.words[$0] + " " + MemberSet.words[$0 + 50] }
    return [
      querying(
        "find", "find about \(members.count / 1_000) documents with an index", cities.count,
        target: 3,
        Side.people
      ) { people in
        try cities.reduce(0) { sum, city in
          try sum + people.find(Field("city") == city).fetch().rowIDs
        }
      },
      querying(
        "range", "index range scan, first 20", scores.count, Side.people
      ) { people in
        try scores.reduce(0) { sum, score in
          let query = people.find(Field("score") >= score && Field("score") < score + 100)
          return try sum + query.sorted(by: "score").limit(20).fetch().rowIDs
        }
      },
      querying("scan", "filter and sort without an index, first 20", 1, Side.people) { people in
        try people.find(Field("active") == true).sorted(by: "name").limit(20).fetch().rowIDs
      },
      querying(
        "elements", "find by array element, first 100", tags.count, Side.indexed
      ) { indexed in
        try tags.reduce(0) { sum, tag in
          try sum + indexed.find(Field("tags") == tag).limit(100).fetch().rowIDs
        }
      },
      querying(
        "text", "full-text search for two words, top 20", words.count, Side.indexed
      ) { indexed in
        try words.reduce(0) { try $0 + indexed.search($1).limit(20).fetch().rowIDs }
      },
      searchingAfterWrites(members, words),
    ]
  }

  /// Aggregates over all documents.
  func counting(_ members: MemberSet) -> [Comparison] {
    [
      querying(
        "group", "group by a field, three aggregates", 1, target: 0.6, Side.people
      ) { people in
        try people.find()
          .grouped(by: "city", aggregates: [.count, .average("age"), .max("score")]).digest
      },
      querying("count", "count all documents", 20, Side.people) { people in
        try (0..<20).reduce(0) { sum, _ in try sum + people.count() }
      },
    ]
  }

  /// Searches after each of which a text changes, so that nothing of the search before can be used again.
  private func searchingAfterWrites(_ members: MemberSet, _ words: [String]) -> Comparison {
    Comparison(
      name: "text-changed", work: "the same after a change of a text", unit: "query",
      operations: words.count, contest: self
    ) { side in
      let indexed = try side.indexed()
      return { watch in
        try words.enumerated().reduce(0) { sum, word in
          let key = members.keys[word.offset]
          try indexed.update(key, set: ["bio": .string(word.element)])
          defer { _ = try? indexed.save(members.documents[word.offset]) }
          return try sum
            + watch.measure { try indexed.search(word.element).limit(20).fetch().rowIDs }
        }
      }
    }
  }

  /// Queries on a collection, with the specified number per round.
  private func querying(
    _ name: String, _ work: String, _ operations: Int, target: Double? = nil,
    _ collection: @escaping (Side) -> () throws -> DocumentCollection,
    _ query: @escaping (DocumentCollection) throws -> Int
  ) -> Comparison {
    Comparison(
      name: name, work: work, unit: "query", operations: operations, target: target,
      contest: self
    ) { side in
      let collection = try collection(side)()
      return { watch in try watch.measure { try query(collection) } }
    }
  }
}
