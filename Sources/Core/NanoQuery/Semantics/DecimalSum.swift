// SPDX-License-Identifier: MIT

import NanoDocument

/// The exact sum of any number of decimals, in any order.
///
/// A class, so that aggregations without decimals are not larger. Each belongs to a single aggregation.
final class DecimalSum {
  /// The sum of the latest decimals, as long as 128 bits represent it.
  private var recent: Int128 = 0
  private var exponent = 0
  /// The rest, in digits of base 10^18, the least significant first. Each may be negative, and exceed the base.
  private var columns: [Int128] = []

  private static let base: UInt128 = 1_000_000_000_000_000_000
  private static let width = 18
  /// The power of ten of the first column: that of the last digit of any decimal, or less.
  private static let lowest = -144
  /// Enough for 2^63 numbers of 10^161.
  private static let count = 21

  /// - Parameter value: A storable decimal.
  func add(_ value: DecimalValue) {
    if value.isZero { return }
    let common = min(value.exponent, exponent)
    if let scaled = Self.scaled(recent, exponent - common),
      let term = Self.scaled(
        value.isNegative ? -Int128(value.coefficient) : Int128(value.coefficient),
        value.exponent - common)
    {
      let (sum, overflow) = scaled.addingReportingOverflow(term)
      if !overflow {
        (recent, exponent) = (sum, common)
        return
      }
    }
    flush()
    (recent, exponent) = (
      value.isNegative ? -Int128(value.coefficient) : Int128(value.coefficient), value.exponent
    )
  }

  private static func scaled(_ number: Int128, _ shift: Int) -> Int128? {
    if shift == 0 { return number }
    // 10^38 is the largest power in 127 bits.
    guard shift < DecimalValue.powers.count else { return number == 0 ? 0 : nil }
    let (product, overflow) = number.multipliedReportingOverflow(
      by: Int128(DecimalValue.powers[shift]))
    return overflow ? nil : product
  }

  /// Moves the recent sum to the columns.
  private func flush() {
    guard recent != 0 else { return }
    if columns.isEmpty { columns = Array(repeating: 0, count: Self.count) }
    let (column, shift) = (exponent - Self.lowest).quotientAndRemainder(dividingBy: Self.width)
    var rest = recent.magnitude
    var index = column
    while rest != 0 {
      // Less than 10^36.
      let part = rest % Self.base * DecimalValue.powers[shift]
      add(part % Self.base, to: index)
      add(part / Self.base, to: index + 1)
      rest /= Self.base
      index += 1
    }
    (recent, exponent) = (0, 0)
  }

  private func add(_ part: UInt128, to index: Int) {
    guard part != 0 else { return }
    columns[index] += recent < 0 ? -Int128(part) : Int128(part)
  }

  /// All digits of the sum.
  var digits: DecimalDigits {
    flush()
    var columns = columns.isEmpty ? [Int128(0)] : columns
    let base = Int128(Self.base)
    func normalize() {
      for index in columns.indices.dropLast() {
        var carry = columns[index] / base
        if columns[index] % base < 0 { carry -= 1 }
        columns[index] -= carry * base
        columns[index + 1] += carry
      }
    }
    normalize()
    let isNegative = columns[columns.count - 1] < 0
    if isNegative {
      columns = columns.map { -$0 }
      normalize()
    }
    let digits = columns.reversed().flatMap { column -> [UInt8] in
      let text = Array("\(column)".utf8)
      return (Array(repeating: UInt8(0x30), count: max(0, Self.width - text.count)) + text)
        .map { $0 - 0x30 }
    }
    return DecimalDigits(digits: digits, exponent: Self.lowest, isNegative: isNegative)
  }
}
