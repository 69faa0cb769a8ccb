// SPDX-License-Identifier: MIT

import NanoDocument

/// The digits of an exact result, of any length, which is rounded to a decimal once.
struct DecimalDigits {
  /// The most significant first, each 0 to 9.
  var digits: [UInt8]
  /// The power of ten of the last digit.
  var exponent: Int
  var isNegative: Bool
  /// Whether the exact result continues after the last digit.
  var hasRemainder = false

  init(digits: [UInt8], exponent: Int, isNegative: Bool) {
    self.digits = digits
    self.exponent = exponent
    self.isNegative = isNegative
  }

  init(_ value: DecimalValue) {
    self.init(
      digits: "\(value.coefficient)".utf8.map { $0 - 0x30 }, exponent: value.exponent,
      isNegative: value.isNegative)
  }

  /// The nearest double, also of a result that is out of range for a decimal.
  var nearestDouble: Double {
    let text = String(decoding: digits.map { $0 + 0x30 }, as: UTF8.self)
    let magnitude = Double(text + "e\(exponent)") ?? .infinity
    return isNegative ? -magnitude : magnitude
  }

  /// A decimal, and whether it is the exact result.
  typealias Rounded = (value: DecimalValue, isExact: Bool)

  /// Rounds to 34 digits, and to the smallest power of ten, half to even. Returns `nil` if the result is out of range.
  func rounded() -> Rounded? {
    let significant = digits.drop { $0 == 0 }
    let excess = max(
      significant.count - DecimalValue.maximumDigits,
      DecimalValue.exponents.lowerBound - exponent, 0)
    return rounded(dropping: excess) { last, half, isOdd in half > 0 || half == 0 && isOdd }
  }

  /// Rounds to a number of digits after the point by a rule.
  ///
  /// - Parameter isUp: Whether the magnitude increases, given whether the result is inexact, the order of the dropped
  ///   part relative to one half of the last digit, and whether the last digit is odd.
  func rounded(
    places: Int, _ isUp: (_ isInexact: Bool, _ half: Int, _ isOdd: Bool) -> Bool
  ) -> Rounded? {
    rounded(dropping: max(0, -exponent - places), isUp)
  }

  private func rounded(
    dropping count: Int, _ isUp: (_ isInexact: Bool, _ half: Int, _ isOdd: Bool) -> Bool
  ) -> Rounded? {
    let all = digits.drop { $0 == 0 }
    let kept = all.dropLast(count)
    let dropped = Array(repeating: 0, count: max(0, count - all.count)) + all.suffix(count)
    guard kept.count <= DecimalValue.maximumDigits + 1 else { return nil }
    let isInexact = hasRemainder || dropped.contains { $0 != 0 }
    var coefficient = kept.reduce(UInt128(0)) { $0 * 10 + UInt128($1) }
    if isInexact, isUp(isInexact, halfOrder(dropped), coefficient & 1 == 1) { coefficient += 1 }
    let value = DecimalValue(
      isNegative: isNegative, coefficient: coefficient, exponent: exponent + count)
    guard value.isStorable else { return nil }
    return (value, !isInexact)
  }

  private func halfOrder(_ dropped: [UInt8]) -> Int {
    guard let first = dropped.first else { return -1 }
    if first != 5 { return first < 5 ? -1 : 1 }
    return hasRemainder || dropped.dropFirst().contains { $0 != 0 } ? 1 : 0
  }
}

extension DecimalDigits {
  /// Adds digits with the same exponent and sign.
  private static func sum(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    let count = max(a.count, b.count) + 1
    var result = Array(repeating: UInt8(0), count: count - a.count) + a
    let offset = count - b.count
    for index in b.indices { result[offset + index] += b[index] }
    for index in result.indices.reversed() where result[index] > 9 {
      result[index] -= 10
      result[index - 1] += 1
    }
    return result
  }

  /// Subtracts digits that are not greater.
  private static func difference(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    var result = a.map { Int8($0) }
    let offset = a.count - b.count
    for index in b.indices where offset + index >= 0 { result[offset + index] -= Int8(b[index]) }
    for index in result.indices.reversed() where result[index] < 0 {
      result[index] += 10
      result[index - 1] -= 1
    }
    return result.map { UInt8($0) }
  }

  static func + (a: DecimalDigits, b: DecimalDigits) -> DecimalDigits {
    let exponent = min(a.exponent, b.exponent)
    let (x, y) = (a.padded(to: exponent), b.padded(to: exponent))
    if a.isNegative == b.isNegative {
      return DecimalDigits(digits: sum(x, y), exponent: exponent, isNegative: a.isNegative)
    }
    let count = max(x.count, y.count)
    let left = Array(repeating: UInt8(0), count: count - x.count) + x
    let right = Array(repeating: UInt8(0), count: count - y.count) + y
    let isLess = left.lexicographicallyPrecedes(right)
    return DecimalDigits(
      digits: isLess ? difference(right, left) : difference(left, right), exponent: exponent,
      isNegative: isLess ? b.isNegative : a.isNegative)
  }

  static func * (a: DecimalDigits, b: DecimalDigits) -> DecimalDigits {
    var columns = Array(repeating: 0, count: a.digits.count + b.digits.count)
    for (i, x) in a.digits.enumerated() {
      for (j, y) in b.digits.enumerated() { columns[i + j + 1] += Int(x) * Int(y) }
    }
    for index in columns.indices.reversed() where columns[index] > 9 {
      columns[index - 1] += columns[index] / 10
      columns[index] %= 10
    }
    return DecimalDigits(
      digits: columns.map { UInt8($0) }, exponent: a.exponent + b.exponent,
      isNegative: a.isNegative != b.isNegative)
  }

  private func padded(to exponent: Int) -> [UInt8] {
    digits + Array(repeating: 0, count: self.exponent - exponent)
  }

  /// Divides by a nonzero number of at most 35 digits. The quotient has more digits than a decimal, and may have a
  /// remainder.
  func divided(by divisor: UInt128, exponent divisorExponent: Int, isNegative: Bool)
    -> DecimalDigits
  {
    var remainder: UInt128 = 0
    var quotient: [UInt8] = []
    var position = 0
    var significant = 0
    while position < digits.count || remainder != 0 && significant <= DecimalValue.maximumDigits {
      let digit = position < digits.count ? digits[position] : 0
      remainder = remainder * 10 + UInt128(digit)
      let next = UInt8(remainder / divisor)
      remainder %= divisor
      quotient.append(next)
      if significant > 0 || next != 0 { significant += 1 }
      position += 1
    }
    var result = DecimalDigits(
      digits: quotient, exponent: exponent - divisorExponent - (position - digits.count),
      isNegative: self.isNegative != isNegative)
    result.hasRemainder = remainder != 0
    return result
  }
}
