// SPDX-License-Identifier: MIT

package import NanoDocument

/// Computes aggregates over the bytes of stored documents.
///
/// Confined to one thread at a time.
package final class CompiledAggregation {
  private var groups: GroupedAggregation
  private var document: DocumentBytes
  private let paths: [FieldPath: CountedPath]
  /// The path and the aggregation of each aggregate, if there is no grouping.
  private var plain: [(path: CountedPath?, aggregation: Aggregation)] = []

  /// - Parameters:
  ///   - defaults: The values of fields that a document does not have.
  ///   - makeSpill: Creates external storage for groups that do not fit in memory; `nil` keeps all
  ///     groups in memory.
  package init(
    _ query: AggregateQuery, defaults: FieldDefaults? = nil, makeSpill: SpillMaker? = nil
  ) {
    groups = GroupedAggregation(query, makeSpill: makeSpill)
    var names = FieldNames()
    var paths: [FieldPath: CountedPath] = [:]
    for path in query.groups + query.aggregates.compactMap(\.field) {
      paths[path] = CountedPath(path, &names, defaults)
    }
    self.paths = paths
    document = DocumentBytes(names.names)
    if query.groups.isEmpty {
      plain = query.aggregates.map { ($0.field.flatMap { paths[$0] }, Aggregation($0)) }
    }
  }

  /// Adds a document.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/tooComplex``.
  package func add(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    document.reset(body)
    if groups.query.groups.isEmpty { return try addPlain() }
    let paths = paths
    try groups.add { (field) throws(StoreError) in try self.values(paths[field]) }
  }

  private func addPlain() throws(StoreError) {
    for index in plain.indices {
      plain[index].aggregation.addDocument()
      guard let path = plain[index].path else { continue }
      var aggregation = plain[index].aggregation
      try path.each(&document) { aggregation.add($0) }
      plain[index].aggregation = aggregation
    }
  }

  private func values(_ path: CountedPath?) throws(StoreError) -> [DocumentValue] {
    guard let path else { return [] }
    var values: [DocumentValue] = []
    try path.each(&document) { values.append($0) }
    return values
  }

  /// The groups of all added documents, in sort order.
  package var rows: [AggregateRow] {
    guard groups.query.groups.isEmpty else { return groups.rows }
    return [AggregateRow(group: [], values: plain.map(\.aggregation.result))]
  }

  /// Passes the ``rows`` to the closure one at a time until it returns `false`.
  package func eachRow(_ body: (AggregateRow) throws -> Bool) throws {
    guard groups.query.groups.isEmpty else { return try groups.eachRow(body) }
    for row in rows where try !body(row) { return }
  }
}

/// A path whose values are aggregated: arrays contribute their elements, not themselves.
struct CountedPath {
  private let path: BytePath
  /// The values to use if the document has no value at the path.
  private let defaults: [DocumentValue]

  init(_ path: FieldPath, _ names: inout FieldNames, _ defaults: FieldDefaults?) {
    self.path = BytePath(path, &names)
    self.defaults = defaults?.values(at: path).filter(Aggregation.counts) ?? []
  }

  @inline(__always)
  func each(
    _ document: inout DocumentBytes, _ body: (DocumentValue) -> Void
  ) throws(StoreError) {
    var isMissing = true
    _ = try document.values(path) { (reader) throws(StoreError) in
      isMissing = false
      var reader = reader
      if reader.kind() != .array { body(try reader.value()) }
      return false
    }
    if isMissing { defaults.forEach(body) }
  }
}
