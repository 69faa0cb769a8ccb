// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import NanoTesting
import Testing

@Suite("Decimals")
struct DecimalValueTests {
  private func decimals(_ count: Int, seed: UInt64 = 1) -> [DecimalValue] {
    var values = ValueGenerator(random: NanoTesting.SplitMix(seed: seed))
    return (0..<count).compactMap { _ in
      if case .decimal(let value) = values.value(.decimal) { value } else { nil }
    }
  }

  @Test(
    "A decimal has one canonical text, whatever it is parsed from",
    arguments: [
      ("12.30", "12.3"), ("1.23E1", "12.3"), ("+0012.3", "12.3"), ("-0", "0"), ("0.000", "0"),
      ("0e99999", "0"), ("100", "100"), ("1e33", "1" + String(repeating: "0", count: 33)),
      ("1e34", "1E+34"), ("12e33", "1.2E+34"), ("0.0000001", "0.0000001"),
      ("0.00000012", "0.00000012"), ("0.000000012", "1.2E-8"),
      ("-1.5E-128", nil), ("1E-128", "1E-128"), ("1E160", "1E+160"), ("1E161", nil), (".5", "0.5"),
      ("5.", "5"),
      ("9999999999999999999999999999999999e127", "9.999999999999999999999999999999999E+160"),
      ("12345678901234567890123456789012345", nil),
      ("1234567890123456789012345678901234000", "1.234567890123456789012345678901234E+36"),
      ("", nil), ("-", nil), ("1,5", nil), ("NaN", nil), ("1e", nil), ("0x1", nil), (" 1", nil),
    ] as [(String, String?)])
  func canonical(text: String, expected: String?) {
    #expect(DecimalValue(text)?.description == expected)
  }

  @Test("Text, stored form and Decimal restore the same decimal")
  func roundTrips() throws {
    for value in decimals(2_000) {
      #expect(DecimalValue(value.description) == value)
      #expect(DecimalValue(value.decimal) == value, "\(value)")
      var writer = JSONWriter()
      writer.decimal(value)
      #expect(writer.failure == nil)
      var reader = JSONReader(writer.bytes)
      #expect(try reader.value() == .decimal(value), "\(writer.text)")
      #expect(try DocumentValue(json: writer.text) == .decimal(value), "\(writer.text)")
      #expect(try rewritten("{\"a\":\(writer.text)}") == nil, "\(writer.text)")
    }
  }

  @Test("Adoption rewrites a decimal in another spelling, and one whose other fields are stale")
  func adoption() throws {
    for form in [
      #"{"$numberDecimal":"12.30"}"#, #"{ "$numberDecimal" : "1.23E1" }"#,
      #"{"$numberDecimal":"12.3"}"#,
      #"{"$numberDecimal":"12.3","$near":7,"$side":">="}"#,
    ] {
      let body = try rewritten("{\"a\":\(form)}")
      #expect(body == #"{"a":{"$near":12.3,"$side":"<=","$numberDecimal":"12.3"}}"#)
    }
  }

  private func rewritten(_ body: String) throws -> String? {
    var body = body
    return try body.withUTF8 { try CanonicalBody.rewritten(UnsafeRawBufferPointer($0)) }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("NaN, too many digits and a number out of range are not storable, and nothing is rounded")
  func notStorable() {
    for decimal in [
      Decimal.nan, Decimal(string: "12345678901234567890123456789012345")!,
    ] {
      var writer = JSONWriter()
      writer.decimal(DecimalValue(decimal))
      #expect(writer.failure?.code == .valueNotStorable)
    }
    #expect(throws: StoreError.self) {
      var writer = JSONWriter()
      try DocumentEncoder().encode(["a": Decimal.nan], into: &writer)
    }
  }

