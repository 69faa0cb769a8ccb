// SPDX-License-Identifier: MIT

public import NanoDocument

/// Aggregates over the bytes of many stored documents.
///
/// Confined to one thread at a time.
public final class AggregationProgram {
  private var groups: GroupedAggregation
  private var document: DocumentBytes
  private let paths: [FieldPath: BytePath]
  /// The path and the aggregation of each aggregate, where no groups are asked for.
  private var plain: [(path: BytePath?, aggregation: Aggregation)] = []

  public init(_ query: AggregateQuery) {
    groups = GroupedAggregation(query)
    var names = FieldNames()
    var paths: [FieldPath: BytePath] = [:]
    for path in query.groups + query.aggregates.compactMap(\.field) {
      paths[path] = BytePath(path, &names)
    }
    self.paths = paths
    document = DocumentBytes(names.names)
    if query.groups.isEmpty {
      plain = query.aggregates.map { ($0.field.flatMap { paths[$0] }, Aggregation($0)) }
    }
  }

  /// - Throws: ``StoreError/Code/corruptDocument``.
  public func add(_ body: UnsafeRawBufferPointer) throws(StoreError) {
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
      _ = try document.values(path) { (reader) throws(StoreError) in
        var reader = reader
        if reader.kind() != .array { aggregation.add(try reader.value()) }
        return false
      }
      plain[index].aggregation = aggregation
    }
  }

  private func values(_ path: BytePath?) throws(StoreError) -> [DocumentValue] {
    guard let path else { return [] }
    var values: [DocumentValue] = []
    _ = try document.values(path) { (reader) throws(StoreError) in
      var reader = reader
      if reader.kind() != .array { values.append(try reader.value()) }
      return false
    }
    return values
  }

  /// The groups in sort order, over everything that was added.
  public var rows: [AggregateRow] {
    guard groups.query.groups.isEmpty else { return groups.rows }
    return [AggregateRow(group: [], values: plain.map(\.aggregation.result))]
  }
}

/// The distinct values that a field reaches in many stored documents.
///
/// Confined to one thread at a time.
public final class DistinctValues {
  private var seen: [[UInt8]: DocumentValue] = [:]
  private var document: DocumentBytes
  private let path: BytePath

  public init(_ field: FieldPath) {
    var names = FieldNames()
    path = BytePath(field, &names)
    document = DocumentBytes(names.names)
  }

  /// - Throws: ``StoreError/Code/corruptDocument``.
  public func add(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    document.reset(body)
    _ = try document.values(path) { (reader) throws(StoreError) in
      var reader = reader
      if reader.kind() == .array { return false }
      let value = try reader.value()
      let key = SortKey.bytes(value)
      if seen[key] == nil { seen[key] = value }
      return false
    }
  }

  /// In sort order.
  public var values: [DocumentValue] {
    seen.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }
}
