// SPDX-License-Identifier: MIT

package import NanoDocument

/// The running state of one aggregate of a pipeline. Defines the result of each aggregate.
struct AggregateState {
  private let function: AggregateExpression.Function
  private let isDistinct: Bool
  private var simple: Aggregation
  private var moments = Moments()
  private var single: DocumentValue?
  private var pushed: [DocumentValue] = []
  private var distinct: [[UInt8]: DocumentValue] = [:]
  /// The charged size of the collected values.
  private(set) var held = 0

  init(_ aggregate: AggregateExpression) {
    function = aggregate.function
    isDistinct = aggregate.isDistinct
    simple = Aggregation(Self.simple(aggregate))
  }

  /// The aggregate that computes the result of most functions.
  private static func simple(_ aggregate: AggregateExpression) -> Aggregate {
    switch aggregate.function {
    case .count where aggregate.operand == nil: .count
    case .sum: .sum(.element)
    case .average: .average(.element)
    case .min: .min(.element)
    case .max: .max(.element)
    case .count, .first, .last, .push, .sampleDeviation, .populationDeviation, .sampleVariance,
      .populationVariance:
      .countOf(.element)
    }
  }

  /// Adds the values of a row.
  ///
  /// - Throws: ``StoreError/Code/tooComplex`` if too many values are collected.
  mutating func add(_ values: [DocumentValue], _ memory: PipelineMemory) throws(StoreError) {
    simple.addDocument()
    for value in values {
      guard isDistinct else {
        try add(value, memory)
        continue
      }
      let key = SortKey.bytes(value)
      guard distinct[key] == nil else { continue }
      distinct[key] = value
      // The dictionary needs memory for the key, and spare capacity.
      try hold(2 * key.count + 2 * value.approximateBytes, memory)
    }
  }

  private mutating func add(_ value: DocumentValue, _ memory: PipelineMemory) throws(StoreError) {
    switch function {
    case .count, .sum, .average, .min, .max: simple.add(value)
    case .first: if single == nil { single = value }
    case .last: single = value
    case .push:
      pushed.append(value)
      try hold(value.approximateBytes, memory)
    case .sampleDeviation, .populationDeviation, .sampleVariance, .populationVariance:
      if let number = value.double { moments.add(number) }
    }
  }

  private mutating func hold(_ count: Int, _ memory: PipelineMemory) throws(StoreError) {
    held += count
    try memory.hold(count)
  }

  /// The result over all added rows.
  var result: DocumentValue {
    guard isDistinct else { return plainResult }
    var state = self
    let memory = PipelineMemory()
    for (_, value) in distinct.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      // The values have been charged, and the copies do not outlive the result.
      try? state.add(value, memory)
    }
    return state.plainResult
  }

  private var plainResult: DocumentValue {
    switch function {
    case .count, .sum, .average, .min, .max: simple.result
    case .first, .last: single ?? .null
    case .push: .array(pushed)
    case .sampleVariance: moments.variance(isSample: true)
    case .populationVariance: moments.variance(isSample: false)
    case .sampleDeviation: moments.deviation(isSample: true)
    case .populationDeviation: moments.deviation(isSample: false)
    }
  }
}

/// The mean and the squared deviations of numbers (Welford 1962), which do not lose digits as sums of
/// squares do.
struct Moments {
  private var count = 0.0
  private var mean = 0.0
  private var squares = 0.0
  /// Whether the squares of finite numbers exceed the largest double.
  private var isTooLarge = false
  private var isFinite = true

  mutating func add(_ number: Double) {
    count += 1
    let difference = number - mean
    if !number.isFinite { isFinite = false }
    if number.isFinite, mean.isFinite, !difference.isFinite { isTooLarge = true }
    mean += difference / count
    squares += difference * (number - mean)
  }

  func variance(isSample: Bool) -> DocumentValue {
    let divisor = isSample ? count - 1 : count
    guard divisor >= 1 else { return .null }
    if isTooLarge { return .double(isFinite ? .infinity : .nan) }
    return .double(squares / divisor)
  }

  func deviation(isSample: Bool) -> DocumentValue {
    guard case .double(let variance) = variance(isSample: isSample) else { return .null }
    return .double(variance.squareRoot())
  }
}

extension AggregateExpression {
  /// Returns the result over rows, given the values that each row contributes; `nil` for a row that the
  /// aggregate does not cover.
  ///
  /// - Throws: ``StoreError/Code/tooComplex`` if too many values are collected.
  package func result(over rows: [[DocumentValue]?]) throws(StoreError) -> DocumentValue {
    var state = AggregateState(self)
    let memory = PipelineMemory()
    for values in rows {
      if let values { try state.add(values, memory) }
    }
    return state.result
  }
}
