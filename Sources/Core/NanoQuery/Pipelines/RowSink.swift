// SPDX-License-Identifier: MIT

import NanoDocument

/// A running stage of a pipeline: receives rows, and passes rows to the next stage.
class RowSink {
  /// Adds a row.
  ///
  /// - Returns: Whether further rows can make a difference.
  func add(_ row: PipelineRow) throws -> Bool { false }

  /// Called once, after the last row.
  func finish() throws {}
}

/// What the stages of a running pipeline share.
final class PipelineContext {
  let memory = PipelineMemory()
  let budget = EvaluationBudget()
  /// Creates external storage; `nil` keeps everything in memory.
  let makeSpill: SpillMaker?
  /// Throws if the call was canceled. Stages that multiply or replay rows call it for each row, because an
  /// engine can only stop its own statements.
  let check: () throws -> Void
  /// Passes the documents of a source to its first stage. The stages are those that its rows go through.
  typealias Read = (Pipeline.Source, _ stages: [Pipeline.Stage], RowSink) throws -> Void
  let read: Read

  init(makeSpill: SpillMaker?, check: @escaping () throws -> Void, read: @escaping Read) {
    self.makeSpill = makeSpill
    self.check = check
    self.read = read
  }

  /// Returns the first of a list of stages, connected to the others and to the sink after the last one.
  ///
  /// - Parameter outer: The stages that the rows go through after the sink, for a chain inside a union.
  func chain(
    _ stages: ArraySlice<Pipeline.Stage>, before outer: ArraySlice<Pipeline.Stage> = [],
    to sink: RowSink
  ) -> RowSink {
    var next = sink
    for index in stages.indices.reversed() {
      next = sinkFor(stages[index], before: stages[(index + 1)...], outer, next)
    }
    return next
  }

  /// The number of rows that the stages after a sort use.
  private static func kept(_ stages: ArraySlice<Pipeline.Stage>) -> Int? {
    guard case .limit(let limit, let offset, let expressions)? = stages.first,
      expressions.isEmpty
    else { return nil }
    let (sum, overflow) = limit.addingReportingOverflow(offset)
    return overflow ? nil : sum
  }

  private func sinkFor(
    _ stage: Pipeline.Stage, before rest: ArraySlice<Pipeline.Stage>,
    _ outer: ArraySlice<Pipeline.Stage>, _ next: RowSink
  ) -> RowSink {
    switch stage {
    case .filter(let condition): FilterSink(condition, self, next)
    case .unwind(let unwind): UnwindSink(unwind, self, next)
    case .extend(let fields): ComputeSink(fields, replaces: false, self, next)
    case .select(let fields): ComputeSink(fields, replaces: true, self, next)
    case .group(let grouping):
      switch grouping.keys {
      case .values(let keys): GroupSink(keys, grouping.aggregates, self, next)
      case .buckets(let buckets): BucketSink(buckets, grouping.aggregates, self, next)
      }
    case .sort(let orderings): SortSink(orderings, kept: Self.kept(rest), self, next)
    case .limit(let limit, let offset, let expressions):
      LimitSink(limit, offset, expressions, self, next)
    case .union(let source): UnionSink(source, before: rest + outer, self, next)
    case .facets(let facets): FacetSink(facets, self, next)
    }
  }
}

/// Passes rows to a closure.
final class ClosureSink: RowSink {
  private let visit: (PipelineRow) throws -> Bool
  init(_ visit: @escaping (PipelineRow) throws -> Bool) { self.visit = visit }
  override func add(_ row: PipelineRow) throws -> Bool { try visit(row) }
}

/// Keeps the rows that satisfy a condition.
final class FilterSink: RowSink {
  private let condition: Condition
  private let context: PipelineContext
  private let next: RowSink

  init(_ condition: Condition, _ context: PipelineContext, _ next: RowSink) {
    self.condition = condition
    self.context = context
    self.next = next
  }

  override func add(_ row: PipelineRow) throws -> Bool {
    let holds = try row.evaluating(context.budget) { (evaluator) throws(StoreError) in
      try evaluator.forConditions.holds(condition)
    }
    return holds ? try next.add(row) : true
  }
  override func finish() throws { try next.finish() }
}

/// Adds computed fields to the row, or replaces its fields.
final class ComputeSink: RowSink {
  private let fields: [Pipeline.NamedExpression]
  private let replaces: Bool
  private let context: PipelineContext
  private let next: RowSink

  init(
    _ fields: [Pipeline.NamedExpression], replaces: Bool, _ context: PipelineContext,
    _ next: RowSink
  ) {
    self.fields = fields
    self.replaces = replaces
    self.context = context
    self.next = next
  }

  override func add(_ row: PipelineRow) throws -> Bool {
    let object = try row.evaluating(context.budget) { (evaluator) throws(StoreError) in
      var object = replaces ? DocumentObject() : row.object
      // Every expression sees the row before the stage.
      for field in fields { object[field.name] = try evaluator.singleValue(field.expression) }
      return object
    }
    if replaces { return try next.add(row.replacing(object)) }
    var extended = row
    extended.object = object
    extended.removeDefaults(of: fields.lazy.map(\.name))
    return try next.add(extended)
  }
  override func finish() throws { try next.finish() }
}

