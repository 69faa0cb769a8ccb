// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// A way in which an import stores a value differently from the old store, or notes something about
/// it.
public enum LegacyConversion: String, Sendable, Hashable, CaseIterable, Codable,
  CodingKeyRepresentable
{
  /// A decimal number, stored as an integer, as a double if it has the same digits, or otherwise as a string.
  case decimalNumber
  /// An integer that does not fit in 64 bits, stored as a double if it has the same digits, otherwise as a
  /// string.
  case largeInteger
  /// A date outside of the years 0 to 9999, stored as a double: seconds since 2001-01-01 00:00 UTC.
  case dateOutOfRange
  /// A URL with characters that URLs do not permit, or relative to such a URL, stored as a string.
  case urlAsText
  /// A UUID, stored as a string.
  case uuidAsText
  /// A set, stored as an array.
  case setAsArray
  /// A field name with a period, which is unchanged but needs quotes in paths.
  case nameWithPeriod
  /// A document whose key is missing or not valid, stored under a generated key.
  case generatedKey
  /// A document of which the old store has several versions under one key; the last one is stored. A
  /// version on a page that no table references is earlier than those of the table.
  case duplicateKey
  /// A document without a valid date of its last save, stored with the time of the import.
  case unknownDate
  /// A member of a bag that no longer exists, or that the bag lists twice.
  case droppedMember
  /// A bag with a class or fields of its own, stored as a bag and also as a document.
  case customBag
  /// A `__rowid__` in the JSON that differs from the actual row ID, which is used.
  case wrongRowID
  /// A collection whose name is reserved, stored under a different name.
  case renamedCollection
  /// A unique index that stored values violate, created as an index that is not unique.
  case indexNotUnique
  /// An index or a setting that the store does not support and that was left out.
  case droppedDefinition
  /// A record of a class without a description, stored as data.
  case rawData
  /// A reference to an object of a class that the old store does not have; it is stored. Objects that are missing in an
  /// existing class are not counted.
  case danglingReference
  /// An empty entry of an array of references, which the original skips too.
  case emptyReference
  /// An archived object that has no stored form, stored as data.
  case archiveAsData
  /// A record found on a page that no table references, because a page above it is damaged.
  case recoveredRecord
  /// A document that was reconstructed from the table of values because its own content is
  /// unreadable: dates are strings, the order of arrays is lost, and the dictionaries in an array are one.
  case rebuiltFromIndex
}

/// The number of conversions of each kind.
struct ConversionNotes: Equatable {
  private(set) var counts: [LegacyConversion: Int] = [:]
  var isEmpty: Bool { counts.isEmpty }

  mutating func add(_ kind: LegacyConversion, _ count: Int = 1) {
    if count > 0 { counts[kind, default: 0] += count }
  }
  mutating func merge(_ other: ConversionNotes) {
    for (kind, count) in other.counts { add(kind, count) }
  }
}

extension ConversionNotes {
  mutating func largeInteger(_ digits: String) -> DocumentValue {
    add(.largeInteger)
    return ExtendedJSON.number(digits) ?? .string(digits)
  }

  mutating func date(_ seconds: Double) -> DocumentValue {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    if Self.storableDates.contains(seconds) { return .date(date) }
    add(.dateOutOfRange)
    return .double(seconds)
  }

  /// The years 0 to 9999, in seconds since 2001.
  private static let storableDates = -63_145_526_400.0..<252_423_993_600.0

  mutating func urlAsText(_ text: String) -> DocumentValue {
    add(.urlAsText)
    return .string(text)
  }

  /// - Parameter words: The digits in base 65,536, least significant first.
  mutating func decimal(
    _ words: some BidirectionalCollection<UInt16>, _ exponent: Int, _ isNegative: Bool
  ) -> DocumentValue {
    add(.decimalNumber)
    var digits: [UInt8] = [0]
    for word in words.reversed() {
      var carry = Int(word)
      for index in digits.indices.reversed() {
        carry += Int(digits[index]) * 65_536
        digits[index] = UInt8(carry % 10)
        carry /= 10
      }
      while carry > 0 {
        digits.insert(UInt8(carry % 10), at: 0)
        carry /= 10
      }
    }
    let text = Self.text(digits, exponent, isNegative)
    return ExtendedJSON.number(text) ?? .string(text)
  }

  private static func text(_ digits: [UInt8], _ exponent: Int, _ isNegative: Bool) -> String {
    var digits = digits.map { $0 + 0x30 }
    while digits.count > 1, digits.first == 0x30 { digits.removeFirst() }
    if exponent >= 0 {
      digits += Array(repeating: 0x30, count: exponent)
    } else {
      let missing = 1 - exponent - digits.count
      if missing > 0 { digits = Array(repeating: 0x30, count: missing) + digits }
      digits.insert(UInt8(ascii: "."), at: digits.count + exponent)
      while digits.last == 0x30 { digits.removeLast() }
      if digits.last == UInt8(ascii: ".") { digits.removeLast() }
    }
    return (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
  }
}