  @Test("Comparison with doubles is exact")
  func doubles() throws {
    func order(_ text: String, _ double: Double) throws -> Int {
      DecimalValue.compare(try #require(DecimalValue(text)), double).signum()
    }
    #expect(try order("0.1", 0.1) == -1)
    #expect(try order("0.3", 0.1 + 0.2) == -1)
    #expect(try order("0.3", 0.3) == 1)
    #expect(try order("0.1000000000000000055511151231257827", 0.1) == -1)
    #expect(try order("0.1000000000000000055511151231257828", 0.1) == 1)
    #expect(try order("0.5", 0.5) == 0)
    #expect(try order("9007199254740993", 9_007_199_254_740_992) == 1)
    #expect(try order("1e23", 1e23) == 1)
    #expect(try order("1", .infinity) == -1)
    #expect(try order("-1", -.infinity) == 1)
    #expect(try order("-1", .nan) == 1)
    #expect(try order("0", -0.0) == 0)
  }

  @Test("The number and the side sort like the values, among integers, doubles and decimals")
  func places() {
    var values = ValueGenerator(random: NanoTesting.SplitMix(seed: 7))
    let numbers = (0..<150).map { _ in values.value(.amount) }
    func key(_ value: DocumentValue) -> (DocumentValue, [UInt8]) {
      guard case .decimal(let decimal) = value else { return (value, Array("=".utf8)) }
      let place = DecimalPlace(decimal)
      let side = place.side.isEmpty ? "=" : place.side
      switch place.number {
      case .integer(let integer): return (.int(integer), Array(side.utf8))
      case .double(let double): return (.double(double), Array(side.utf8))
      }
    }
    for (a, b) in pairs(numbers) {
      let (x, y) = (key(a), key(b))
      let near = order(x.0, y.0)
      let sides = x.1 == y.1 ? 0 : x.1.lexicographicallyPrecedes(y.1) ? -1 : 1
      #expect((near == 0 ? sides : near) == order(a, b), "\(a) \(b)")
    }
  }

  @Test("Values and their sort keys have the exact order of numbers, alone and before other keys")
  func sortKeys() {
    var values = ValueGenerator(random: NanoTesting.SplitMix(seed: 11))
    let numbers = (0..<150).map { _ in values.value(.amount) }
    for (a, b) in pairs(numbers) {
      let expected = order(a, b)
      #expect(ValueOrder.compare(a, b).signum() == expected, "\(a) \(b)")
      for (first, second): (DocumentValue, DocumentValue) in [
        (a, b), ([a, "x"], [b, "x"]), ([a, 1], [b, true]),
      ] {
        let (x, y) = (SortKey.bytes(first), SortKey.bytes(second))
        let keys = x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
        if first.array == nil || expected != 0 { #expect(keys == expected, "\(a) \(b)") }
      }
    }
  }

  @Test("Sums of decimals and integers are exact in any order, and rounded once")
  func sums() {
    func sum(_ values: [DocumentValue], _ aggregate: Aggregate = .sum("a")) -> DocumentValue {
      var aggregation = Aggregation(aggregate)
      for value in values { aggregation.add(value) }
      return aggregation.result
    }
    func decimal(_ text: String) -> DocumentValue { .decimal(DecimalValue(text)!) }
    let cents = (0..<10_000).map { _ in decimal("0.01") }
    #expect(sum(cents) == decimal("100"))
    #expect(sum([decimal("0.1"), decimal("0.2"), 5]) == decimal("5.3"))
    #expect(sum([.int(.max), .int(.max), decimal("0.5")]) == decimal("18446744073709551614.5"))
    #expect(sum([.int(.min), .int(.min), decimal("0.5")]) == decimal("-18446744073709551615.5"))
    let large = decimal("9999999999999999999999999999999999e127")
    let small = decimal("1e-128")
    #expect(sum([large, small, decimal("-9999999999999999999999999999999999e127")]) == small)
    #expect(sum([small, decimal("1e6"), decimal("-1e6")]) == small)
    #expect(sum([large, large, decimal("-9999999999999999999999999999999999e127")]) == large)
    #expect(sum([decimal("-2.5"), decimal("1")]) == decimal("-1.5"))
    // 35 digits: half to even
    #expect(
      sum([decimal("9999999999999999999999999999999999"), decimal("0.5")]) == decimal("1e34"))
    #expect(
      sum([decimal("9999999999999999999999999999999998"), decimal("0.5")])
        == decimal("9999999999999999999999999999999998"))
    #expect(sum([decimal("0.5"), 0.25]) == 0.75)
    #expect(
      sum([decimal("1"), decimal("1"), 0], .average("a"))
        == decimal("0.6666666666666666666666666666666667"))
    #expect(sum([decimal("10"), decimal("20.5")], .average("a")) == decimal("15.25"))
    #expect(sum([], .average("a")) == .null)
  }

  @Test("A constant that cannot be stored as a decimal is computed as a double")
  func constantsNotStorable() throws {
    var sum = Aggregation(.sum("a"))
    var average = Aggregation(.average("a"))
    for value: DocumentValue in [.decimal(Decimal(1) / 3), .decimal(DecimalValue("2")!)] {
      sum.add(value)
      average.add(value)
    }
    #expect(try #require(sum.result.double).distance(to: 7.0 / 3).magnitude < 1e-15)
    #expect(try #require(average.result.double).distance(to: 7.0 / 6).magnitude < 1e-15)
    let cast = QueryExpression.cast(.value(.decimal(DecimalValue.nan)), .integer)
    #expect(try Evaluator(DocumentSubject([:])).values(cast) == [0])
  }

  @Test("Random sums equal those computed digit by digit")
  func randomSums() throws {
    var random = NanoTesting.SplitMix(seed: 5)
    for _ in 0..<200 {
      var aggregation = Aggregation(.sum("a"))
      var exact: Int128 = 0
      for _ in 0..<random.number(1...40) {
        let places = random.number(0...9)
        let coefficient = Int64(random.number(-1_000_000_000_000...1_000_000_000_000))
        exact += Int128(coefficient) * Int128(DecimalValue.powers[9 - places])
        aggregation.add(
          .decimal(
            DecimalValue(
              isNegative: coefficient < 0, coefficient: UInt128(coefficient.magnitude),
              exponent: -places)))
      }
      let expected = DecimalValue(
        isNegative: exact < 0, coefficient: exact.magnitude, exponent: -9)
      #expect(aggregation.result == .decimal(expected))
    }
  }

  private func pairs(_ numbers: [DocumentValue]) -> [(DocumentValue, DocumentValue)] {
    [1, 13, 29].flatMap { Array(zip(numbers, numbers.dropFirst($0))) }
  }

  private func order(_ a: DocumentValue, _ b: DocumentValue) -> Int {
    ReferenceOrder.compare(a, b).signum()
  }
}

