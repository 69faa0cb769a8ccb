// SPDX-License-Identifier: MIT

public import NanoDocument

/// One aggregate while documents are added to it: the definition, which engines share.
public struct Aggregation {
  private let aggregate: Aggregate
  private var count = 0
  private var extreme: DocumentValue = .null
  private var integers: Int64 = 0
  private var isExact = true
  private var sum = CompensatedSum()
  private var numbers = 0

  public init(_ aggregate: Aggregate) { self.aggregate = aggregate }

  /// The value counts once for every time that the field reaches it.
  public mutating func add(_ value: DocumentValue) {
    switch aggregate {
    case .count: break
    case .countOf: count += 1
    case .minimum:
      if !value.isNull, extreme.isNull || ValueOrder.compare(value, extreme) < 0 { extreme = value }
    case .maximum:
      if !value.isNull, extreme.isNull || ValueOrder.compare(value, extreme) > 0 { extreme = value }
    case .average, .total: addNumber(value)
    }
  }

  /// Counts a document, whatever its fields.
  public mutating func addDocument() { if case .count = aggregate { count += 1 } }

  private mutating func addNumber(_ value: DocumentValue) {
    switch value {
    case .int(let number):
      let (sum, overflow) = integers.addingReportingOverflow(number)
      integers = sum
      if overflow { isExact = false }
      self.sum.add(Double(number))
    case .double(let number):
      isExact = false
      sum.add(number)
    default: return
    }
    numbers += 1
  }

  /// The result over everything that was added.
  public var result: DocumentValue {
    switch aggregate {
    case .count, .countOf: .int(Int64(count))
    case .minimum, .maximum: extreme
    case .average: numbers == 0 ? .null : .double(sum.value / Double(numbers))
    case .total: isExact ? .int(integers) : .double(sum.value)
    }
  }

  /// Arrays that a field reaches give their elements, not themselves.
  public static func counts(_ value: DocumentValue) -> Bool {
    if case .array = value { false } else { true }
  }
}

/// A sum of doubles with the rounding errors kept apart (Neumaier 1974), so that it does not depend
/// on the order of large and small terms.
struct CompensatedSum {
  private var sum = 0.0
  private var compensation = 0.0

  mutating func add(_ term: Double) {
    let next = sum + term
    if next.isFinite {
      compensation +=
        sum.magnitude >= term.magnitude ? (sum - next) + term : (term - next) + sum
    }
    sum = next
  }

  var value: Double { sum + compensation }
}

/// Groups of documents, with an aggregation for each aggregate in each group.
public struct GroupedAggregation {
  public let query: AggregateQuery
  private var groups: [[UInt8]: (values: [DocumentValue], aggregations: [Aggregation])] = [:]

  public init(_ query: AggregateQuery) { self.query = query }

  /// Adds a document, given what its fields reach.
  public mutating func add(_ values: (FieldPath) throws(StoreError) -> [DocumentValue])
    throws(StoreError)
  {
    var combinations: [[DocumentValue]] = [[]]
    for path in query.groups {
      let choices = Self.distinct(try values(path).filter(Aggregation.counts))
      combinations = combinations.flatMap { head in choices.map { head + [$0] } }
    }
    var inputs: [[DocumentValue]] = []
    for aggregate in query.aggregates {
      inputs.append(try aggregate.field.map { (path) throws(StoreError) in try values(path) } ?? [])
    }
    for combination in combinations { add(inputs, to: combination) }
  }

  private mutating func add(_ inputs: [[DocumentValue]], to group: [DocumentValue]) {
    var key: [UInt8] = []
    for value in group { SortKey.append(value, to: &key) }
    var entry = groups[key] ?? (group, query.aggregates.map(Aggregation.init))
    groups[key] = nil
    for index in entry.aggregations.indices {
      entry.aggregations[index].addDocument()
      for value in inputs[index] where Aggregation.counts(value) {
        entry.aggregations[index].add(value)
      }
    }
    groups[key] = entry
  }

  /// A field that is null or missing makes a group of its own, under null.
  private static func distinct(_ values: [DocumentValue]) -> [DocumentValue] {
    if values.count < 2 { return values.isEmpty ? [.null] : values }
    var seen: Set<[UInt8]> = []
    return values.filter { seen.insert(SortKey.bytes($0)).inserted }
  }

  /// The groups in sort order; without grouping fields one row, even of nothing.
  public var rows: [AggregateRow] {
    if query.groups.isEmpty, groups.isEmpty {
      return [
        AggregateRow(group: [], values: query.aggregates.map { Aggregation($0).result })
      ]
    }
    return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map {
      AggregateRow(group: $0.value.values, values: $0.value.aggregations.map(\.result))
    }
  }
}
