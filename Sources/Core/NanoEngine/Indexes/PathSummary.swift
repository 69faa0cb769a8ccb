// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// What is known about the values at a path across all documents of a collection.
package struct PathSummary: Sendable, Hashable {
  package var types: ObservedTypes
  /// Whether any document ever had an array along the path or at its end.
  package var entersArray: Bool
  /// Whether one of these arrays ever was an element of another one.
  package var entersNestedArray: Bool

  package init(types: ObservedTypes, entersArray: Bool, entersNestedArray: Bool = false) {
    self.types = types
    self.entersArray = entersArray
    self.entersNestedArray = entersNestedArray
  }

  /// Value classes for which SQLite's comparison agrees with the query semantics, provided that no other class
  /// is mixed in. Decimals may be mixed with other numbers, and compare by two expressions.
  package enum PlainClass: Sendable { case boolean, number, decimal, text, date }

  /// The only class of values at this path; `nil` if there are several classes or arrays.
  package var plainClass: PlainClass? {
    guard !entersArray, !types.contains(.irregular) else { return nil }
    let values = types.subtracting(.null)
    if values.isEmpty { return nil }
    if values.isSubset(of: [.int, .double]) { return .number }
    if values.isSubset(of: [.int, .double, .decimal]) { return .decimal }
    switch values {
    case .string: return .text
    case .date: return .date
    case .bool: return .boolean
    default: return nil
    }
  }
}

extension PathSummary {
  /// How a value can be looked up among the stored values of a path.
  package enum LookUp: Sendable, Hashable {
    /// Stored values of this class compare and sort like the values themselves.
    case ordered(PlainClass)
    /// Equal values can be found, but stored forms do not sort like the values.
    case equality
  }

  /// Returns how a value can be looked up; `nil` if it has no single stored form: null, URLs (which conditions
  /// treat as text), containers, non-finite numbers, text with a NUL, and dates between two nanoseconds.
  package static func lookUp(_ value: DocumentValue) -> LookUp? {
    switch value {
    case .bool: return .ordered(.boolean)
    case .int: return .ordered(.number)
    case .double(let number): return number.isFinite ? .ordered(.number) : nil
    case .decimal(let number): return number.isStorable ? .ordered(.decimal) : nil
    case .string(let text): return text.utf8.contains(0) ? nil : .ordered(.text)
    case .date:
      var writer = JSONWriter()
      writer.value(value)
      guard writer.failure == nil, writer.bytes.count == storedDateLength else { return nil }
      return .ordered(.date)
    case .data: return .equality
    case .null, .url, .array, .object: return nil
    }
  }

  /// `{"$date":"2026-11-20T21:17:00.123456789Z"}`
  private static let storedDateLength = 42

  /// Returns whether looking up a stored form finds every document with an equal value: a string also equals a
  /// URL, and a date also equals one that is stored with its exact interval.
  package func findsEqual(_ lookUp: LookUp) -> Bool {
    switch lookUp {
    case .ordered(.text): !types.contains(.url)
    case .ordered(.date): !types.contains(.irregular)
    default: true
    }
  }

  /// Returns whether a range of stored forms contains every document whose value is in the range.
  package func findsRange(_ lookUp: LookUp, ordersText: Bool) -> Bool {
    guard case .ordered(let plain) = lookUp, findsEqual(lookUp) else { return false }
    return !types.contains(.irregular) && (plain != .text || ordersText)
  }
}
