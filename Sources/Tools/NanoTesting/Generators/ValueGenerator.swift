// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// Generates values that are hard for engines, drawn from small pools so that equal values are frequent.
package struct ValueGenerator: Sendable {
  /// The kind of values in a field of a collection.
  package enum Kind: Sendable, CaseIterable {
    case null, bool, int, double, decimal, number, amount, text, date, data, url, array, object
    /// Kinds that include nonfinite doubles, strings that contain NUL or resemble stored forms, and dates with more
    /// than nanosecond precision.
    case anyDouble, anyText, anyDate
    case mixed

    /// Creates the kind that generates values of the same case, and only those.
    package init(of value: DocumentValue) {
      self =
        switch value {
        case .null: .null
        case .bool: .bool
        case .int: .int
        case .double: .double
        case .decimal: .decimal
        case .string: .text
        case .date: .date
        case .data: .data
        case .url: .url
        case .array: .array
        case .object: .object
        }
    }

    /// The kinds of a single case of ``DocumentValue``.
    package static var single: [Kind] {
      allCases.filter { kind in
        switch kind {
        case .number, .amount, .anyDouble, .anyText, .anyDate, .mixed: false
        case .null, .bool, .int, .double, .decimal, .text, .date, .data, .url, .array, .object:
          true
        }
      }
    }
  }

  /// The source of random numbers.
  package var random: SplitMix
  /// Strings that are not generated because the engine is known not to preserve them.
  package var avoided: Set<String> = []
  /// Creates a generator whose values depend only on the seed of `random`.
  package init(random: SplitMix) { self.random = random }

  /// Returns a value of a kind, with containers nested to at most `depth`.
  package mutating func value(_ kind: Kind, depth: Int = 2) -> DocumentValue {
    switch kind {
    case .null: return .null
    case .bool: return .bool(random.oneIn(2))
    case .int: return .int(int())
    case .double: return .double(double())
    case .number: return random.oneIn(2) ? .int(int()) : .double(double())
    case .decimal: return .decimal(decimal())
    case .amount:
      return random.oneIn(2) ? .decimal(decimal()) : value(random.pick([.int, .double]))
    case .text: return .string(text(Self.texts))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: random.pick(Self.regularDates)))
    case .data: return .data(random.pick(Self.data))
    case .url: return .url(random.pick(Self.urls))
    case .array: return array(depth)
    case .object: return .object(object(depth))
    case .anyDouble: return .double(random.oneIn(3) ? random.pick(Self.irregularDoubles) : double())
    case .anyText: return .string(text(random.oneIn(3) ? Self.oddTexts : Self.texts))
    case .anyDate:
      let pool = random.oneIn(2) ? Self.irregularDates : Self.regularDates
      return .date(Date(timeIntervalSinceReferenceDate: random.pick(pool)))
    case .mixed: return mixed(depth)
    }
  }

  private mutating func mixed(_ depth: Int) -> DocumentValue {
    let scalars: [Kind] = [
      .null, .bool, .number, .anyDouble, .text, .anyText, .anyDate, .data, .url, .text, .int,
      .decimal,
    ]
    guard depth > 0, random.oneIn(3) else { return value(random.pick(scalars)) }
    return value(random.pick([.array, .object]), depth: depth)
  }

  private mutating func text(_ pool: [String]) -> String {
    let text = random.pick(pool)
    return avoided.contains(text) ? "avoided" : text
  }

  private mutating func int() -> Int64 {
    random.oneIn(8) ? Int64(truncatingIfNeeded: random.next()) : random.pick(Self.ints)
  }

  private mutating func decimal() -> DecimalValue {
    switch random.number(0...5) {
    case 0:
      // Next to a double: its digits, of which some are cut off.
      let text = String("\(double())".prefix(random.number(1...20)))
      return DecimalValue(text) ?? .zero
    case 1:
      let sign = random.oneIn(2) ? "-" : ""
      let digits = "\(random.next())\(random.next())".prefix(random.number(1...34))
      return DecimalValue("\(sign)\(digits)e\(random.number(-60...60))") ?? .zero
    case 2: return DecimalValue("\(random.number(-20...20))e\(random.number(-2...1))") ?? .zero
    default: return DecimalValue(random.pick(Self.decimals)) ?? .zero
    }
  }

  private mutating func double() -> Double {
    switch random.number(0...9) {
    case 0:
      let number = Double(bitPattern: random.next())
      return number.isFinite ? number : 0.5
    case 1: return Double(random.number(-1_000_000...1_000_000)) / 1000
    case 2: return Double.random(in: -1...1, using: &random)
    default: return random.pick(Self.doubles)
    }
  }

  /// Returns an array, possibly nested, with elements of one kind or mixed.
  private mutating func array(_ depth: Int) -> DocumentValue {
    let kind = random.pick([Kind.int, .text, .mixed, .mixed, .object, .anyDate])
    return .array((0..<random.number(0...3)).map { _ in value(kind, depth: depth - 1) })
  }

  mutating func object(_ depth: Int) -> DocumentObject {
    var object = DocumentObject()
    guard depth > 0 else { return object }
    for _ in 0..<random.number(0...3) {
      object[random.pick(Self.names)] = value(
        random.pick([.int, .text, .mixed, .bool, .date]), depth: depth - 1)
    }
    return object
  }
}

