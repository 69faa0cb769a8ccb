// SPDX-License-Identifier: MIT

import Foundation

/// Recognizes the forms of special values in external text: the stored forms, MongoDB's Extended JSON
/// version 2, and its legacy shell format.
package enum ExtendedJSON {
  enum Recognition {
    /// An ordinary object, or a form of a type that is not supported.
    case none
    case value(DocumentValue)
    /// A form whose field at the index has an invalid value.
    case wrong(
      Int, expected: String, message: String = "The form of a special value has invalid content")
  }

  /// Returns the value that an object represents whose names all begin with exactly one `$`.
  static func recognize(_ object: DocumentObject) -> Recognition {
    guard let (name, value) = object.first else { return .none }
    if object.count > 1, let decimal = StoredForm.decimal(object) {
      return .value(.decimal(decimal))
    }
    if object.count == 2 { return pair(object, first: name, second: object[1].name) }
    guard object.count == 1 else { return .none }
    switch name {
    case "$date": return date(value)
    case "$binary": return binary(value)
    case "$url": return or("a URL", value.string.flatMap { URL(string: $0) }) { .url($0) }
    case "$oid": return text(value, "24 hexadecimal digits", where: isObjectID)
    case "$uuid": return text(value, "a UUID") { UUID(uuidString: $0) != nil }
    case "$symbol", "$code": return text(value, "a string") { _ in true }
    case "$numberInt":
      let number = integer(value).flatMap { Int32(exactly: $0) }
      return or("a 32-bit integer", number) { .int(Int64($0)) }
    case "$numberLong": return or("a 64-bit integer", integer(value)) { .int($0) }
    case "$numberDouble": return or("a number", double(value)) { .double($0) }
    case "$numberDecimal":
      return decimal(value)
    case "$undefined": return value == true ? .value(.null) : .wrong(0, expected: "true")
    default: return .none
    }
  }

  private static func pair(
    _ object: DocumentObject, first: String, second: String
  ) -> Recognition {
    func at(_ name: String) -> Int { name == first ? 0 : 1 }
    switch Set([first, second]) {
    case ["$date", "$interval"]:
      guard let near = object["$date"], case .value(.date(let near)) = date(near) else {
        return .wrong(at("$date"), expected: "a date")
      }
      guard let interval = object["$interval"]?.double else {
        return .wrong(at("$interval"), expected: "a number")
      }
      return .value(.date(StoredForm.exact(near.timeIntervalSinceReferenceDate, interval)))
    case ["$url", "$base"]:
      guard let base = object["$base"]?.string.flatMap({ URL(string: $0) }) else {
        return .wrong(at("$base"), expected: "a URL")
      }
      let url = object["$url"]?.string.flatMap { URL(string: $0, relativeTo: base) }
      return or("a URL", at: at("$url"), url) { .url($0) }
    case ["$binary", "$type"]:
      guard let data = object["$binary"]?.string.flatMap(StoredForm.base64) else {
        return .wrong(at("$binary"), expected: "Base64")
      }
      guard let type = object["$type"]?.string else {
        return .wrong(at("$type"), expected: "two hexadecimal digits")
      }
      return binary(data, subtype: type)
    default: return .none
    }
  }

  private static func binary(_ value: DocumentValue) -> Recognition {
    guard let data = StoredForm.binary(value), let subtype = value.object?["subType"]?.string else {
      return .wrong(0, expected: "an object with base64 and subType")
    }
    return binary(data, subtype: subtype)
  }

  /// Converts plain bytes to data, and a UUID to a string, as for `$uuid`. Other subtypes have no
  /// corresponding type, so they remain objects.
  private static func binary(_ data: Data, subtype: String) -> Recognition {
    switch UInt8(subtype, radix: 16) {
    case 0, 2: return .value(.data(data))
    case 4 where data.count == 16:
      let uuid = data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
      return .value(.string(uuid.uuidString.lowercased()))
    default: return .none
    }
  }

  private static func or<Content>(
    _ expected: String, at index: Int = 0, _ content: Content?, _ make: (Content) -> DocumentValue
  ) -> Recognition {
    guard let content else { return .wrong(index, expected: expected) }
    return .value(make(content))
  }

  private static func text(
    _ value: DocumentValue, _ expected: String, where isValid: (String) -> Bool
  ) -> Recognition {
    guard let text = value.string, isValid(text) else { return .wrong(0, expected: expected) }
    return .value(.string(text))
  }

  private static func isObjectID(_ text: String) -> Bool {
    text.utf8.count == 24 && text.utf8.allSatisfy { hexDigit($0) != nil }
  }

  private static func date(_ value: DocumentValue) -> Recognition {
    let interval: Double? =
      switch value {
      case .string(let text): Array(text.utf8).withUnsafeBufferPointer { DateText.parse($0) }
      case .int(let milliseconds): self.interval(milliseconds: milliseconds)
      case .double(let milliseconds): self.interval(milliseconds: milliseconds)
      default: nil
      }
    if let interval, DateText.storable.contains(interval) {
      return .value(.date(Date(timeIntervalSinceReferenceDate: interval)))
    }
    if interval?.isFinite ?? value.string.map(DateText.isOutsideYears) ?? false {
      return .wrong(
        0, expected: "a date in the years 0 to 9999",
        message: "A date is outside the years 0 to 9999")
    }
    return .wrong(0, expected: "a date with an offset, or milliseconds")
  }

  /// Same result as for an integer number of milliseconds with the same value.
  private static func interval(milliseconds: Double) -> Double {
    let seconds = (milliseconds / 1000).rounded(.down)
    return seconds - Double(DateText.referenceToUnix) + (milliseconds - seconds * 1000) / 1000
  }

  private static func interval(milliseconds: Int64) -> Double {
    // Negating the remainder into range must not overflow: Int64.min is not a multiple of 1000, and
    // subtracting one second is safe while subtracting 999 ms is not.
    let (whole, part) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    let (seconds, rest) = part < 0 ? (whole - 1, part + 1000) : (whole, part)
    return DateText.join(seconds: Int(seconds), nanoseconds: Int(rest) * 1_000_000)
  }

  private static func integer(_ value: DocumentValue) -> Int64? {
    switch value {
    case .int(let number): number
    case .string(let text) where text.utf8.first != ASCII.plus: Int64(text)
    default: nil
    }
  }

  private static func double(_ value: DocumentValue) -> Double? {
    guard let text = value.string else { return value.double }
    if let special = StoredForm.number(text) { return special }
    let number = Array(text.utf8).withUnsafeBufferPointer { decimalDouble($0) }
    return number.flatMap { $0.isFinite ? $0 : nil }
  }
}
