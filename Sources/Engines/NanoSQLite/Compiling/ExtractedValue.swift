// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Values as `json_extract` returns them, for comparison with stored fields.
enum ExtractedValue {
  /// Returns the parameter for a value, and its class. `nil` if SQLite would not compare it as NanoStore does: URLs
  /// (which NanoStore compares as texts), containers, nonfinite values, texts with a NUL, and dates between two
  /// nanoseconds.
  static func parameter(_ value: DocumentValue) -> (SQLBinding, PathSummary.PlainClass?)? {
    switch value {
    case .bool(let flag): return (.int(flag ? 1 : 0), .boolean)
    case .int(let number): return (.int(number), .number)
    case .double(let number): return number.isFinite ? (.double(number), .number) : nil
    case .decimal: return DecimalPlace.bindings(value).map { ($0.number, .decimal) }
    case .string(let text): return text.utf8.contains(0) ? nil : (.text(text), .text)
    case .date:
      // A date between two nanoseconds has a different form, which does not sort with the others.
      guard let text = storedText(value), text.utf8.count == Self.dateLength else { return nil }
      return (.text(text), .date)
    // Equal data has equal base64, but base64 does not sort like the bytes.
    case .data: return storedText(value).map { (.text($0), nil) }
    case .null, .url, .array, .object: return nil
    }
  }

  /// `{"$date":"2026-11-20T21:17:00.123456789Z"}`
  private static let dateLength = 42

  static func storedText(_ value: DocumentValue) -> String? {
    var writer = JSONWriter()
    writer.value(value)
    guard writer.failure == nil else { return nil }
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// Parameters that equal the results of `json_extract` for stored values.
enum PlainBinding {
  static func binding(_ value: DocumentValue) -> SQLBinding? {
    // A decimal that equals no integer or double is its stored form in an index on elements.
    if case .decimal(let number) = value, number.isStorable, !DecimalPlace(number).side.isEmpty {
      return ExtractedValue.storedText(value).map { .text($0) }
    }
    return ExtractedValue.parameter(value)?.0
  }
}