extension ValueGenerator {
  /// Field names; the first ones are used most often.
  package static let names = [
    "a", "b", "list", "name", "x.y", "$d", "$date", "0", "1", "é", "e\u{301}", "q\"t", "\u{301}x",
    "x'\u{301}", "$\u{301}",
    "back\\slash",
    "a", "b", "name",
  ]

  static let ints: [Int64] = [
    0, 1, 2, 3, -1, 10, 9, 42, 1 << 53, (1 << 53) - 1, (1 << 53) + 1, -(1 << 53) - 1, .max,
    .max - 1,
    .min, .min + 1, 999_999_999_999_999_999, 1_234_567_890_123_456_789, 1 << 32,
  ]
  static let doubles: [Double] = [
    0, -0.0, 1, 2, 1.5, -1.5, 0.1, 0.2, 0.1 + 0.2, 0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, 0x1p64,
    1e15, 1e16, 1e17, 1e22, 1e23, 1e100, 1e300, -1e300, 1.7976931348623157e308,
    .leastNonzeroMagnitude,
    2.2250738585072014e-308, 1.2345678901234567, 123_456_789_012_345_680, 9.5, 10,
  ]
  static let decimals = [
    "0", "1", "-1", "2", "1.5", "-1.5", "0.1", "0.2", "0.3", "-0.1", "12.3",
    "12.30000000000000000001", "9.99", "10",
    "0.1000000000000000055511151231257827", "0.1000000000000000055511151231257828",
    "9007199254740993", "9007199254740992.5", "9007199254740993.5", "-9007199254740992.7",
    "9223372036854775807", "9223372036854775808", "9223372036854775807.5", "9223372036854775808.5",
    "-9223372036854775808.5", "-9223372036854775809", "1152921504606846976.4",
    "1152921504606847000.5",
    "99999999999999991611392", "1e23", "9.9999999999999999999999e22",
    "1.00000000000000000000001e23",
    "9999999999999999999999999999999999", "-9999999999999999999999999999999999",
    "9999999999999999999999999999999999e127", "1e-128", "-1e-128", "1234567890123456.7",
    "0.00000012", "1e-8", "123456789012345", "1234567890123456", "0.5", "0.25",
  ]
  static let irregularDoubles: [Double] = [.nan, .infinity, -.infinity]
  static let texts = [
    "", "a", "A", "ab", "abc", "abd", "b", "B", "é", "e\u{301}", "É", "ß", "SS", "ss", "ς", "σ",
    "Σ",
    "🙂", "🙂🙂", "\u{FFFF}", "\u{10FFFF}", "\u{D7FF}", "\u{E000}", "a\u{D7FF}", "a\u{10FFFF}b", "1",
    "10", "9", "true", "null", "%", "a%", "_", "*", "a*c", "[a]", "K", "k", "\u{212A}", "İ", "ı",
    "i",
    "ﬁ", "it's", "it'\u{301}s", "\u{301}", "a b", " a ", "https://example.org/", "a\nb", "tab\t",
    "quote\"", "back\\",
    "\u{7F}",
    "\u{1}", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    // At and just above the length at which the everything index truncates strings.
    "aaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaé",
    "aaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaa🙂aaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaa🙂aaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac",
  ]
  static let oddTexts = [
    "\u{0}", "a\u{0}", "a\u{0}b", "{\"$date\":\"2001-01-01T00:00:00.000000000Z\"}", "{}", "[]",
    "[1]",
    "{\"$numberDouble\":\"NaN\"}", "{\"$binary\":{\"base64\":\"\",\"subType\":\"00\"}}",
    "2001-01-01T00:00:00.000000000Z", "{", "1.0", "-0.0",
  ]
  /// Seconds since 2001 that nine decimal digits represent exactly.
  static let regularDates: [Double] = [
    0, 1, -1, 100.25, 1e6, 1e9, 725_846_400.5, -978_307_200, -63_145_526_400, 252_423_993_599,
    86_400,
    31_536_000, 1_234_567_890.125,
  ]
  static let irregularDates: [Double] = [
    1e-9, 1.3e-9, 0.7e-9, 1e-10, -1e-10, -0.0, 1.000_000_000_1, 0.1 + 1e-12, .leastNonzeroMagnitude,
    2e-9,
  ]
  static let data: [Data] = [
    Data(), Data([0]), Data([0, 0]), Data([0, 1]), Data([1]), Data([255]), Data([251, 239]),
    Data("abc".utf8),
  ]
  static let urls: [URL] = [
    URL(string: "https://example.org/")!, URL(string: "a")!, URL(string: "mailto:a@b.c")!,
    URL(string: "b", relativeTo: URL(string: "https://example.org/a/"))!,
  ]
}
