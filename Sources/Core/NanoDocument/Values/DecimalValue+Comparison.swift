// SPDX-License-Identifier: MIT

/// Exact comparisons with other numbers.
extension DecimalValue {
  /// Returns a negative number, zero or a positive number if the first value is less than, equal to or greater than the
  /// second. NaN is less than every other number.
  package static func compare(_ a: DecimalValue, _ b: DecimalValue) -> Int {
    if a.isNaN || b.isNaN { return (a.isNaN ? 0 : 1) - (b.isNaN ? 0 : 1) }
    guard a.sign == b.sign, a.sign != 0 else { return a.sign - b.sign }
    return a.sign * compareMagnitudes(a, b)
  }

  package var sign: Int { isZero ? 0 : isNegative ? -1 : 1 }

  private static func compareMagnitudes(_ a: DecimalValue, _ b: DecimalValue) -> Int {
    let (first, other) = (a.adjustedExponent, b.adjustedExponent)
    guard first == other else { return first - other }
    let shift = a.exponent - b.exponent
    if shift < 0 { return -compareMagnitudes(b, a) }
    // Both have the same power of ten, so only a number that cannot be represented is larger.
    let (scaled, overflow) = a.coefficient.multipliedReportingOverflow(by: powers[shift])
    if overflow { return 1 }
    return scaled == b.coefficient ? 0 : scaled < b.coefficient ? -1 : 1
  }

  package static func compare(_ a: DecimalValue, _ b: Int64) -> Int { compare(a, DecimalValue(b)) }

  package static func compare(_ a: DecimalValue, _ b: Double) -> Int {
    if a.isNaN || b.isNaN { return (a.isNaN ? 0 : 1) - (b.isNaN ? 0 : 1) }
    // Rounding preserves the order, so only a decimal that rounds to the double has to be compared exactly.
    let rounded = a.nearestDouble
    if rounded != b { return rounded < b ? -1 : 1 }
    return a.order(ofNearest: b)
  }

  /// The integer with the same value, if there is one in 64 bits.
  package var exactInteger: Int64? {
    guard !isNaN, exponent >= 0, exponent <= 18 else { return nil }
    let (magnitude, overflow) = coefficient.multipliedReportingOverflow(by: Self.powers[exponent])
    guard !overflow, magnitude <= UInt128(Int64.min.magnitude) else { return nil }
    return Int64(isNegative, UInt64(magnitude))
  }

  /// The nearest double; ties are rounded to even.
  @usableFromInline package var nearestDouble: Double {
    if isNaN { return .nan }
    let coefficient = coefficient
    let magnitude: Double
    // The quotient and the product of two exact doubles are correctly rounded.
    if coefficient >> 53 == 0, exponent.magnitude < powersOfTen.count {
      let power = powersOfTen[Int(exponent.magnitude)]
      magnitude = exponent < 0 ? Double(coefficient) / power : Double(coefficient) * power
    } else {
      magnitude = Double("\(coefficient)e\(exponent)") ?? .infinity
    }
    return isNegative ? -magnitude : magnitude
  }

  /// Returns the order of the value relative to its nearest double, exactly.
  func order(ofNearest double: Double) -> Int {
    guard sign != 0, double.isFinite, double != 0 else { return isZero ? 0 : sign }
    // coefficient · 5^a · 2^a against mantissa · 5^b · 2^(power + b)
    let (a, b) = (max(exponent, 0), max(-exponent, 0))
    let isSubnormal = double.exponentBitPattern == 0
    let mantissa = double.significandBitPattern | (isSubnormal ? 0 : 1 << 52)
    let power = Int(max(double.exponentBitPattern, 1)) - 1075
    var left = Natural(coefficient)
    var right = Natural(UInt128(mantissa))
    left.multiply(byPowerOfFive: a)
    right.multiply(byPowerOfFive: b)
    let shift = a - power - b
    if shift > 0 { left.shiftLeft(shift) } else { right.shiftLeft(-shift) }
    return sign * Natural.compare(left, right)
  }
}

/// A natural number of any size, as far as comparisons need it.
private struct Natural {
  /// The least significant first, without leading zeros.
  private var words: [UInt32] = []

  init(_ number: UInt128) {
    var rest = number
    while rest != 0 {
      words.append(UInt32(truncatingIfNeeded: rest))
      rest >>= 32
    }
  }

  mutating func multiply(byPowerOfFive power: Int) {
    // 5^13 is the largest power in 32 bits.
    for _ in 0..<(power / 13) { multiply(by: 1_220_703_125) }
    for _ in 0..<(power % 13) { multiply(by: 5) }
  }

  private mutating func multiply(by factor: UInt32) {
    var carry: UInt64 = 0
    for index in words.indices {
      carry += UInt64(words[index]) * UInt64(factor)
      words[index] = UInt32(truncatingIfNeeded: carry)
      carry >>= 32
    }
    if carry > 0 { words.append(UInt32(carry)) }
  }

  mutating func shiftLeft(_ count: Int) {
    guard count > 0, !words.isEmpty else { return }
    let bits = UInt64(count % 32)
    var carry: UInt64 = 0
    for index in words.indices {
      carry |= UInt64(words[index]) << bits
      words[index] = UInt32(truncatingIfNeeded: carry)
      carry >>= 32
    }
    if carry > 0 { words.append(UInt32(carry)) }
    words.insert(contentsOf: repeatElement(0, count: count / 32), at: 0)
  }

  static func compare(_ a: Natural, _ b: Natural) -> Int {
    guard a.words.count == b.words.count else { return a.words.count - b.words.count }
    for (x, y) in zip(a.words.reversed(), b.words.reversed()) where x != y { return x < y ? -1 : 1 }
    return 0
  }
}