/// Skips rows and keeps a number of them, of each group or in total.
final class LimitSink: RowSink {
  private let limit, offset: Int
  private let expressions: [QueryExpression]
  private let context: PipelineContext
  private let next: RowSink
  private var counts: [[UInt8]: Int] = [:]
  private var count = 0

  /// The size of a counter in addition to its key.
  private static let overhead = 64

  init(
    _ limit: Int, _ offset: Int, _ expressions: [QueryExpression], _ context: PipelineContext,
    _ next: RowSink
  ) {
    self.limit = limit
    self.offset = offset
    self.expressions = expressions
    self.context = context
    self.next = next
  }

  override func add(_ row: PipelineRow) throws -> Bool {
    guard expressions.isEmpty else {
      return includes(try number(row)) ? try next.add(row) : true
    }
    count += 1
    let goesOn = includes(count) ? try next.add(row) : true
    // Compared without adding, which could overflow.
    return goesOn && count - offset < limit
  }

  private func includes(_ number: Int) -> Bool { number > offset && number - offset <= limit }

  /// Returns the number of rows of the same group so far.
  private func number(_ row: PipelineRow) throws(StoreError) -> Int {
    let key = try row.evaluating(context.budget) { (evaluator) throws(StoreError) in
      var key: [UInt8] = []
      for expression in expressions {
        SortKey.append(try evaluator.singleValue(expression) ?? .null, to: &key)
      }
      return key
    }
    if counts[key] == nil { try context.memory.hold(key.count + Self.overhead) }
    counts[key, default: 0] += 1
    return counts[key] ?? 0
  }
  override func finish() throws { try next.finish() }
}

/// Sorts all rows.
final class SortSink: RowSink {
  private let orderings: [Ordering]
  private let context: PipelineContext
  private let next: RowSink
  private let buffer: SortBuffer<PipelineRow>

  /// - Parameter kept: The number of rows that the next stages use.
  init(_ orderings: [Ordering], kept: Int?, _ context: PipelineContext, _ next: RowSink) {
    self.orderings = orderings
    self.context = context
    self.next = next
    buffer = SortBuffer(context, keeping: kept)
  }

  override func add(_ row: PipelineRow) throws -> Bool {
    var key: [UInt8] = []
    for ordering in orderings {
      let start = key.count
      SortKey.append(try ordering.value(for: row, context.budget), to: &key)
      // The key of a decimal continues the key of the number before it.
      key.append(0)
      guard ordering.descending else { continue }
      // With the terminator, no key is a prefix of another, so inverted bytes are in the opposite order.
      for index in start..<key.count { key[index] = ~key[index] }
    }
    try buffer.add(key, row)
    return true
  }

  override func finish() throws {
    try buffer.each { try next.add($0) }
    try next.finish()
  }
}

/// Appends the rows of another query.
final class UnionSink: RowSink {
  private let source: Pipeline.Source
  /// All stages that the rows go through after the union, including those of outer unions.
  private let rest: ArraySlice<Pipeline.Stage>
  private let context: PipelineContext
  private let next: RowSink
  private var goesOn = true

  init(
    _ source: Pipeline.Source, before rest: ArraySlice<Pipeline.Stage>,
    _ context: PipelineContext, _ next: RowSink
  ) {
    self.source = source
    self.rest = rest
    self.context = context
    self.next = next
  }

  override func add(_ row: PipelineRow) throws -> Bool {
    goesOn = try next.add(row)
    return goesOn
  }

  override func finish() throws {
    if goesOn {
      let rows = context.chain(
        source.stages[...], before: rest, to: ClosureSink { [next] in try next.add($0) })
      try context.read(source, source.stages + rest, rows)
    }
    try next.finish()
  }
}

/// Passes each row to several pipelines, and collects their rows.
final class FacetSink: RowSink {
  private final class Branch {
    let name: String
    var head: RowSink
    var goesOn = true
    var rows: [DocumentValue] = []

    init(_ facet: Pipeline.Facet, _ context: PipelineContext) {
      name = facet.name
      head = RowSink()
      let end = ClosureSink { [unowned self] row in
        try context.memory.hold(row.approximateBytes)
        rows.append(.object(row.object))
        return true
      }
      head = context.chain(facet.stages[...], to: end)
    }
  }
  private let branches: [Branch]
  private let next: RowSink

  init(_ facets: [Pipeline.Facet], _ context: PipelineContext, _ next: RowSink) {
    branches = facets.map { Branch($0, context) }
    self.next = next
  }

  override func add(_ row: PipelineRow) throws -> Bool {
    var goesOn = false
    for branch in branches where branch.goesOn {
      branch.goesOn = try branch.head.add(row)
      goesOn = goesOn || branch.goesOn
    }
    return goesOn
  }

  override func finish() throws {
    for branch in branches { try branch.head.finish() }
    let facets = DocumentObject(branches.map { ($0.name, DocumentValue.array($0.rows)) })
    _ = try next.add(PipelineRow(facets))
    try next.finish()
  }
}
