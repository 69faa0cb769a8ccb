// SPDX-License-Identifier: MIT

import NanoDocument

extension Computation {
  /// Calls a function of arrays. An operand that is not an array, where one is required, yields null.
  ///
  /// - Throws: ``StoreError/Code/tooComplex`` if the arrays that the functions create exceed the budget.
  static func array(
    _ function: Function, _ operands: [DocumentValue], _ budget: EvaluationBudget
  ) throws(StoreError) -> DocumentValue {
    if function == .array {
      try budget.spend(contentsOf: .array(operands))
      return .array(operands)
    }
    guard let array = operands[0].array else { return .null }
    switch function {
    case .elementAt:
      guard let index = operands[1].int64.flatMap({ Self.index($0, in: array) }) else {
        return .null
      }
      return array[index]
    case .arraySlice: return try slice(array, operands.dropFirst(), budget)
    default: break
    }
    var arrays: [[DocumentValue]] = []
    for operand in operands {
      guard let array = operand.array else { return .null }
      arrays.append(array)
    }
    if function == .arrayConcat {
      for operand in operands { try budget.spend(contentsOf: operand) }
      return .array(arrays.flatMap { $0 })
    }
    // One call of the other functions does not return any value more often than its operands contain it.
    try budget.spend(elements: arrays.reduce(0) { $0 + $1.count })
    switch function {
    case .arrayReverse: return .array(array.reversed())
    case .arraySort: return .array(array.stablySorted())
    case .arrayUnion, .arrayDistinct: return .array(distinct(arrays.joined()))
    case .arrayIntersection:
      var common = keys(arrays[1])
      for other in arrays.dropFirst(2) { common.formIntersection(keys(other)) }
      return .array(distinct(array.filter { common.contains(SortKey.bytes($0)) }))
    case .arrayDifference:
      var others: Set<[UInt8]> = []
      for other in arrays.dropFirst() { others.formUnion(keys(other)) }
      return .array(distinct(array.filter { !others.contains(SortKey.bytes($0)) }))
    default: return .null
    }
  }

  /// Returns the position of an index that counts from 0, or from the end if it is negative.
  private static func index(_ index: Int64, in array: [DocumentValue]) -> Int? {
    let position = index < 0 ? Int64(array.count) + index : index
    return Int(exactly: position).flatMap { array.indices.contains($0) ? $0 : nil }
  }

  private static func slice(
    _ array: [DocumentValue], _ operands: ArraySlice<DocumentValue>, _ budget: EvaluationBudget
  ) throws(StoreError) -> DocumentValue {
    let count = Int64(array.count)
    guard let from = operands.first?.int64 else { return .null }
    // An array has fewer elements than either bound has room for.
    let start = from < 0 ? max(0, count + max(from, -count)) : min(from, count)
    var end = count
    if operands.count == 2 {
      guard let length = operands.last?.int64 else { return .null }
      end = min(count, start + max(0, min(length, count)))
    }
    try budget.spend(elements: Int(end - start))
    return .array(Array(array[Int(start)..<Int(end)]))
  }

  /// Returns the first of each set of values that are equal in the order of values.
  private static func distinct(_ values: some Sequence<DocumentValue>) -> [DocumentValue] {
    var seen: Set<[UInt8]> = []
    return values.filter { seen.insert(SortKey.bytes($0)).inserted }
  }

  private static func keys(_ values: [DocumentValue]) -> Set<[UInt8]> {
    Set(values.map { SortKey.bytes($0) })
  }

  /// Returns the lower bound of the interval that contains a value: at or above one bound, and below the
  /// next one, all of one rank. Null if no interval contains it.
  static func bucket(_ operands: [DocumentValue]) -> DocumentValue {
    let value = operands[0]
    let rank = ValueOrder.rank(value)
    guard rank != .none else { return .null }
    for (low, high) in zip(operands.dropFirst(), operands.dropFirst(2))
    where ValueOrder.rank(low) == rank && ValueOrder.rank(high) == rank {
      if ValueOrder.compare(value, low) >= 0, ValueOrder.compare(value, high) < 0 { return low }
    }
    return .null
  }
}

extension [DocumentValue] {
  /// Returns the values in sort order; equal values keep their order.
  func stablySorted() -> [DocumentValue] {
    enumerated().sorted { a, b in
      let order = ValueOrder.compare(a.element, b.element)
      return order == 0 ? a.offset < b.offset : order < 0
    }.map(\.element)
  }
}