/// Compares numbers by their exact decimal digits.
private enum ReferenceOrder {
  static func compare(_ a: DocumentValue, _ b: DocumentValue) -> Int {
    let (x, y) = (digits(a), digits(b))
    if x.isNegative != y.isNegative {
      if x.digits.isEmpty && y.digits.isEmpty { return 0 }
      return x.isNegative ? -1 : 1
    }
    return (x.isNegative ? -1 : 1) * magnitude(x, y)
  }

  private typealias Number = (isNegative: Bool, digits: [UInt8], exponent: Int)

  private static func magnitude(_ a: Number, _ b: Number) -> Int {
    if a.digits.isEmpty || b.digits.isEmpty {
      return (a.digits.isEmpty ? 0 : 1) - (b.digits.isEmpty ? 0 : 1)
    }
    let low = min(a.exponent, b.exponent)
    let x = a.digits + Array(repeating: 0, count: a.exponent - low)
    let y = b.digits + Array(repeating: 0, count: b.exponent - low)
    if x.count != y.count { return x.count - y.count }
    return x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
  }

  private static func digits(_ value: DocumentValue) -> Number {
    switch value {
    case .int(let number): return (number < 0, text("\(number.magnitude)"), 0)
    case .decimal(let number):
      return (number.isNegative, text("\(number.coefficient)"), number.exponent)
    case .double(let number):
      guard number != 0 else { return (false, [], 0) }
      var digits = text("\(number.significandBitPattern | (number.isNormal ? 1 << 52 : 0))")
      let power = Int(max(number.exponentBitPattern, 1)) - 1075
      var exponent = 0
      for _ in 0..<power.magnitude {
        digits = multiplied(digits, by: power > 0 ? 2 : 5)
        if power < 0 { exponent -= 1 }
      }
      return (number < 0, digits, exponent)
    default: return (false, [], 0)
    }
  }

  private static func text(_ text: String) -> [UInt8] {
    Array(text.utf8.map { $0 - 0x30 }.drop { $0 == 0 })
  }

  private static func multiplied(_ digits: [UInt8], by factor: Int) -> [UInt8] {
    var carry = 0
    var result = digits
    for index in result.indices.reversed() {
      carry += Int(result[index]) * factor
      result[index] = UInt8(carry % 10)
      carry /= 10
    }
    return carry > 0 ? [UInt8(carry)] + result : result
  }
}
