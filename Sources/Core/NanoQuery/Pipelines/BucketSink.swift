// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Groups rows by adjacent values, with bounds computed from all values.
final class BucketSink: RowSink {
  /// A value of a row, and what its bucket's aggregates cover.
  private struct Entry: SortableEntry {
    let value: DocumentValue
    let inputs: [[DocumentValue]?]

    var stored: DocumentValue {
      .array([value] + inputs.map { $0.map(DocumentValue.array) ?? .null })
    }
    init(_ value: DocumentValue, _ inputs: [[DocumentValue]?]) {
      self.value = value
      self.inputs = inputs
    }
    init(stored: DocumentValue) {
      let parts = stored.array ?? []
      self.init(parts.first ?? .null, parts.dropFirst().map(\.array))
    }
    var approximateBytes: Int {
      inputs.reduce(value.approximateBytes) { sum, values in
        (values ?? []).reduce(sum + 32) { $0 + $1.approximateBytes }
      }
    }
  }

  private let buckets: Pipeline.Buckets
  private let inputs: AggregateInputs
  private let context: PipelineContext
  private let next: RowSink
  private let buffer: SortBuffer<Entry>
  /// The number of values that are not in a bucket.
  private var others = 0
  private var numbers = Extent()
  private var dates = Extent()

  init(
    _ buckets: Pipeline.Buckets, _ aggregates: [Pipeline.NamedAggregate],
    _ context: PipelineContext, _ next: RowSink
  ) {
    self.buckets = buckets
    self.context = context
    self.next = next
    inputs = AggregateInputs(aggregates: aggregates)
    buffer = SortBuffer(context)
  }

  override func add(_ row: PipelineRow) throws -> Bool {
    var values: [DocumentValue] = []
    let inputs = try row.evaluating(context.budget) { (evaluator) throws(StoreError) in
      values = try evaluator.elementValues(buckets.value.expression)
      return try self.inputs.values(evaluator)
    }
    if values.isEmpty { values = [.null] }
    var seen: Set<[UInt8]> = []
    for value in values {
      let key = SortKey.bytes(value)
      guard values.count == 1 || seen.insert(key).inserted else { continue }
      note(value)
      try buffer.add(key, Entry(value, inputs))
    }
    return true
  }

  private func note(_ value: DocumentValue) {
    if value.isNull { others += 1 }
    if let number = value.double { numbers.add(number) }
    if let date = value.date { dates.add(date.timeIntervalSinceReferenceDate) }
  }

  /// A bucket that is being filled.
  private struct Open {
    let number: Int
    let low: DocumentValue
    var last: DocumentValue
    var states: [AggregateState]
  }

  override func finish() throws {
    let widths = buckets.equalWidths ? Widths(numbers, dates, buckets.count) : nil
    var rest = inputs.states
    var restCount = 0
    var open: Open?
    var position = 0
    var rows: [DocumentObject] = []
    let count = buffer.count - others

    func close(_ next: DocumentValue?) throws(StoreError) {
      guard let bucket = open else { return }
      let bounds: DocumentObject
      if let widths {
        bounds = ["min": widths.bound(bucket.number), "max": widths.bound(bucket.number + 1)]
      } else {
        bounds = ["min": bucket.low, "max": next ?? bucket.last]
      }
      var object: DocumentObject = [:]
      object[buckets.value.name] = .object(bounds)
      inputs.append(bucket.states, to: &object)
      context.memory.release(bucket.states.held)
      try context.memory.hold(object.approximateBytes)
      rows.append(object)
      open = nil
    }

    try buffer.each { entry in
      let number: Int?
      if buckets.equalWidths {
        number = widths?.number(of: entry.value)
      } else if entry.value.isNull {
        number = nil
      } else {
        // A bucket ends at its share of the values, but never between equal values.
        let isEqual = open.map { ValueOrder.compare($0.last, entry.value) == 0 } ?? false
        number = isEqual ? open?.number : position * buckets.count / max(1, count)
        position += 1
      }
      guard let number else {
        restCount += 1
        try rest.add(entry.inputs, context.memory)
        return true
      }
      if let bucket = open, bucket.number != number { try close(entry.value) }
      if open == nil {
        open = Open(number: number, low: entry.value, last: entry.value, states: inputs.states)
      }
      open?.last = entry.value
      try open?.states.add(entry.inputs, context.memory)
      return true
    }
    try close(nil)
    var goesOn = true
    if restCount > 0 {
      var object: DocumentObject = [:]
      object[buckets.value.name] = .null
      inputs.append(rest, to: &object)
      context.memory.release(rest.held)
      goesOn = try next.add(PipelineRow(object))
    }
    for row in rows {
      context.memory.release(row.approximateBytes)
      if goesOn { goesOn = try next.add(PipelineRow(row)) }
    }
    try next.finish()
  }
}

extension BucketSink {
  /// The smallest and the largest finite number.
  struct Extent {
    var low = Double.infinity
    var high = -Double.infinity

    mutating func add(_ number: Double) {
      guard number.isFinite else { return }
      low = min(low, number)
      high = max(high, number)
    }
    var isEmpty: Bool { low > high }
  }

  /// Intervals of equal width over the numbers, or over the dates if there are no numbers.
  struct Widths {
    private let range: Extent
    private let count: Int
    private let isDate: Bool

    init?(_ numbers: Extent, _ dates: Extent, _ count: Int) {
      isDate = numbers.isEmpty
      range = isDate ? dates : numbers
      guard !range.isEmpty else { return nil }
      // Equal values are in one bucket.
      self.count = range.low == range.high ? 1 : count
    }

    private func position(_ number: Int) -> Double {
      if number == count { return range.high }
      let share = Double(number) / Double(count)
      // The difference of the bounds could overflow.
      return range.low * (1 - share) + range.high * share
    }

    /// Returns the lower bound of a bucket, which is the upper bound of the previous one.
    func bound(_ number: Int) -> DocumentValue {
      let position = number == 0 ? range.low : position(number)
      return isDate
        ? .date(Date(timeIntervalSinceReferenceDate: position)) : .double(position)
    }

    /// Returns the number of the bucket whose bounds contain a value; `nil` for other values.
    func number(of value: DocumentValue) -> Int? {
      guard let number = isDate ? value.date?.timeIntervalSinceReferenceDate : value.double,
        number.isFinite
      else { return nil }
      var (low, high) = (0, count)
      while high - low > 1 {
        let middle = (low + high) / 2
        if position(middle) <= number { low = middle } else { high = middle }
      }
      return low
    }
  }
}
