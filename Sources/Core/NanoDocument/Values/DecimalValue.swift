// SPDX-License-Identifier: MIT

public import Foundation

/// A decimal number: up to 34 significant digits and a power of ten, as in Decimal128.
///
/// Equal numbers are equal values, whatever zeros they were written with: `12.30` is `12.3`, and `-0` is `0`.
/// Conditions, orders and unique indexes compare a decimal with integers and doubles by exact value.
///
/// ```swift
/// DecimalValue("12.30")?.description        // "12.3"
/// DecimalValue(Decimal(1) / 4).decimal      // 0.25
/// ```
///
/// A decimal created from a `Decimal` can be NaN or have up to 39 digits. Such a value is not storable: writing it
/// throws ``StoreError/Code/valueNotStorable``.
public struct DecimalValue: Sendable, Hashable {
  // Two words rather than a `UInt128`, whose alignment would make every ``DocumentValue`` larger.
  private let high: UInt64
  private let low: UInt64
  /// The power of ten of the last digit; ``notANumber`` for NaN.
  private let power: Int16
  package let isNegative: Bool

  private static let notANumber = Int16.max

  /// Creates a value from its digits. Trailing zeros are removed.
  package init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
    var (coefficient, exponent) = (coefficient, exponent)
    if coefficient == 0 {
      exponent = 0
    } else if coefficient % 10 == 0 {
      for step in [16, 8, 4, 2, 1] {
        while coefficient % Self.powers[step] == 0 {
          coefficient /= Self.powers[step]
          exponent += step
        }
      }
    }
    high = UInt64(truncatingIfNeeded: coefficient >> 64)
    low = UInt64(truncatingIfNeeded: coefficient)
    power = Int16(clamping: exponent)
    self.isNegative = isNegative && coefficient != 0
  }

  private init(nan: Void) {
    (high, low, power, isNegative) = (0, 0, Self.notANumber, false)
  }

  /// Creates the decimal of an integer.
  package init(_ integer: Int64) {
    self.init(isNegative: integer < 0, coefficient: UInt128(integer.magnitude), exponent: 0)
  }

  /// Creates a decimal with the exact value of a `Decimal`.
  public init(_ decimal: Decimal) {
    // The text of a `Decimal` is exact and does not depend on the locale; its digits are not accessible on all
    // platforms.
    self = DecimalText.parse(decimal.description, allowsUnstorable: true) ?? .nan
  }

  /// Creates a decimal from text such as `12.30`, `-5` or `1.2E-7`; `nil` if it is not a number, has more than 34
  /// significant digits, or is out of range.
  public init?(_ text: String) {
    guard let value = DecimalText.parse(text) else { return nil }
    self = value
  }

  package static let nan = DecimalValue(nan: ())
  package static let zero = DecimalValue(Int64(0))

  package var isNaN: Bool { power == Self.notANumber }
  package var coefficient: UInt128 { UInt128(high) << 64 | UInt128(low) }
  package var exponent: Int { Int(power) }
  package var isZero: Bool { high == 0 && low == 0 && !isNaN }

  /// The number of significant digits; 1 for zero.
  package var digitCount: Int { Self.digitCount(coefficient) }

  /// The power of ten of the first digit.
  package var adjustedExponent: Int { exponent + digitCount - 1 }
}

extension DecimalValue {
  /// The maximum number of significant digits, as in Decimal128.
  package static let maximumDigits = 34
  /// The smallest power of ten of a digit, and the largest that can follow 34 digits; those of `Decimal`.
  package static let exponents = -128...127

  /// Whether the value can be stored.
  package var isStorable: Bool {
    guard !isNaN, digitCount <= Self.maximumDigits, exponent >= Self.exponents.lowerBound else {
      return false
    }
    return exponent <= Self.exponents.upperBound
      || adjustedExponent < Self.exponents.upperBound + Self.maximumDigits
  }

  static func digitCount(_ coefficient: UInt128) -> Int {
    // The number of decimal digits follows from that of the bits, except for one comparison.
    let bits = 128 - coefficient.leadingZeroBitCount
    let estimate = (bits * 1233) >> 12
    return max(1, estimate + (estimate < powers.count && coefficient >= powers[estimate] ? 1 : 0))
  }

  /// The powers of ten that 128 bits can represent.
  package static let powers: [UInt128] = (0...38).map {
    (0..<$0).reduce(UInt128(1)) { power, _ in power * 10 }
  }

  /// The value as a `Decimal`; NaN if it is NaN.
  public var decimal: Decimal {
    if isNaN { return .nan }
    if high == 0, Self.exponents.contains(exponent) {
      return Decimal(
        sign: isNegative ? .minus : .plus, exponent: exponent, significand: Decimal(low))
    }
    // Padded, because the exponent of a `Decimal` ends at 127.
    let zeros = max(0, exponent - Self.exponents.upperBound)
    let digits = "\(coefficient)" + String(repeating: "0", count: zeros)
    let text = (isNegative ? "-" : "") + digits + "e\(exponent - zeros)"
    return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) ?? .nan
  }
}

extension DecimalValue: CustomStringConvertible {
  /// The canonical text of the number: `12.3`, `-5`, `0`, `1.2E-8`, `1E+40`. `NaN` if it is NaN.
  public var description: String { DecimalText.text(self) }
}

extension StoreError {
  static func decimalNotStorable(_ value: DecimalValue) -> StoreError {
    StoreError(
      .valueNotStorable,
      value.isNaN
        ? "A decimal is not a number" : "A decimal has too many digits or is out of range",
      [
        .value: value.description,
        .limit: "\(DecimalValue.maximumDigits) significant digits, the last at 10^-128 to 10^127",
      ])
  }
}
