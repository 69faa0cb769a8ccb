// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

/// What documents hold at one path.
struct PathStatistics {
  /// The number of documents with the path.
  private(set) var documents = 0
  /// The number of values; more than one per document below an array.
  private(set) var values = 0
  private(set) var types: [(name: String, count: Int)] = []
  private(set) var smallest: DocumentValue?
  private(set) var largest: DocumentValue?
  private var counts: [DocumentValue: Int] = [:]
  /// Whether ``counts`` lacks values.
  private(set) var hasMoreValues = false
  /// Numbers, or seconds since 1970 of dates.
  private var numbers: [Double] = []
  private var dates = 0
  private var lastDocument = -1

  /// The number of distinct values that are counted; arbitrary.
  private static let maximumCounted = 5_000
  /// Longer strings are not counted as values: they are texts.
  private static let maximumText = 200

  mutating func add(_ value: DocumentValue, document: Int) {
    if lastDocument != document {
      lastDocument = document
      documents += 1
    }
    values += 1
    note(value.typeName)
    switch value {
    case .array, .object, .null: return
    case .int(let number): numbers.append(Double(number))
    case .double(let number): if number.isFinite { numbers.append(number) }
    case .decimal(let number): numbers.append(number.nearestDouble)
    case .date(let date):
      dates += 1
      numbers.append(date.timeIntervalSince1970)
    case .string(let text) where text.utf8.count > Self.maximumText:
      hasMoreValues = true
      return
    default: break
    }
    if smallest.map({ ValueOrder.compare(value, $0) < 0 }) ?? true { smallest = value }
    if largest.map({ ValueOrder.compare(value, $0) > 0 }) ?? true { largest = value }
    if let count = counts[value] {
      counts[value] = count + 1
    } else if counts.count < Self.maximumCounted {
      counts[value] = 1
    } else {
      hasMoreValues = true
    }
  }

  private mutating func note(_ type: String) {
    guard let index = types.firstIndex(where: { $0.name == type }) else {
      return types.append((type, 1))
    }
    types[index].count += 1
  }

  var distinct: Int { counts.count }

  /// The most frequent values, and in their order, if there are few.
  func frequent(_ limit: Int) -> [(value: DocumentValue, count: Int)] {
    counts.sorted {
      $0.value != $1.value ? $0.value > $1.value : ValueOrder.compare($0.key, $1.key) < 0
    }.prefix(limit).map { (value: $0.key, count: $0.value) }
  }

  /// The distribution of numbers or dates; nil if there are other values, only one, or a range that exceeds a `Double`.
  func histogram(bins: Int) -> Histogram? {
    guard let low = numbers.min(), let high = numbers.max(), low < high,
      (high - low).isFinite, dates == 0 || dates == numbers.count
    else { return nil }
    var heights = [Int](repeating: 0, count: bins)
    for number in numbers {
      let position = (number - low) / (high - low) * Double(bins)
      heights[min(bins - 1, position.isFinite ? Int(position) : 0)] += 1
    }
    return Histogram(low: low, high: high, heights: heights, isDates: dates > 0)
  }

  struct Histogram {
    var low: Double
    var high: Double
    var heights: [Int]
    var isDates: Bool
  }
}
