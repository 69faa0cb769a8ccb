// SPDX-License-Identifier: MIT

package import NanoDocument

/// Groups documents and computes aggregates for each group.
///
/// Groups that do not fit in memory are spilled: the values of their documents are written to an
/// external sorter and aggregated at the end, group by group in insertion order, so that the results
/// are the same.
package struct GroupedAggregation {
  package let query: AggregateQuery
  private typealias Group = (values: [DocumentValue], aggregations: [Aggregation])
  private var groups: [[UInt8]: Group] = [:]
  private var budget = SpillBudget()
  private let makeSpill: SpillMaker?
  private var spill: (any ExternalSorter)?

  /// - Parameter makeSpill: Creates external storage for groups that do not fit in memory; `nil` keeps
  ///   all groups in memory.
  package init(_ query: AggregateQuery, makeSpill: SpillMaker? = nil) {
    self.query = query
    self.makeSpill = makeSpill
  }

  /// Adds a document, given the values of its fields.
  ///
  /// - Throws: ``StoreError/Code/tooComplex`` for a document that belongs to too many groups.
  package mutating func add(_ values: (FieldPath) throws(StoreError) -> [DocumentValue])
    throws(StoreError)
  {
    var choices: [[DocumentValue]] = []
    for path in query.groups {
      choices.append(Self.distinct(try values(path).filter(Aggregation.counts)))
    }
    if choices.count > 1 { try EvaluationBudget.combinations(of: choices.map(\.count)) }
    var inputs: [[DocumentValue]] = []
    for aggregate in query.aggregates {
      inputs.append(
        try aggregate.field.map { (path) throws(StoreError) in
          try values(path).filter(Aggregation.counts)
        } ?? [])
    }
    try add(inputs, to: [], of: choices[...])
  }

  /// Adds the inputs to all groups whose values start with these.
  private mutating func add(
    _ inputs: [[DocumentValue]], to group: [DocumentValue], of choices: ArraySlice<[DocumentValue]>
  ) throws(StoreError) {
    guard let next = choices.first else { return try add(inputs, to: group) }
    for value in next { try add(inputs, to: group + [value], of: choices.dropFirst()) }
  }

  private mutating func add(
    _ inputs: [[DocumentValue]], to group: [DocumentValue]
  ) throws(StoreError) {
    var key: [UInt8] = []
    for value in group { SortKey.append(value, to: &key) }
    var entry: Group
    if let existing = groups[key] {
      entry = existing
    } else {
      // A key that was spilled is never kept in memory, so that its values stay together.
      if let makeSpill, spill != nil || !budget.keeps(key) {
        return try write(inputs, group, key, makeSpill)
      }
      entry = (group, query.aggregates.map(Aggregation.init))
    }
    groups[key] = nil
    Self.add(inputs, to: &entry)
    groups[key] = entry
  }

  private static func add(_ inputs: [[DocumentValue]], to group: inout Group) {
    for index in group.aggregations.indices {
      group.aggregations[index].addDocument()
      for value in inputs[index] { group.aggregations[index].add(value) }
    }
  }

  /// Returns the distinct values. A null or missing field belongs to the group of null.
  private static func distinct(_ values: [DocumentValue]) -> [DocumentValue] {
    if values.count < 2 { return values.isEmpty ? [.null] : values }
    var seen: Set<[UInt8]> = []
    return values.filter { seen.insert(SortKey.bytes($0)).inserted }
  }

  /// The groups in sort order; without grouping, one row even if there are no documents. Valid only if
  /// nothing was spilled.
  package var rows: [AggregateRow] {
    precondition(spill == nil, "Spilled groups require eachRow(_:)")
    if query.groups.isEmpty, groups.isEmpty {
      return [
        AggregateRow(group: [], values: query.aggregates.map { Aggregation($0).result })
      ]
    }
    return kept().map { Self.row($0.group) }
  }

  /// Passes the ``rows`` to the closure one at a time until it returns `false`.
  package func eachRow(_ body: (AggregateRow) throws -> Bool) throws {
    guard let spill else {
      for row in rows where try !body(row) { return }
      return
    }
    try eachRow(spill, body)
  }
}

extension GroupedAggregation {
  private func kept() -> [(key: [UInt8], group: Group)] {
    groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
  }

  private static func row(_ group: Group) -> AggregateRow {
    AggregateRow(group: group.values, values: group.aggregations.map(\.result))
  }

  private mutating func write(
    _ inputs: [[DocumentValue]], _ group: [DocumentValue], _ key: [UInt8], _ makeSpill: SpillMaker
  ) throws(StoreError) {
    if spill == nil { spill = try makeSpill() }
    var writer = JSONWriter()
    writer.wrappedValue(.array([.array(group)] + inputs.map { .array($0) }))
    if let failure = writer.failure { throw failure }
    try spill?.add(key, writer.bytes)
  }

  private func read(_ content: UnsafeRawBufferPointer) throws(StoreError) -> [[DocumentValue]] {
    var reader = JSONReader(content)
    return try reader.wrappedValue().array?.map { $0.array ?? [] } ?? []
  }

  /// Merges the groups in memory with the spilled ones, which have different keys.
  private func eachRow(_ spill: any ExternalSorter, _ body: (AggregateRow) throws -> Bool) throws {
    var kept = kept()[...]
    var current: (key: [UInt8], group: Group)?
    var isEnded = false
    func emitKept(before key: UnsafeRawBufferPointer?) throws {
      while !isEnded, let first = kept.first {
        if let key, !first.key.lexicographicallyPrecedes(key) { return }
        kept.removeFirst()
        isEnded = try !body(Self.row(first.group))
      }
    }
    func emitCurrent() throws {
      if !isEnded, let group = current?.group { isEnded = try !body(Self.row(group)) }
      current = nil
    }
    try spill.each { key, content in
      let values = try read(content)
      if let current, !current.key.elementsEqual(key) { try emitCurrent() }
      if current == nil {
        try emitKept(before: key)
        current = (Array(key), (values[0], query.aggregates.map(Aggregation.init)))
      }
      if isEnded { return false }
      Self.add(Array(values.dropFirst()), to: &current!.group)
      return true
    }
    try emitCurrent()
    try emitKept(before: nil)
  }
}
