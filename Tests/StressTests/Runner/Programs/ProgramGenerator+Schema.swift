// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

extension ProgramGenerator {
  private mutating func index() -> IndexDefinition {
    // If only one of the stores collects saves, a violation would be reported at a different moment.
    if mode.returnsRowIDs, random.oneIn(3) {
      return random.oneIn(3)
        ? IndexDefinition(columns: [.init("tags")], isUnique: true, kind: .elements)
        : IndexDefinition(columns: [.init("u", descending: random.oneIn(3))], isUnique: true)
    }
    let path = random.pick(Self.favorites)
    if random.oneIn(3) { return IndexDefinition(columns: [.init(path)], kind: .elements) }
    var columns = [IndexDefinition.Column(path, descending: random.oneIn(3))]
    let second = random.pick(Self.favorites)
    if random.oneIn(3), second != path { columns.append(.init(second)) }
    return IndexDefinition(columns: columns)
  }

  private mutating func textIndex() -> FullTextIndexDefinition {
    let fields: [FieldPath] = random.pick([["name"], ["name", "a.name"], ["list", "name"]])
    return random.oneIn(2)
      ? FullTextIndexDefinition(name: "w", fields: fields)
      : FullTextIndexDefinition(name: "s", fields: fields, tokens: .substrings)
  }

  mutating func schemaChange() -> Call {
    let name = name()
    switch random.number(0...19) {
    case 0...4: return .index(name, index())
    case 5: return .indexKeys(name, random.pick(["[u]", "[b] DESC, [name]", "[name]", "aka, [u]"]))
    case 6: return .indexPaths(name, random.pick([["u"], ["-name", "a"], ["name"]]))
    case 7...9: return .textIndex(name, textIndex())
    case 10:
      let index = random.oneIn(2) ? self.index().name : random.pick(["w", "s", "a", "none"])
      return .dropIndex(name, index)
    case 11: return random.oneIn(3) ? .dropIndexes(name) : .rebuild(name)
    case 12, 13: return .indexing(name, random.pick(IndexingPolicy.allCases))
    case 14:
      return .defaults(name, random.oneIn(3) ? [:] : ["a": value(), "u": 3, "missing": value()])
    case 15:
      return .aliases(name, random.pick([["aka": "[a]"], ["aka": "[name]", "b": "[u]"], [:]]))
    case 16: return .queryable(name, random.pick(["[a], [b]", "[u]", "[a]"]))
    case 17: return .setup(name, setup())
    case 18: return random.oneIn(2) ? .drop(name) : .index(name, index())
    default: return .create(name, random.pick([.key, .key, .rowID]))
    }
  }

  private mutating func setup() -> CollectionSetup {
    CollectionSetup(
      defaults: random.oneIn(2) ? ["b": value()] : nil,
      aliases: random.oneIn(2) ? ["aka": "[b]"] : nil, indexes: ["[u], [a]"],
      queryableFields: ["[name]"], textIndexes: random.oneIn(2) ? ["[name]"] : [])
  }

  mutating func bag() -> Call {
    let bag = random.number(0...3)
    switch random.number(0...27) {
    case 0, 1: return .newBag(name: random.pick([nil, "one", "two"]))
    case 2, 3: return .bagNamed(random.pick(["one", "two"]))
    case 4, 5: return .addToBag(bag, name(), object())
    case 6...9: return .addMember(bag, name(), key())
    case 10: return .addBag(bag, random.number(0...3))
    case 11, 12: return .removeFromBag(bag, key())
    case 13: return .removeBagFromBag(bag, random.number(0...3))
    case 14: return random.oneIn(3) ? .clearBag(bag) : .bag(bag)
    case 15: return .renameBag(bag, random.pick([nil, "one", "three"]))
    case 16: return .undoBag(bag)
    case 17...20: return .saveBag(bag)
    case 21: return .reloadBag(bag)
    case 22: return .inflateBag(bag, random.oneIn(2))
    case 23: return random.oneIn(2) ? .copyBag(bag) : .dropBag(bag)
    case 24: return .findInBag(bag, bagQuery())
    case 25: return .searchBag(bag, search())
    case 26: return .bags(containing: key())
    default: return .bag(bag)
    }
  }

  /// Returns a query without full-text conditions and ranks, which bags do not support.
  private mutating func bagQuery() -> Query {
    var query = query()
    if query.condition.searches { query.condition = .constant(true) }
    return query
  }
}
