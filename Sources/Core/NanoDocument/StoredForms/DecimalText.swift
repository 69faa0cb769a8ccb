// SPDX-License-Identifier: MIT

/// Parses decimals, and writes them in canonical form.
///
/// The canonical form has no trailing zeros. It has an exponent only if the number would otherwise begin with more than
/// six zeros after the point, or have more than 34 digits before it: `0.0000012`, `1.2E-8`, `1E+40`.
package enum DecimalText {
  /// The smallest power of ten of the first digit for which a fraction is written without an exponent.
  static let smallestPlain = -7

  /// Parses a decimal with an optional sign, point and exponent. Returns `nil` for other text.
  ///
  /// - Parameter allowsUnstorable: Whether the result may have more than 34 digits or be out of range.
  package static func parse(_ text: String, allowsUnstorable: Bool = false) -> DecimalValue? {
    var text = text
    return text.withUTF8 { utf8 in
      guard let base = utf8.baseAddress else { return nil }
      var cursor = base
      let value = parse(&cursor, base + utf8.count)
      guard cursor == base + utf8.count, let value, allowsUnstorable || value.isStorable else {
        return nil
      }
      return value
    }
  }

  /// Parses the longest decimal at the cursor, and advances it. Returns `nil` if there is none, or if it has more
  /// digits than 128 bits can represent.
  static func parse(
    _ cursor: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
  ) -> DecimalValue? {
    var isNegative = false
    if cursor < end, cursor.pointee == ASCII.minus || cursor.pointee == ASCII.plus {
      isNegative = cursor.pointee == ASCII.minus
      cursor += 1
    }
    var digits = Digits()
    while cursor < end {
      let byte = cursor.pointee
      if byte &- ASCII.zero <= 9 {
        digits.append(byte &- ASCII.zero)
      } else if byte == ASCII.dot, !digits.hasPoint {
        digits.hasPoint = true
      } else {
        break
      }
      cursor += 1
    }
    guard digits.hasDigits else { return nil }
    if cursor < end, cursor.pointee | 0x20 == ASCII.exponent {
      cursor += 1
      guard let power = exponent(&cursor, end) else { return nil }
      digits.exponent += power
    }
    return digits.value(isNegative: isNegative)
  }

  private static func exponent(
    _ cursor: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
  ) -> Int? {
    var isNegative = false
    if cursor < end, cursor.pointee == ASCII.minus || cursor.pointee == ASCII.plus {
      isNegative = cursor.pointee == ASCII.minus
      cursor += 1
    }
    let first = cursor
    var power = 0
    while cursor < end, cursor.pointee &- ASCII.zero <= 9 {
      // Beyond any storable number; more digits would overflow.
      power = min(power * 10 + Int(cursor.pointee &- ASCII.zero), 1_000_000)
      cursor += 1
    }
    return cursor == first ? nil : isNegative ? -power : power
  }

  /// Digits as they are read. Zeros count only once another digit follows, so that any number of them may surround the
  /// significant ones.
  private struct Digits {
    var exponent = 0
    var hasPoint = false
    private(set) var hasDigits = false
    private var coefficient: UInt128 = 0
    private var zeros = 0
    private var isTooLong = false

    mutating func append(_ digit: UInt8) {
      hasDigits = true
      if hasPoint { exponent -= 1 }
      guard digit != 0 else {
        if coefficient != 0 { zeros += 1 }
        return
      }
      guard zeros < DecimalValue.powers.count - 1 else {
        isTooLong = true
        return
      }
      let (scaled, overflow) = coefficient.multipliedReportingOverflow(
        by: DecimalValue.powers[zeros + 1])
      let (sum, carry) = scaled.addingReportingOverflow(UInt128(digit))
      isTooLong = isTooLong || overflow || carry
      coefficient = sum
      zeros = 0
    }

    func value(isNegative: Bool) -> DecimalValue? {
      if isTooLong { return nil }
      return DecimalValue(
        isNegative: isNegative, coefficient: coefficient, exponent: exponent + zeros)
    }
  }

  /// Returns the canonical form.
  package static func text(_ value: DecimalValue) -> String {
    if value.isNaN { return "NaN" }
    let sign = value.isNegative ? "-" : ""
    let digits = "\(value.coefficient)"
    let first = value.adjustedExponent
    func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
    if first < smallestPlain || first >= DecimalValue.maximumDigits {
      let rest = digits.dropFirst()
      return sign + digits.prefix(1) + (rest.isEmpty ? "" : "." + rest)
        + (first < 0 ? "E" : "E+") + "\(first)"
    }
    if value.exponent >= 0 { return sign + digits + zeros(value.exponent) }
    if first < 0 { return sign + "0." + zeros(-first - 1) + digits }
    return sign + digits.prefix(first + 1) + "." + digits.dropFirst(first + 1)
  }
}
