// SPDX-License-Identifier: MIT

import NanoStore

extension ProgramExecutor {
  /// Performs a read-only call; returns nil for other calls.
  func performQuery(_ call: Call) throws -> Outcome? {
    switch call {
    case .get(let name, let target):
      return .text(try document(name, target).map(text) ?? "none")
    case .getAll(let name, let keys): return try texts(store[name].get(keys: keys))
    case .find(let name, let query): return try find(store[name].find(query))
    case .findText(let name, let text, let arguments):
      return try texts(store[name].find(text, arguments: arguments).fetch())
    case .select(let name, let query, let paths):
      return try texts(store[name].find(query).select(paths).fetch())
    case .pages(let name, let query, let size): return try pages(store[name].find(query), size)
    case .aggregate(let name, let query):
      return outcome(try store[name].find().rows(query), of: query, in: name)
    case .distinct(let name, let path, let query):
      return .values([try store[name].find(query).distinct(path.description)])
    case .summary(let name, let path, let query):
      return try summary(store[name].find(query), path)
    case .columns(let name, let query):
      return try texts(store[name].find(query).fieldsAsColumns().fetch())
    case .decoded(let name, let key):
      return .text(try store[name].get(key, as: Figure.self).map { "\($0)" } ?? "none")
    case .search(let name, let search):
      let collection = store[name]
      return .several([
        try texts(search.documents(in: collection)),
        .lines(try search.keys(in: collection).map(named)),
        .count(try search.count(in: collection)),
        try attempt {
          .values([try search.aggregate([.count, .max("a")], in: collection)])
        },
      ])
    case .ranked(let name, let query, let index):
      // On SQLite, ranks count expired documents until they are deleted.
      try ignoringRefusals { _ = try store.deleteExpired() }
      let results = try store[name].search(query, in: index).results()
      return .ranks(
        try results.map { (document: try text($0.document) + ($0.snippet() ?? ""), rank: $0.rank) })
    case .sql(let name, let condition): return try sql(name, condition)
    case .metadataSummary(let name): return try metadataSummary(name)
    case .names:
      let metadata = try store.metadataNames().map { name in
        "\(name) = \(try store.metadata(name)?.jsonString() ?? "none")"
      }
      return .lines(try store.collections().map { "\($0.name) \($0.identity)" } + metadata)
    default: return nil
    }
  }

  /// Executes a query in every possible way.
  private func find(_ query: DocumentQuery) throws -> Outcome {
    var shown: [String] = []
    try query.each { shown.append(try text($0)) }
    var decoded: [String] = []
    try query.each(as: DocumentObject.self) {
      decoded.append(DocumentValue.object($0).jsonString())
    }
    _ = try query.explain()
    return .several([
      try texts(query.fetch()), .lines(shown), .lines(decoded), .count(try query.count()),
      .flag(try query.exists()), .lines(try query.keys().map(named)),
      .text("\(try query.rowIDs())"),
      .text(try query.first().map(text) ?? "none"),
    ])
  }

  private func summary(_ query: DocumentQuery, _ field: FieldPath) throws -> Outcome {
    let path = field.description
    let row: [DocumentValue] = [
      .int(Int64(try query.count(of: path))), try query.min(path) ?? .null,
      try query.max(path) ?? .null, try query.average(path).map { .double($0) } ?? .null,
      try query.sum(path),
    ]
    let aggregates = AggregateQuery(query.query, aggregates: [.average(field), .sum(field)])
    return .values([row], sums: sums(aggregates, [[]], from: 3, query.collection.name))
  }

  /// Returns the rows of an aggregate query.
  func outcome(_ rows: [AggregateRow], of query: AggregateQuery, in name: String) -> Outcome {
    .values(
      rows.map { $0.group + $0.values },
      sums: sums(query, rows.map(\.group), from: query.groups.count, name))
  }

