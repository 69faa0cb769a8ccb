// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// What every document of a collection has at a path.
package struct PathSummary: Sendable, Hashable {
  package var types: ObservedTypes
  /// Whether an array ever stood on the way or at the end.
  package var entersArray: Bool

  package init(types: ObservedTypes, entersArray: Bool) {
    self.types = types
    self.entersArray = entersArray
  }

  /// Types that SQLite compares as we do, as long as they are alone.
  package enum PlainClass: Sendable { case boolean, number, text, date }

  /// The one class of values at this path, if there is only one and no array.
  package var plainClass: PlainClass? {
    guard !entersArray, !types.contains(.irregular) else { return nil }
    let values = types.subtracting(.null)
    if values.isEmpty { return nil }
    if values.isSubset(of: [.int, .double]) { return .number }
    switch values {
    case .string: return .text
    case .date: return .date
    case .bool: return .boolean
    default: return nil
    }
  }
}

extension PathSummary {
  /// How a value may be looked up among the stored ones of a path.
  package enum LookUp: Sendable, Hashable {
    /// Stored values of this class compare and sort as the documents' do.
    case ordered(PlainClass)
    /// Equal ones can be found, but stored forms do not sort as the values do.
    case equality
  }

  /// Nil for values that have no one stored form: null, URLs (texts, in conditions), containers, what is
  /// not finite, texts with a NUL, and dates between two nanoseconds.
  package static func lookUp(_ value: DocumentValue) -> LookUp? {
    switch value {
    case .bool: return .ordered(.boolean)
    case .int: return .ordered(.number)
    case .double(let number): return number.isFinite ? .ordered(.number) : nil
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

  /// Whether looking for a stored form finds every document that has an equal value: a text is also
  /// equal to a URL, a date to one whose exact interval stands beside it.
  package func findsEqual(_ lookUp: LookUp) -> Bool {
    switch lookUp {
    case .ordered(.text): !types.contains(.url)
    case .ordered(.date): !types.contains(.irregular)
    default: true
    }
  }

  /// Whether a range of stored forms holds every document whose value is in it.
  package func findsRange(_ lookUp: LookUp, ordersText: Bool) -> Bool {
    guard case .ordered(let plain) = lookUp, findsEqual(lookUp) else { return false }
    return !types.contains(.irregular) && (plain != .text || ordersText)
  }
}
