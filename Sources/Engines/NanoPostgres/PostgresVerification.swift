// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Finds documents that queries on the server would not match as stored.
struct PostgresVerification {
  private let reader: PostgresReader
  init(_ reader: PostgresReader) { self.reader = reader }

  func problems() throws -> [VerificationProblem] {
    try reader.collections().flatMap { description -> [VerificationProblem] in
      guard let collection = try reader.collection(description.name) else { return [] }
      return try documents(collection) + statistics(collection) + missingIndexes(collection)
        + invalidIndexes(collection) + rowIDs(collection) + triggers(collection)
        + previousBodies(collection)
    }
  }

  private func problem(_ collection: PostgresCollection, _ message: String) -> VerificationProblem {
    VerificationProblem(subject: collection.description.name, message: message)
  }

  private func documents(_ collection: PostgresCollection) throws -> [VerificationProblem] {
    var problems: [VerificationProblem] = []
    let paths = collection.paths.copy()
    let tokens = collection.fullTextIndexes.map { ", \($0.column), \($0.lengthColumn)" }.joined()
    var last: Int64?
    while true {
      let page: PostgresSQL =
        "SELECT id, source, body::text, true\(tokens) FROM \(collection.table) "
        + .page(after: last) + " ORDER BY id LIMIT 500"
      let rows = try reader.session.run(page.statement)
      guard rows.count > 0 else { return problems }
      for row in 0..<rows.count {
        try reader.session.interruption?.check()
        do {
          try check(rows, row, collection, paths, &problems)
        } catch let error as StoreError {
          problems.append(
            problem(collection, "document \(rows.int(row, 0)) does not decode: \(error.message)"))
        }
      }
      for node in paths.takeChanged() {
        problems.append(
          problem(collection, "the path catalog is missing \(paths.path(of: node).text)"))
      }
      last = rows.int(rows.count - 1, 0)
    }
  }

