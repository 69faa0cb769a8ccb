// SPDX-License-Identifier: MIT

public import NanoDocument

/// Aggregates over the bytes of many stored documents.
///
/// Confined to one thread at a time.
public final class AggregationProgram {
  private var groups: GroupedAggregation
  private var document: DocumentBytes
  private let paths: [FieldPath: CountedPath]
  /// The path and the aggregation of each aggregate, where no groups are asked for.
  private var plain: [(path: CountedPath?, aggregation: Aggregation)] = []

  /// - Parameter defaults: What stands for fields that a document does not have.
  public init(_ query: AggregateQuery, defaults: FieldDefaults? = nil) {
    groups = GroupedAggregation(query)
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
  private let path: CountedPath

  /// - Parameter defaults: What stands for the field where a document does not have it.
  public init(_ field: FieldPath, defaults: FieldDefaults? = nil) {
    var names = FieldNames()
    path = CountedPath(field, &names, defaults)
    document = DocumentBytes(names.names)
  }

  /// - Throws: ``StoreError/Code/corruptDocument``.
  public func add(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    document.reset(body)
    try path.each(&document) { value in
      let key = SortKey.bytes(value)
      if seen[key] == nil { seen[key] = value }
    }
  }

  /// In sort order.
  public var values: [DocumentValue] {
    seen.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }
}

/// A path whose values are counted: arrays that it reaches give their elements, not themselves.
private struct CountedPath {
  private let path: BytePath
  /// What is counted where a document has nothing there.
  private let defaults: [DocumentValue]

  init(_ path: FieldPath, _ names: inout FieldNames, _ defaults: FieldDefaults?) {
    self.path = BytePath(path, &names)
    self.defaults = defaults?.values(at: path).filter(Aggregation.counts) ?? []
  }

  @inline(__always)
  func each(
    _ document: inout DocumentBytes, _ show: (DocumentValue) -> Void
  ) throws(StoreError) {
    var isMissing = true
    _ = try document.values(path) { (reader) throws(StoreError) in
      isMissing = false
      var reader = reader
      if reader.kind() != .array { show(try reader.value()) }
      return false
    }
    if isMissing { defaults.forEach(show) }
  }
}
