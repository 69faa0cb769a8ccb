// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// The benchmarks of the original libraries on 100,000 cards, with their ratios.
func cardScenarios(_ workload: Workload, _ identity: CardIdentity) -> [any Scenario] {
  let set = CardSet(workload, identity)
  let isNano = identity == .key
  let name = CardSet.soughtName
  let lastName = RawTable.field("LastName")
  let select = "SELECT \(identity.columns) FROM d"

  func question(
    _ word: String, _ work: String, original: Double, _ sql: String,
    _ answer: CardQuestion.RawAnswer = .rows, _ ways: CardQuestion.Way...
  ) -> any Scenario {
    CardQuestion(
      set: set, word: word, work: "\(identity.library): \(work)", original: original, sql: sql,
      answer: answer, ways: ways)
  }

  var scenarios: [any Scenario] = [
    CardInsertScenario(set: set, original: isNano ? 65 : 7.4),
    question(
      "find", "find 10% by index", original: isNano ? 55 : 22,
      "\(select) WHERE \(lastName)=?1", .rows,
      CardQuestion.Way("lazy documents", 2) {
        try $0.find(Field("LastName") == name).fetch().count
      }),
    question(
      "sorted", "find 10%, sorted by two fields", original: isNano ? 20 : 7.5,
      "\(select) WHERE \(lastName)=?1 "
        + "ORDER BY \(RawTable.field("FirstName")),\(RawTable.field("Age")),id", .rows,
      CardQuestion.Way("lazy documents", 1.5) {
        try $0.find(Field("LastName") == name).sorted(by: "FirstName", "Age").fetch().count
      }),
    question(
      "all", "find all", original: isNano ? 260 : 56, select, .rows,
      CardQuestion.Way("lazy documents in an array", 2) { try $0.fetch().count },
      CardQuestion.Way("every value read", isNano ? 6 : nil) { cards in
        var count = 0
        try cards.find().each { card in
          var leaves = 0
          for (_, value) in try card.object() { leaves += value.array?.count ?? 1 }
          count += leaves == 8 ? 1 : 0
        }
        return count
      }),
  ]
  if isNano {
    scenarios.append(
      question(
        "average", "average over 10% found by index", original: 19,
        "SELECT avg(\(RawTable.field("Salary"))) FROM d WHERE \(lastName)=?1", .cents,
        CardQuestion.Way("average", 1.2) {
          (try $0.find(Field("LastName") == name).average("Salary") ?? 0).cents
        }))
  } else {
    scenarios.append(CardGetScenario(set: set, lookups: Array(workload.lookups.prefix(1000))))
    scenarios.append(CardIndexScenario(set: set))
  }
  return scenarios
}
