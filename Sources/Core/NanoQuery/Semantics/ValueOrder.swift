// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// The total order of all values, and equality in conditions.
///
/// missing and null < Booleans < numbers < dates < strings (including URLs) < data < arrays < objects.
/// Numbers compare by exact value whether stored as integer, double or decimal, with NaN first; strings by code
/// point; arrays and objects element by element.
package enum ValueOrder {
  /// The ranks, in order. Values compare only within their rank.
  package enum Rank: UInt8, Comparable, Sendable {
    case none, boolean, number, date, text, data, array, object
    package static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
    /// Whether values of this rank contain other values.
    package var isContainer: Bool { self >= .array }
  }

  /// Returns the rank of a value.
  package static func rank(_ value: DocumentValue) -> Rank {
    switch value {
    case .null: .none
    case .bool: .boolean
    case .int, .double, .decimal: .number
    case .date: .date
    case .string, .url: .text
    case .data: .data
    case .array: .array
    case .object: .object
    }
  }

  /// Returns a negative number, zero or a positive number if the first value sorts before, equal to or
  /// after the second.
  package static func compare(_ a: DocumentValue, _ b: DocumentValue) -> Int {
    let (left, right) = (rank(a), rank(b))
    guard left == right else { return left < right ? -1 : 1 }
    switch (a, b) {
    case (.bool(let x), .bool(let y)): return (x ? 1 : 0) - (y ? 1 : 0)
    case (.int(let x), .int(let y)): return x < y ? -1 : x == y ? 0 : 1
    case (.double(let x), .double(let y)): return compare(x, y)
    case (.int(let x), .double(let y)): return compare(x, y)
    case (.double(let x), .int(let y)): return -compare(y, x)
    case (.decimal(let x), .decimal(let y)): return DecimalValue.compare(x, y)
    case (.decimal(let x), .int(let y)): return DecimalValue.compare(x, y)
    case (.int(let x), .decimal(let y)): return -DecimalValue.compare(y, x)
    case (.decimal(let x), .double(let y)): return DecimalValue.compare(x, y)
    case (.double(let x), .decimal(let y)): return -DecimalValue.compare(y, x)
    case (.date(let x), .date(let y)): return x < y ? -1 : x == y ? 0 : 1
    case (.data(let x), .data(let y)): return compareBytes(x, y)
    case (.array(let x), .array(let y)): return compareArrays(x, y)
    case (.object(let x), .object(let y)): return compareObjects(x, y)
    case (.null, .null): return 0
    case (.string, _), (.url, _): return compareBytes(text(a).utf8, text(b).utf8)
    // Never reached: the pairs of one rank are above.
    case (.null, _), (.bool, _), (.int, _), (.double, _), (.decimal, _), (.date, _), (.data, _),
      (.array, _), (.object, _):
      return 0
    }
  }

  /// Returns the text of a string or a URL; empty for other values.
  package static func text(_ value: DocumentValue) -> String {
    switch value {
    case .string(let text): text
    case .url(let url): url.absoluteString
    case .null, .bool, .int, .double, .decimal, .date, .data, .array, .object: ""
    }
  }

  /// Compares doubles in value order: NaN comes first and equals itself.
  package static func compare(_ x: Double, _ y: Double) -> Int {
    if x < y { return -1 }
    if x == y { return 0 }
    if x > y { return 1 }
    return (x.isNaN ? 0 : 1) - (y.isNaN ? 0 : 1)
  }

  /// Compares exactly, even if the integer has more digits than a double can represent.
  package static func compare(_ x: Int64, _ y: Double) -> Int {
    guard !y.isNaN else { return 1 }
    // 2^63 is the first double above every Int64; -2^63 is itself an Int64.
    if y >= 0x1p63 { return -1 }
    if y < -0x1p63 { return 1 }
    let whole = Int64(y.rounded(.towardZero))
    if x != whole { return x < whole ? -1 : 1 }
    let fraction = y - y.rounded(.towardZero)
    return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
  }

  static func compareBytes(_ x: some Collection<UInt8>, _ y: some Collection<UInt8>) -> Int {
    if x.elementsEqual(y) { return 0 }
    return x.lexicographicallyPrecedes(y) ? -1 : 1
  }

  private static func compareArrays(_ x: [DocumentValue], _ y: [DocumentValue]) -> Int {
    for (a, b) in zip(x, y) {
      let order = compare(a, b)
      if order != 0 { return order }
    }
    return x.count - y.count
  }

  private static func compareObjects(_ x: DocumentObject, _ y: DocumentObject) -> Int {
    for (a, b) in zip(x, y) {
      let names = compareBytes(a.name.utf8, b.name.utf8)
      if names != 0 { return names }
      let values = compare(a.value, b.value)
      if values != 0 { return values }
    }
    return x.count - y.count
  }
}
