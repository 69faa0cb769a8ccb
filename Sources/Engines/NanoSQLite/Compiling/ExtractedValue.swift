// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Values as `json_extract` gives them, for comparison with stored fields.
enum ExtractedValue {
  /// The parameter that stands for a value, and its class; nil if SQLite would not compare it as we
  /// do: URLs (they are texts to us), containers, what is not finite, texts with a NUL, and dates
  /// between two nanoseconds.
  static func parameter(_ value: DocumentValue) -> (SQLBinding, PathSummary.PlainClass?)? {
    switch value {
    case .bool(let flag): return (.int(flag ? 1 : 0), .boolean)
    case .int(let number): return (.int(number), .number)
    case .double(let number): return number.isFinite ? (.double(number), .number) : nil
    case .string(let text): return text.utf8.contains(0) ? nil : (.text(text), .text)
    case .date:
      // A date between two nanoseconds has another form, which does not sort among the others.
      guard let text = storedText(value), text.utf8.count == Self.dateLength else { return nil }
      return (.text(text), .date)
    // Equal bytes have equal base64, but their order is another.
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

/// The parameter that equals what `json_extract` gives for a stored value.
enum PlainBinding {
  static func binding(_ value: DocumentValue) -> SQLBinding? {
    ExtractedValue.parameter(value)?.0
  }
}