  /// Returns the sums and averages of each group of an aggregate query, by column. Only the outcomes of the reference
  /// engine need them.
  ///
  /// - Parameter first: The column of the first aggregate.
  private func sums(
    _ query: AggregateQuery, _ groups: [[DocumentValue]], from first: Int, _ name: String
  ) -> [[Int: Outcome.Sum]] {
    guard isReference else { return [] }
    let keys = query.groups.enumerated().map { place, path in
      Pipeline.NamedExpression("group\(place)", .field(path))
    }
    let added = query.aggregates.enumerated().compactMap { place, aggregate in
      aggregate.field.map { path in
        Pipeline.NamedAggregate("added\(place)", AggregateExpression(.push, .field(path)))
      }
    }
    var documents = query.query
    documents.fields = nil
    let pipeline = DocumentPipeline(
      store[name].find(documents), Pipeline([.group(Pipeline.Grouping(.values(keys), added))]))
    guard let rows = try? pipeline.rows() else { return [] }
    return groups.map { group in
      let row = rows.first { row in
        group.indices.allSatisfy { ValueOrder.compare(row["group\($0)"] ?? .null, group[$0]) == 0 }
      }
      var sums: [Int: Outcome.Sum] = [:]
      for (place, aggregate) in query.aggregates.enumerated() {
        let values = row?["added\(place)"]?.array ?? []
        switch aggregate {
        case .average: sums[first + place] = Outcome.Sum(of: values, isAverage: true)
        case .sum: sums[first + place] = Outcome.Sum(of: values)
        case .count, .countOf, .min, .max: break
        }
      }
      return sums
    }
  }

  private func pages(_ query: DocumentQuery, _ size: Int) throws -> Outcome {
    var pages: [Outcome] = []
    var place = query.query.after
    // Prevents an endless loop if pages repeat.
    while pages.count < 100 {
      let page = try query.after(place).page(size)
      pages.append(try texts(page.documents))
      place = page.next
      if place == nil { break }
    }
    return .several(pages)
  }

  /// Executes a custom SQL statement, or the equivalent query on the reference engine.
  private func sql(_ name: String, _ condition: String) throws -> Outcome {
    guard try store.collections().contains(where: { $0.name == name }) else { return .lines([]) }
    if isReference { return try texts(store[name].find(condition, arguments: []).fetch()) }
    let found = try store[name].find(condition, arguments: [])
    let ids = try found.rowIDs().map(String.init).joined(separator: ",")
    let table = name.replacing("\"", with: "\"\"")
    return try texts(
      store[name].documents(sql: "SELECT id FROM \"\(table)\" WHERE id IN (\(ids)) ORDER BY id"))
  }

  /// Returns the metadata of a collection.
  func metadataSummary(_ name: String) throws -> Outcome {
    let collection = store[name]
    let indexes = try collection.indexes().filter { $0.origin == .declared }
    return .several([
      .lines(indexes.map { "\($0.name) \($0.kind) \($0.isUnique) \($0.keys)" }),
      .lines(try collection.fullTextIndexes().map { "\($0.name) \($0.tokens) \($0.keys)" }),
      .text(try collection.indexing().rawValue),
      .text(DocumentValue.object(try collection.defaults()).jsonString()),
      .text(try collection.expirationRule().map { "\($0)" } ?? "no rule"),
      .lines(try collection.aliases().map { "\($0.key) = \($0.value)" }.sorted()),
      .lines(try collection.queryableFields().map(\.description)),
      .lines(try collection.types()), .count(try collection.count()),
      // Documents that were saved again before they were written are not in the observed paths.
      .paths(mode.returnsRowIDs ? try collection.observedPaths() : []),
    ])
  }

  /// Performs work that a program may make fail, in one of the two stores only.
  ///
  /// - Throws: The error, unless a program can cause it.
  func ignoringRefusals(_ work: () throws -> Void) throws {
    do {
      try work()
    } catch let error as StoreError where !error.code.isOfEnvironment {}
  }

  /// Returns one part of an outcome, so that an error does not hide the other parts.
  func attempt(_ work: () throws -> Outcome) throws -> Outcome {
    do {
      return try work()
    } catch let error as StoreError {
      return .failed(error.code)
    }
  }
}
