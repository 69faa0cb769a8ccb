// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

extension ProgramGenerator {
  /// Returns a query whose result depends only on the documents.
  mutating func query() -> Query {
    while true {
      var query = conditions.query()
      if random.oneIn(6) { query.condition = random.oneIn(2) ? textCondition() : addedCondition() }
      let text = query.condition.queryText + query.orderings.map(\.queryText).joined()
      if text.contains("REGEXP") || dependsOnClock(query) { continue }
      return query
    }
  }

  /// Returns whether the query depends on creation dates, except in ways that are the same for all programs.
  private func dependsOnClock(_ query: Query) -> Bool {
    let orders = query.orderings.map(\.queryText).joined()
    return (orders + query.condition.queryText).contains(Self.added)
      && query.condition != addedCondition()
  }
  private static let added = Ordering(.attribute(.added)).queryText

  /// Returns a condition that holds for every document of a program.
  private func addedCondition() -> Condition {
    .comparison(
      .attribute(.added), .greater, .value(.date(.init(timeIntervalSince1970: 1_000_000_000))))
  }

  private mutating func textCondition() -> Condition {
    let search = Condition.search(textQuery(), in: random.pick(["w", "s"]))
    return switch random.number(0...3) {
    case 0: .not(search)
    case 1: .all([search, .exists("a")])
    case 2: .any([search, .comparison(.field("u"), .greater, .value(.int(4)))])
    default: search
    }
  }

  /// Excludes near phrases and negations, whose ranks depend on SQLite.
  private mutating func textQuery() -> FullTextQuery {
    func phrase(_ random: inout SplitMix) -> FullTextQuery {
      let word = random.pick(["gin", "tonic", "creme", "ete", "日本", "x-ray", "gin tonic", "in"])
      return random.oneIn(4) ? .prefix(word) : .phrase(word)
    }
    return random.oneIn(3) ? .any([phrase(&random), phrase(&random)]) : phrase(&random)
  }

  mutating func search() -> Search {
    var search = Search()
    search.match = random.pick(Match.allCases)
    search.value = random.oneIn(4) ? nil : value()
    search.attribute = random.oneIn(2) ? nil : random.pick(["a", "b", "name", "list", "a.b"])
    if random.oneIn(4) { search.key = key() }
    if random.oneIn(5) { search.type = "Person" }
    if random.oneIn(5) {
      search.expressions = [
        SearchExpression(.attribute(.equalTo, "name")).and(.value(.contains, "i")),
        SearchExpression(.attribute(.equalTo, "u")).or(.key(.beginsWith, "k")),
      ]
    }
    if random.oneIn(3) { search.limit = random.number(0...4) }
    if random.oneIn(4) { search.offset = random.number(0...2) }
    if random.oneIn(3), let order = try? SearchOrdering("a", ascending: random.oneIn(2)) {
      search.orderings = [order]
    }
    if random.oneIn(5) { search.groupsValues = true }
    if random.oneIn(5) { search.fields = ["a", "name"] }
    return search
  }

  mutating func queryCall() -> Call {
    let name = name()
    switch random.number(0...20) {
    case 0...2: return .get(name, target())
    case 3: return .getAll(name, [key(), key(), key()])
    case 4...7: return .find(name, query())
    case 8:
      let text = random.pick([
        "[a] > ?", "aka = ? OR [u] < 5", "[name] CONTAINS 'i' AND [b] != ?", "[list] = ?",
        "NOT [a.b] IS NULL ORDER BY [u] DESC LIMIT 3", "[a] BETWEEN 1 AND ?", "broken [",
      ])
      return .findText(name, text, text.contains("?") ? [value()] : [])
    case 9: return .select(name, query(), [random.pick(["a", "list", "a.b"]), "name"])
    case 10:
      var query = query()
      (query.limit, query.offset) = (nil, 0)
      return .pages(name, query, size: random.number(1...4))
    case 11:
      var query = query()
      if query.condition.searches { query.condition = .constant(true) }
      return .aggregate(name, conditions.aggregates(query))
    case 12: return .distinct(name, random.pick(Self.favorites), query())
    case 13, 14: return .search(name, search())
    case 15: return .ranked(name, textQuery(), index: random.pick(["w", "s"]))
    case 16:
      return .sql(name, condition: random.pick(["[a] > 1", "[u] < 5", "[name] IS NOT NULL"]))
    case 17: return .summary(name, random.pick(Self.favorites), query())
    case 18: return .columns(name, query())
    case 19: return .decoded(name, key())
    default: return random.oneIn(2) ? .metadataSummary(name) : .names
    }
  }
}