  private func check(
    _ rows: PostgresResult, _ row: Int, _ collection: PostgresCollection, _ paths: PathTrie,
    _ problems: inout [VerificationProblem]
  ) throws {
    let queryable = QueryableBody.compact(rows.bytes(row, 2))
    let object: DocumentObject
    if rows.isNull(row, 1) {
      object = try queryable.withUnsafeBytes { bytes in
        try paths.observe(bytes)
        var reader = JSONReader(bytes)
        return try reader.object()
      }
    } else {
      let source = rows.bytes(row, 1)
      try paths.observe(source)
      var reader = JSONReader(source)
      object = try reader.object()
      let sent = try QueryableBody.json(source).changed ?? Array(source)
      let expected = try decoded(sent)
      let actual = try queryable.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        return try reader.object()
      }
      if !Self.isSame(.object(expected), .object(actual)) {
        problems.append(
          problem(
            collection,
            "document \(rows.int(row, 0)) has a queryable body that differs from its stored body"))
      }
    }
    let subject = DocumentSubject(object)
    for (number, index) in collection.fullTextIndexes.enumerated() {
      let tokens = try TokenVector(index.definition.scope) { subject.texts(at: $0) }
      let column = 4 + 2 * number
      let stored = TokenVector.lexemes(rows.bytes(row, column))
      if rows.optionalInt(row, column + 1) != Int64(tokens.count) || stored != tokens.lexemes {
        problems.append(
          problem(
            collection,
            "text index \(index.definition.name) does not match document \(rows.int(row, 0))"))
      }
    }
  }

  private func decoded(_ bytes: [UInt8]) throws -> DocumentObject {
    try bytes.withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      return try reader.object()
    }
  }

  /// Returns whether two documents are equal, ignoring the order of their fields.
  private static func isSame(_ a: DocumentValue, _ b: DocumentValue) -> Bool {
    switch (a, b) {
    case (.object(let a), .object(let b)):
      // The server keeps the last of two fields whose names differ only in characters that it cannot store.
      let last = a.reduce(into: [ExactName: DocumentValue]()) { $0[ExactName($1.name)] = $1.value }
      return last.count == b.count
        && last.allSatisfy { name, value in b[name.text].map { isSame(value, $0) } ?? false }
    case (.array(let a), .array(let b)):
      return a.count == b.count && zip(a, b).allSatisfy { isSame($0, $1) }
    default: return ValueOrder.compare(a, b) == 0
    }
  }

  private func statistics(_ collection: PostgresCollection) throws -> [VerificationProblem] {
    try collection.fullTextIndexes.compactMap { index in
      guard let statistics = TextStatistics(index, collection, reader.names) else { return nil }
      let counted = try reader.session.run([
        statistics.totals, TextStatistics.scan(index, collection),
      ])
      guard (0...1).contains(where: { counted[0].int(0, $0) != counted[1].int(0, $0) }) else {
        return nil
      }
      return problem(
        collection, "the statistics of text index \(index.definition.name) are wrong")
    }
  }

  /// Indexes that another program has dropped.
  private func missingIndexes(_ collection: PostgresCollection) throws -> [VerificationProblem] {
    var names = collection.indexes.map(\.sqlName) + collection.fullTextIndexes.map(\.sqlName)
    if collection.indexing == .everything {
      names.append(PostgresNames.wholeIndex(of: collection.folded.text))
    }
    guard !names.isEmpty else { return [] }
    let rows = try reader.session.run(
      .once(
        "SELECT u.name FROM unnest($1::text[]) AS u(name) WHERE NOT EXISTS "
          + "(SELECT FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c "
          + "ON c.oid = i.indexrelid WHERE i.indrelid = $2::text::regclass "
          + "AND c.relname = u.name)", [.texts(names), .text(collection.table)]))
    return (0..<rows.count).map {
      problem(collection, "index \(rows.text($0, 0)) is missing")
    }
  }

  private func invalidIndexes(_ collection: PostgresCollection) throws -> [VerificationProblem] {
    let rows = try reader.session.run(
      .once(
        "SELECT c.relname::text FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c "
          + "ON c.oid = i.indexrelid WHERE i.indrelid = $1::text::regclass "
          + "AND NOT (i.indisvalid AND i.indisready)", [.text(collection.table)]))
    return (0..<rows.count).map {
      problem(collection, "index \(rows.text($0, 0)) is not valid")
    }
  }

  private func rowIDs(_ collection: PostgresCollection) throws -> [VerificationProblem] {
    let rows = try reader.session.run(
      .once(
        "SELECT \(collection.highestRowID), (SELECT coalesce(max(id), 0) FROM \(collection.table))")
    )
    guard let highest = rows.optionalInt(0, 0), highest < rows.int(0, 1) else { return [] }
    return [problem(collection, "the next row ID is already in use")]
  }

  private func triggers(_ collection: PostgresCollection) throws -> [VerificationProblem] {
    var names = collection.feed == nil ? [] : FeedDefinition.triggers
    if collection.hasExpirations { names += ExpiryDefinition.triggers }
    for index in collection.fullTextIndexes {
      names += TextStatistics(index, collection, reader.names)?.triggers ?? []
    }
    guard !names.isEmpty else { return [] }
    let rows = try reader.session.run(
      .once(
        "SELECT u.name FROM unnest($1::text[]) AS u(name) WHERE NOT EXISTS "
          + "(SELECT FROM pg_catalog.pg_trigger AS t WHERE t.tgrelid = $2::text::regclass "
          + "AND t.tgname = u.name AND t.tgenabled IN ('O', 'A'))",
        [.texts(names), .text(collection.table)]))
    return (0..<rows.count).map {
      problem(collection, "the trigger \(rows.text($0, 0)) is missing or disabled")
    }
  }

  private func previousBodies(_ collection: PostgresCollection) throws -> [VerificationProblem] {
    let rows = try reader.session.run(collection.previousBodies.isIncomplete)
    guard rows.bool(0, 0) else { return [] }
    return [problem(collection, "a trigger that keeps previous bodies is missing")]
  }
}
