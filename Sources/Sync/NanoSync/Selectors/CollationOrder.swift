// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument
import NanoQuery

/// The order of JSON values in CouchDB: null, Booleans, numbers, strings, arrays, objects. Values of types that JSON lacks
/// are the objects that JSON text has for them.
package enum CollationOrder {
  /// Returns a negative number, 0 or a positive number, as the first value precedes, equals or follows the second.
  package static func compare(_ a: DocumentValue, _ b: DocumentValue) -> Int {
    let (a, b) = (a.plainValue, b.plainValue)
    let (rank, other) = (rank(a), rank(b))
    guard rank == other else { return rank - other }
    switch (a, b) {
    case (.bool(let a), .bool(let b)): return (a ? 1 : 0) - (b ? 1 : 0)
    case (.int, .int), (.int, .double), (.double, .int), (.double, .double):
      return ValueOrder.compare(a, b)
    case (.array(let a), .array(let b)): return compare(a, b)
    case (.object(let a), .object(let b)): return compare(a, b)
    case (.string(let a), .string(let b)): return compare(a, b)
    // Both are null.
    default: return 0
    }
  }

  private static func rank(_ value: DocumentValue) -> Int {
    switch value {
    case .null: 0
    case .bool: 1
    case .int, .double: 2
    case .string: 3
    case .array: 4
    case .object, .decimal, .date, .data, .url: 5
    }
  }

  private static func compare(_ a: [DocumentValue], _ b: [DocumentValue]) -> Int {
    for (a, b) in zip(a, b) {
      let order = compare(a, b)
      guard order == 0 else { return order }
    }
    return a.count - b.count
  }

  private static func compare(_ a: DocumentObject, _ b: DocumentObject) -> Int {
    for (a, b) in zip(a, b) {
      let names = compare(a.name, b.name)
      guard names == 0 else { return names }
      let order = compare(a.value, b.value)
      guard order == 0 else { return order }
    }
    return a.count - b.count
  }

  /// Compares strings: signs before digits before letters, letters without regard to case and accents first, then
  /// accents, then small letters before capitals. This is CouchDB's order (ICU's root collation) for common text.
  package static func compare(_ a: String, _ b: String) -> Int {
    if a.hasSameBytes(as: b) { return 0 }
    let (first, second) = (a.unicodeScalars.map(weight), b.unicodeScalars.map(weight))
    for level in [\Weight.primary, \.accent, \.letterCase] {
      for (a, b) in zip(first, second) where a[keyPath: level] != b[keyPath: level] {
        return a[keyPath: level] < b[keyPath: level] ? -1 : 1
      }
      if first.count != second.count { return first.count - second.count }
    }
    return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
  }

  private struct Weight {
    var primary: UInt32
    var accent: UInt32
    var letterCase: UInt32
  }

  private static func weight(_ scalar: Unicode.Scalar) -> Weight {
    let properties = scalar.properties
    let isLetter = properties.isAlphabetic
    let group: UInt32 = isLetter ? 2 : properties.numericType != nil ? 1 : 0
    guard isLetter else {
      return Weight(primary: group << 24 | scalar.value, accent: 0, letterCase: 0)
    }
    let base =
      String(scalar).folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      .unicodeScalars.first ?? scalar
    let small = properties.lowercaseMapping.unicodeScalars.first ?? scalar
    return Weight(
      primary: group << 24 | base.value, accent: small == base ? 0 : small.value,
      letterCase: properties.isUppercase ? 1 : 0)
  }
}
