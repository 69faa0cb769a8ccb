// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresReader {
  /// The sort keys of a document, for an order that the server does not compute.
  private struct SortedRow {
    var keys: [[UInt8]]
    var rowID: Int64
    /// The document, if it cannot be read again as it was.
    var document: KnownDocument?
  }

  /// Sorts the results of a query in memory and passes on the documents of its page. Only sort keys are kept
  /// for all matches; the documents of the page are read afterwards.
  func findSorted(
    _ plan: FindPlan, _ metadata: PostgresCollectionMetadata, _ matcher: ConditionMatcher?,
    _ results: [PostgresResult], _ visit: (StoredDocument) throws -> Bool
  ) throws {
    let query = plan.query
    let programs = query.orderings.map {
      CompiledOrdering($0, defaults: metadata.collection.defaults)
    }
    var sortedRows: [SortedRow] = []
    try stream(plan, metadata, results) { document in
      guard try matches(document, matcher) else { return true }
      let keys = try programs.map { program in
        SortKey.bytes(try program.value(document.body) { document.value(of: $0) })
      }
      sortedRows.append(
        SortedRow(
          keys: keys, rowID: document.rowID,
          document: seesOneState ? nil : KnownDocument(document)))
      return true
    }
    let descending = query.orderings.map(\.descending)
    sortedRows.sort { Self.precedes($0, $1, descending) }
    if let after = query.after {
      let position = SortedRow(keys: after.values.map { SortKey.bytes($0) }, rowID: after.rowID)
      sortedRows.removeAll { !Self.precedes(position, $0, descending) }
    }
    let page = sortedRows.dropFirst(query.offset)
    let rows = page.prefix(query.limit ?? page.count)
    guard seesOneState else {
      return try Self.show(rows.lazy.compactMap(\.document), metadata, visit)
    }
    try visitDocuments(rows.map(\.rowID), metadata, PostgresQueryCompiler.columns(query), visit)
  }

  private static func precedes(_ a: SortedRow, _ b: SortedRow, _ descending: [Bool]) -> Bool {
    for (index, isDescending) in descending.enumerated() where a.keys[index] != b.keys[index] {
      return a.keys[index].lexicographicallyPrecedes(b.keys[index]) != isDescending
    }
    return a.rowID < b.rowID
  }

  /// Passes documents that were kept to a closure.
  static func show(
    _ documents: some Sequence<KnownDocument>, _ metadata: PostgresCollectionMetadata,
    _ visit: (StoredDocument) throws -> Bool
  ) throws {
    for document in documents {
      guard try document.show(metadata.collection.incarnation, visit) else { return }
    }
  }

  /// The number of documents that one statement reads. Arbitrary, like the page of a stream.
  private static let batchSize = 500

  /// Passes documents to a closure in the order of a list of row IDs.
  func visitDocuments(
    _ ids: [Int64], _ metadata: PostgresCollectionMetadata, _ columns: String,
    _ visit: (StoredDocument) throws -> Bool
  ) throws {
    var rest = ids[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.batchSize)
      rest = rest.dropFirst(part.count)
      let rows = try session.run(
        PostgresStatement(
          "SELECT \(columns) FROM \(metadata.collection.table) WHERE id = ANY($1)",
          [.ints(part.map { $0 })]))
      var rowsByID: [Int64: Int] = [:]
      for row in 0..<rows.count { rowsByID[rows.int(row, 0)] = row }
      for id in part {
        try session.interruption?.check()
        guard let row = rowsByID[id] else { continue }
        guard try rows.withDocument(row, metadata.collection.incarnation, visit) else { return }
      }
    }
  }
}
