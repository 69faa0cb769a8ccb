// SPDX-License-Identifier: MIT

import NanoDocument

/// Computes the values that the aggregates of a group cover.
struct AggregateInputs {
  let aggregates: [Pipeline.NamedAggregate]

  /// Returns the values of a row for each aggregate; `nil` if the aggregate does not cover the row.
  func values(
    _ evaluator: Evaluator<PipelineRow>
  ) throws(StoreError) -> [[DocumentValue]?] {
    var inputs: [[DocumentValue]?] = []
    inputs.reserveCapacity(aggregates.count)
    for named in aggregates {
      if let condition = named.aggregate.condition,
        try !evaluator.forConditions.holds(condition)
      {
        inputs.append(nil)
      } else if let operand = named.aggregate.operand {
        inputs.append(try evaluator.elementValues(operand))
      } else {
        inputs.append([])
      }
    }
    return inputs
  }

  /// The states of a group without rows.
  var states: [AggregateState] { aggregates.map { AggregateState($0.aggregate) } }

  /// Adds the fields of the results to a row.
  func append(_ states: [AggregateState], to object: inout DocumentObject) {
    for (named, state) in zip(aggregates, states) { object[named.name] = state.result }
  }
}

extension [AggregateState] {
  mutating func add(
    _ inputs: [[DocumentValue]?], _ memory: PipelineMemory
  ) throws(StoreError) {
    for index in indices {
      if let values = inputs[index] { try self[index].add(values, memory) }
    }
  }

  var held: Int { reduce(0) { $0 + $1.held } }
}

/// Groups rows by the values of expressions, and passes on one row for each group, in sort order.
///
/// Groups that do not fit in memory are spilled as in ``GroupedAggregation``.
final class GroupSink: RowSink {
  private final class Group {
    let values: [DocumentValue]
    var states: [AggregateState]
    init(_ values: [DocumentValue], _ states: [AggregateState]) {
      self.values = values
      self.states = states
    }
  }
  private let keys: [Pipeline.NamedExpression]
  private let inputs: AggregateInputs
  private let context: PipelineContext
  private let next: RowSink
  private var groups: [[UInt8]: Group] = [:]
  private var used = 0
  private var spill: (any ExternalSorter)?

  /// The approximate size of a group in addition to its key, in bytes.
  private static let overhead = 256
  /// The approximate size of the state of an aggregate.
  private static let stateSize = MemoryLayout<AggregateState>.stride

  init(
    _ keys: [Pipeline.NamedExpression], _ aggregates: [Pipeline.NamedAggregate],
    _ context: PipelineContext, _ next: RowSink
  ) {
    self.keys = keys
    self.context = context
    self.next = next
    inputs = AggregateInputs(aggregates: aggregates)
  }

  override func add(_ row: PipelineRow) throws -> Bool {
    var choices: [[DocumentValue]] = []
    let inputs = try row.evaluating(context.budget) { (evaluator) throws(StoreError) in
      choices.reserveCapacity(keys.count)
      for key in keys {
        choices.append(Self.distinct(try evaluator.elementValues(key.expression)))
      }
      if choices.count > 1 { try EvaluationBudget.combinations(of: choices.map(\.count)) }
      return try self.inputs.values(evaluator)
    }
    try add(inputs, to: [], of: choices[...])
    return true
  }

  /// Returns the distinct values. A null or missing field belongs to the group of null.
  private static func distinct(_ values: [DocumentValue]) -> [DocumentValue] {
    if values.count < 2 { return values.isEmpty ? [.null] : values }
    var seen: Set<[UInt8]> = []
    return values.filter { seen.insert(SortKey.bytes($0)).inserted }
  }

  private func add(
    _ inputs: [[DocumentValue]?], to group: [DocumentValue], of choices: ArraySlice<[DocumentValue]>
  ) throws(StoreError) {
    guard let values = choices.first else { return try add(inputs, to: group) }
    for value in values { try add(inputs, to: group + [value], of: choices.dropFirst()) }
  }

  private func add(
    _ inputs: [[DocumentValue]?], to values: [DocumentValue]
  ) throws(StoreError) {
    var key: [UInt8] = []
    for value in values { SortKey.append(value, to: &key) }
    if let group = groups[key] { return try group.states.add(inputs, context.memory) }
    let size = 2 * key.count + Self.overhead + Self.stateSize * self.inputs.aggregates.count
    if let makeSpill = context.makeSpill {
      // A key that was spilled is never kept in memory, so that its values stay together.
      guard spill == nil, used < PipelineMemory.spillBytes else {
        return try write(inputs, values, key, makeSpill)
      }
      used += size
    } else {
      try context.memory.hold(size)
    }
    let group = Group(values, self.inputs.states)
    groups[key] = group
    try group.states.add(inputs, context.memory)
  }

  private func write(
    _ inputs: [[DocumentValue]?], _ values: [DocumentValue], _ key: [UInt8],
    _ makeSpill: SpillMaker
  ) throws(StoreError) {
    if spill == nil { spill = try makeSpill() }
    var writer = JSONWriter()
    writer.wrappedValue(
      .array([.array(values)] + inputs.map { $0.map(DocumentValue.array) ?? .null }))
    if let failure = writer.failure { throw failure }
    try spill?.add(key, writer.bytes)
  }

  override func finish() throws {
    if keys.isEmpty, groups.isEmpty { groups[[]] = Group([], inputs.states) }
    var kept = groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }[...]
    groups = [:]
    var goesOn = true
    func emit(_ group: Group) throws {
      guard goesOn else { return }
      try context.check()
      var object = DocumentObject()
      for (key, value) in zip(keys, group.values) { object[key.name] = value }
      inputs.append(group.states, to: &object)
      context.memory.release(group.states.held)
      goesOn = try next.add(PipelineRow(object))
    }
    if let spill { try merge(spill, &kept, emit) { goesOn } }
    while goesOn, let (_, group) = kept.popFirst() { try emit(group) }
    try next.finish()
  }

  /// Passes the spilled groups to the closure, and before each the groups in memory that precede it.
  private func merge(
    _ spill: any ExternalSorter, _ kept: inout ArraySlice<(key: [UInt8], value: Group)>,
    _ emit: (Group) throws -> Void, _ goesOn: () -> Bool
  ) throws {
    var current: (key: [UInt8], group: Group)?
    var rest = kept
    try spill.each { key, content in
      var reader = JSONReader(content)
      let parts = try reader.wrappedValue().array ?? []
      if let (open, group) = current, !open.elementsEqual(key) {
        try emit(group)
        current = nil
      }
      if current == nil {
        while let first = rest.first, first.key.lexicographicallyPrecedes(key) {
          rest.removeFirst()
          try emit(first.value)
        }
        current = (Array(key), Group(parts.first?.array ?? [], inputs.states))
      }
      guard goesOn() else { return false }
      try current?.group.states.add(parts.dropFirst().map(\.array), context.memory)
      return true
    }
    if let (_, group) = current { try emit(group) }
    kept = rest
  }
}
