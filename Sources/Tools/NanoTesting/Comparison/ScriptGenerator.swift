// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Generates scripts that fill, index and query a collection, then modify and query it again.
package struct ScriptGenerator {
  private var random: SplitMix
  private var documents: DocumentGenerator
  private var conditions: ConditionGenerator
  private var indexes: [IndexDefinition] = []
  private var inserted = 0
  /// Whether to generate unique indexes.
  var makesUniqueIndexes = true

  /// Creates a generator; three out of four collections initially have one type per field.
  package init(seed: UInt64, avoiding avoided: Set<String> = []) {
    random = SplitMix(seed: seed)
    let isUniform = !random.oneIn(4)
    documents = DocumentGenerator(random: random.split(), isUniform: isUniform)
    conditions = ConditionGenerator(random: random.split())
    conditions.keys = Self.keys
    // Related documents are in the same collection, so that scripts write and index them, too.
    conditions.relatedCollections = [Script.collection, Script.collection, "missing"]
    documents.values.avoided = avoided
    conditions.values.avoided = avoided
  }

  private static let keys = [
    "k1", "k2", "ключ", "é", "e\u{301}", "0190d1f0-0000-7000-8000-000000000001",
    "0190d1f0-0000-7000-8000-000000000002", "0190D1F0-0000-7000-8000-000000000001",
  ]
  private static let fieldPaths: [FieldPath] = [
    "a", "b", "a.b", "list", "name", #""x.y""#, "$d", "é", "a.name", "b.name", "x'\u{301}",
    "$\u{301}", "a.\u{301}x", "missing", "list.0",
    "list.name", "a.$date",
  ]
  private static let otherKinds = IndexDefinition.Kind.allCases.filter { $0 != .fields }
  private static let elementPaths: [FieldPath] = [
    "list", "list.name", "a", "a.b", "name", "b", "list.a", "$d", "x'\u{301}", "$\u{301}",
  ]

  /// Returns a generated script.
  ///
  /// - Parameter requestsPerState: The number of queries for each state of the collection.
  package mutating func script(requestsPerState: Int) throws -> Script {
    var steps: [Script.Step] = []
    steps.append(
      .write(setIndexing() + makeIndexes(random.number(0...2)) + insertions(random.number(0...16))))
    steps.append(.write(setIndexing() + setDefaults() + makeIndexes(random.number(0...3))))
    try appendRequests(requestsPerState, &steps)
    for _ in 0..<2 {
      if random.oneIn(2) {
        documents.change()
        steps.append(.write(dropUnique()))
      }
      if random.oneIn(3) { steps.append(.write(setIndexing() + setDefaults())) }
      steps.append(.write(try (0..<random.number(1...8)).map { _ in try operation(2) }))
      try appendRequests(requestsPerState, &steps)
    }
    return Script(steps)
  }

  private mutating func appendRequests(_ count: Int, _ steps: inout [Script.Step]) throws {
    steps.append(.query(.contents))
    conditions.preferredPaths = indexes.flatMap { $0.columns.map(\.path) }
    for _ in 0..<count { steps.append(.query(try request())) }
  }

  private mutating func request() throws -> EngineRequest {
    var query = conditions.query()
    query.condition = try conditions.roundTrippedThroughText(query.condition)
    switch random.number(0...9) {
    case 0, 1: return .pages(query, size: random.number(1...5))
    case 2: return .distinct(random.pick(ConditionGenerator.paths), query)
    case 3: return .aggregate(conditions.aggregates(query))
    case 4: return .pipeline(try conditions.pipeline(), query)
    default:
      if random.oneIn(6) {
        query.after = PagePosition(
          values: query.orderings.map { _ in conditions.values.value(.mixed) },
          rowID: Int64(random.number(0...8)))
      }
      return .find(query)
    }
  }

  private mutating func document() -> GeneratedDocument {
    let key = random.oneIn(3) ? try? DocumentKey(random.pick(Self.keys)) : nil
    let document = documents.document(key: key)
    conditions.documents.append(document.object)
    return document
  }

  /// Changes the indexing policy for half of the collections.
  private mutating func setIndexing() -> [Operation] {
    random.oneIn(2) ? [] : [.setIndexing(random.pick(IndexingPolicy.allCases))]
  }

  /// Sets defaults for a third of the collections, taken from the fields of a generated document.
  private mutating func setDefaults() -> [Operation] {
    random.oneIn(3) ? [.setDefaults(defaults())] : []
  }

  private mutating func defaults() -> DocumentObject {
    var defaults = DocumentObject()
    for (name, value) in documents.document(key: nil).object where random.oneIn(2) {
      defaults[name] = value
    }
    if random.oneIn(2) { defaults["missing"] = conditions.values.value(.mixed) }
    return defaults
  }

  private mutating func insertions(_ count: Int) -> [Operation] {
    inserted += count
    return (0..<count).map { _ in .insert(document()) }
  }

  private mutating func identity() -> Identity {
    if random.oneIn(2), let key = try? DocumentKey(random.pick(Self.keys)) { return .key(key) }
    return .rowID(Int64(random.number(1...(inserted + 2))))
  }

  private mutating func operation(_ depth: Int) throws -> Operation {
    switch random.number(0...12) {
    case 0...2: return insertions(1)[0]
    case 3, 4: return .save(document())
    case 5, 6: return .replace(identity(), document())
    case 7: return .delete(identity())
    case 8: return .deleteMatching(removal())
    case 9: return makeIndexes(1).first ?? .delete(identity())
    case 10:
      guard let index = indexes.randomElement(using: &random) else { return .save(document()) }
      return .dropIndex(index.name)
    case 11 where random.oneIn(3): return .setDefaults(defaults())
    case 11:
      return random.oneIn(3)
        ? .rebuildIndexes : .setIndexing(random.pick(IndexingPolicy.allCases))
    default:
      guard depth > 0 else { return insertions(1)[0] }
      let first = random.oneIn(2) ? insertions(random.number(1...4)) : []
      return .rolledBack(
        first + (try (0..<random.number(1...3)).map { _ in try operation(depth - 1) }))
    }
  }

  /// Returns a query without regular expressions, which may fail after some documents are deleted.
  private mutating func removal() -> Query {
    while true {
      let query = conditions.query()
      if !query.condition.queryText.contains("REGEXP") { return query }
    }
  }

  private mutating func makeIndexes(_ count: Int) -> [Operation] {
    (0..<count).map { _ in
      var index = IndexDefinition(columns: [])
      switch random.oneIn(3) ? random.pick(Self.otherKinds) : .fields {
      case .elements:
        index = IndexDefinition(columns: [.init(random.pick(Self.elementPaths))], kind: .elements)
      case .fields:
        var columns: [IndexDefinition.Column] = []
        for _ in 0..<random.pick([1, 1, 1, 2, 3]) {
          let path = random.pick(Self.fieldPaths)
          if columns.contains(where: { $0.path == path }) { continue }
          columns.append(.init(path, descending: random.oneIn(3)))
        }
        let isSimple = columns.allSatisfy { documents.isSimple(at: $0.path) }
        let isUnique = isSimple && random.oneIn(2) && makesUniqueIndexes
        index = IndexDefinition(columns: columns, isUnique: isUnique)
      }
      indexes.append(index)
      return .createIndex(index)
    }
  }

  /// Drops the unique indexes, since with mixed types an engine may compare differently in indexes and conditions.
  private mutating func dropUnique() -> [Operation] {
    let unique = indexes.filter(\.isUnique)
    indexes.removeAll(where: \.isUnique)
    return unique.map { .dropIndex($0.name) }
  }
}
