// SPDX-License-Identifier: MIT

import NanoStore

extension ExpectedState {
  /// Compares a store with the expected contents: every document, index results, bags, metadata and the store's own
  /// verification.
  ///
  /// - Throws: ``StressTestFailure`` with the first difference.
  func check(_ store: Store, indexed: Bool = true) throws {
    try require(try store.lastRound() == round, "round \(try store.lastRound()), not \(round)")
    for collection in RoundPlan.collections { try check(store[collection]) }
    try checkBags(store)
    for name in ["entry1", "entry2", "entry3"] {
      try require(try store.metadata(name) == metadata[name], "metadata \(name) differs")
    }
    if indexed { try checkIndexes(store[RoundPlan.people]) }
    let problems = try store.verify()
    try require(problems.isEmpty, "verify: \(problems.map { "\($0.subject): \($0.message)" })")
  }

  private func check(_ collection: DocumentCollection) throws {
    let expected = documents[collection.name] ?? [:]
    var seen = 0
    for document in try collection.fetch() {
      let key = document.key ?? "?"
      try require(
        try expected[key] == document.object(), "\(collection.name)/\(key) differs at \(round)")
      seen += 1
    }
    try require(seen == expected.count, "\(collection.name): \(seen) of \(expected.count)")
  }

  private func checkIndexes(_ people: DocumentCollection) throws {
    let all = documents[RoundPlan.people] ?? [:]
    func compare(_ what: String, _ query: DocumentQuery, _ holds: (DocumentObject) -> Bool) throws {
      let expected = Set(all.filter { holds($0.value) }.keys)
      let found = try query.keys()
      try require(
        found.count == expected.count && Set(found) == expected,
        "\(what): \(found.sorted()) instead of \(expected.sorted()) at \(round)")
    }
    for group in 0...11 as ClosedRange<Int64> {
      try compare("group \(group)", people.find(Field("group") == group)) {
        $0["group"] == .int(group)
      }
    }
    for tag in ["a", "b", "c", "d"] {
      try compare("tag \(tag)", people.find(Field("tags") == tag)) {
        $0["tags"]?.array?.contains(.string(tag)) ?? false
      }
    }
    for key in ["k1", "k30", "k60"] {
      try compare("name \(key)", people.find(Field("name") == key)) { $0["name"] == .string(key) }
    }
    guard try !people.fullTextIndexes().isEmpty else { return }
    for word in RoundPlan.words {
      try compare("word \(word)", people.search(word)) {
        $0["title"]?.string?.split(separator: " ").contains { $0 == word } ?? false
      }
    }
  }

  private func checkBags(_ store: Store) throws {
    let found = try store.bags()
    try require(
      Set(found.compactMap(\.name)) == Set(bags.keys) && found.count == bags.count,
      "bags \(found.compactMap(\.name)) instead of \(bags.keys.sorted()) at \(round)")
    for bag in found {
      let keys = try bag.members().compactMap(\.key)
      try require(
        Set(keys) == bags[bag.name ?? ""] && keys.count == Set(keys).count,
        "bag \(bag.name ?? "") differs at \(round)")
    }
  }
}
