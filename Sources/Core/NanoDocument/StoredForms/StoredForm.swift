// SPDX-License-Identifier: MIT

import Foundation

/// The stored forms of types that JSON lacks: objects whose names begin with exactly one `$`.
enum StoredForm {
  /// Returns the value that an object represents, or `nil` if it is not a stored form and therefore an
  /// ordinary object.
  ///
  /// Handles only forms in a nonstandard encoding, such as with whitespace; ``JSONReader/storedForm()``
  /// handles the standard one.
  static func value(of object: DocumentObject) -> DocumentValue? {
    guard let first = object.first, object.count <= 3 else { return nil }
    switch (first.name, object.count) {
    case ("$date", 1): return date(first.value).map { .date($0) }
    case ("$date", 2), ("$interval", 2): return date(object).map { .date($0) }
    case ("$numberDouble", 1): return first.value.string.flatMap(number).map { .double($0) }
    case ("$numberDecimal", _), ("$near", _), ("$side", _):
      return decimal(object).map { .decimal($0) }
    case ("$binary", 1): return binary(first.value).map { .data($0) }
    case ("$url", 1): return first.value.string.flatMap { URL(string: $0) }.map { .url($0) }
    case ("$url", 2), ("$base", 2): return url(object).map { .url($0) }
    default: return nil
    }
  }

  static func number(_ text: String) -> Double? {
    switch text {
    case "NaN": .nan
    case "Infinity": .infinity
    case "-Infinity": -.infinity
    default: nil
    }
  }

  private static func date(_ value: DocumentValue) -> Date? {
    guard let text = value.string else { return nil }
    return Array(text.utf8).withUnsafeBufferPointer { DateText.parse($0) }
      .map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  private static func date(_ object: DocumentObject) -> Date? {
    guard let near = object["$date"].flatMap(date) else { return nil }
    guard let interval = object["$interval"]?.double else { return nil }
    return exact(near.timeIntervalSinceReferenceDate, interval)
  }

  /// Returns the exact interval, unless the date next to it was changed.
  static func exact(_ date: Double, _ interval: Double) -> Date {
    let isSame = (date - interval).magnitude <= 1e-9
    return Date(timeIntervalSinceReferenceDate: isSame ? interval : date)
  }

  static func binary(_ value: DocumentValue) -> Data? {
    guard let object = value.object, object.count == 2, object["subType"]?.string != nil else {
      return nil
    }
    return object["base64"]?.string.flatMap(base64)
  }

  static func base64(_ text: String) -> Data? {
    Array(text.utf8).withUnsafeBufferPointer { Base64.decode($0) } ?? Data(base64Encoded: text)
  }

  static func url(_ object: DocumentObject) -> URL? {
    guard let text = object["$url"]?.string, let base = object["$base"]?.string else { return nil }
    return URL(string: base).flatMap { URL(string: text, relativeTo: $0) }
  }
}

extension JSONReader {
  /// Reads a stored form if it is next, encoded exactly as ``JSONWriter`` writes it.
  mutating func storedForm() -> DocumentValue? {
    guard end - cursor > 8, cursor[1] == ASCII.quote, cursor[2] == ASCII.dollar else { return nil }
    switch cursor[3] {
    case 0x64: return storedDate().map { .date($0) }
    case 0x62: return storedData().map { .data($0) }
    case 0x6E, 0x73: return storedDecimal().map { .decimal($0) }
    default: return nil
    }
  }

  /// Reads `{"$date":"2026-11-20T21:17:00.123456789Z"}`, optionally with an exact `$interval`.
  mutating func storedDate() -> Date? {
    var ahead = self
    guard ahead.match(#"{"$date":""#), end - ahead.cursor > DateText.length else { return nil }
    guard let interval = DateText.parseStored(ahead.cursor) else { return nil }
    ahead.cursor += DateText.length
    if ahead.match(#""}"#) {
      self = ahead
      return Date(timeIntervalSinceReferenceDate: interval)
    }
    guard
      ahead.match(#"","$interval":"#), let exact = try? ahead.double(), ahead.match("}")
    else { return nil }
    self = ahead
    return StoredForm.exact(interval, exact)
  }

  /// Reads `{"$binary":{"base64":"…","subType":"00"}}`.
  private mutating func storedData() -> Data? {
    var ahead = self
    guard ahead.match(#"{"$binary":{"base64":""#) else { return nil }
    let first = ahead.cursor
    guard (try? ahead.finishString()) == false else { return nil }
    let text = UnsafeBufferPointer(start: first, count: ahead.cursor - first - 1)
    guard ahead.match(#","subType":"00"}}"#), let data = Base64.decode(text) else { return nil }
    self = ahead
    return data
  }
}
