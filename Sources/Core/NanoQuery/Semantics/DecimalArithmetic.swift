// SPDX-License-Identifier: MIT

import NanoDocument

/// Arithmetic of decimals. A result is exact if it has at most 34 digits; otherwise it is rounded half to even, as in
/// IEEE 754. `nil` is a result out of range.
enum DecimalArithmetic {
  static func add(_ a: DecimalValue, _ b: DecimalValue) -> DecimalDigits.Rounded? {
    if let sum = aligned(a, b) { return sum }
    return (DecimalDigits(a) + DecimalDigits(b)).rounded()
  }

  /// Returns the sum if 128 bits represent both numbers with the same power of ten, as amounts of money do.
  private static func aligned(_ a: DecimalValue, _ b: DecimalValue) -> DecimalDigits.Rounded? {
    let exponent = min(a.exponent, b.exponent)
    guard let x = scaled(a, exponent), let y = scaled(b, exponent) else { return nil }
    // Both are less than 2^126.
    let sum = x + y
    let value = DecimalValue(
      isNegative: sum < 0, coefficient: sum.magnitude, exponent: exponent)
    return value.isStorable ? (value, true) : nil
  }

  private static func scaled(_ value: DecimalValue, _ exponent: Int) -> Int128? {
    let shift = value.exponent - exponent
    guard shift < DecimalValue.powers.count else { return nil }
    let (magnitude, overflow) = value.coefficient.multipliedReportingOverflow(
      by: DecimalValue.powers[shift])
    guard !overflow, magnitude >> 126 == 0 else { return nil }
    return value.isNegative ? -Int128(magnitude) : Int128(magnitude)
  }

  static func subtract(_ a: DecimalValue, _ b: DecimalValue) -> DecimalDigits.Rounded? {
    add(a, negated(b))
  }

  static func multiply(_ a: DecimalValue, _ b: DecimalValue) -> DecimalDigits.Rounded? {
    let (product, overflow) = a.coefficient.multipliedReportingOverflow(by: b.coefficient)
    if !overflow {
      let value = DecimalValue(
        isNegative: a.isNegative != b.isNegative, coefficient: product,
        exponent: a.exponent + b.exponent)
      if value.isStorable { return (value, true) }
    }
    return (DecimalDigits(a) * DecimalDigits(b)).rounded()
  }

  /// Divides by a nonzero number.
  static func divide(_ a: DecimalValue, _ b: DecimalValue) -> DecimalDigits.Rounded? {
    DecimalDigits(a).divided(by: b.coefficient, exponent: b.exponent, isNegative: b.isNegative)
      .rounded()
  }

  /// Returns the remainder of the truncated division by a nonzero number, with the sign of the first one. Always exact.
  static func remainder(_ a: DecimalValue, _ b: DecimalValue) -> DecimalValue {
    let shift = a.exponent - b.exponent
    var rest: UInt128 = 0
    if shift >= 0 {
      let digits = DecimalDigits(a).digits + Array(repeating: 0, count: shift)
      for digit in digits { rest = (rest * 10 + UInt128(digit)) % b.coefficient }
      return DecimalValue(isNegative: a.isNegative, coefficient: rest, exponent: b.exponent)
    }
    // A divisor that cannot be scaled is larger than the number.
    guard -shift < DecimalValue.powers.count else { return a }
    let (divisor, overflow) = b.coefficient.multipliedReportingOverflow(
      by: DecimalValue.powers[-shift])
    if overflow { return a }
    return DecimalValue(
      isNegative: a.isNegative, coefficient: a.coefficient % divisor, exponent: a.exponent)
  }

  static func negated(_ value: DecimalValue) -> DecimalValue {
    DecimalValue(
      isNegative: !value.isNegative, coefficient: value.coefficient, exponent: value.exponent)
  }

  static func magnitude(_ value: DecimalValue) -> DecimalValue {
    value.isNegative ? negated(value) : value
  }

  /// Rounds halves away from zero.
  static func round(_ value: DecimalValue, places: Int) -> DecimalValue {
    DecimalDigits(value).rounded(places: places) { _, half, _ in half >= 0 }?.value ?? value
  }

  static func floor(_ value: DecimalValue) -> DecimalValue {
    DecimalDigits(value).rounded(places: 0) { _, _, _ in value.isNegative }?.value ?? value
  }

  static func ceiling(_ value: DecimalValue) -> DecimalValue {
    DecimalDigits(value).rounded(places: 0) { _, _, _ in !value.isNegative }?.value ?? value
  }

  /// The value truncated to an integer, clamped to 64 bits.
  static func clamped(_ value: DecimalValue) -> Int64 {
    guard value.sign != 0, !value.isNaN else { return 0 }
    if value.adjustedExponent > 18 { return value.isNegative ? .min : .max }
    guard value.adjustedExponent >= 0 else { return 0 }
    let magnitude =
      value.exponent < 0
      ? value.coefficient / DecimalValue.powers[-value.exponent]
      : value.coefficient * DecimalValue.powers[value.exponent]
    if value.isNegative {
      return magnitude >= UInt128(Int64.min.magnitude) ? .min : -Int64(magnitude)
    }
    return Int64(clamping: magnitude)
  }
}

extension DocumentValue {
  /// The number as a decimal, if it is a storable decimal or an integer.
  var decimalOperand: DecimalValue? {
    switch self {
    case .decimal(let value): value.isStorable ? value : nil
    case .int(let value): DecimalValue(value)
    default: nil
    }
  }
}
