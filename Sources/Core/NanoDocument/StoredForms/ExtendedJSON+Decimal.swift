// SPDX-License-Identifier: MIT

extension ExtendedJSON {
  /// Returns a 128-bit decimal as an integer or a double if that represents it exactly, otherwise as
  /// its text.
  package static func decimal(_ text: String) -> DocumentValue? {
    if let special = StoredForm.number(text) { return .double(special) }
    guard let exact = Decimal(text) else { return nil }
    if let integer = Int64(text), text.utf8.first != ASCII.plus { return .int(integer) }
    let double = Array(text.utf8).withUnsafeBufferPointer { decimalDouble($0) }
    guard let double, double.isFinite, Decimal(double.description) == exact else {
      return .string(text)
    }
    return .double(double)
  }

  /// A parsed decimal. Equal numbers have equal properties.
  private struct Decimal: Equatable {
    var isNegative = false
    /// The significant digits, without leading or trailing zeros.
    var digits: [UInt8] = []
    /// The power of ten of the last digit.
    var exponent = 0

    init?(_ text: String) {
      var rest = Array(text.utf8)[...]
      if let sign = rest.first, sign == ASCII.minus || sign == ASCII.plus {
        isNegative = sign == ASCII.minus
        rest.removeFirst()
      }
      var hasPoint = false
      var hasDigits = false
      while let byte = rest.first, byte | 0x20 != ASCII.exponent {
        rest.removeFirst()
        if byte == ASCII.dot, !hasPoint {
          hasPoint = true
          continue
        }
        guard byte &- ASCII.zero <= 9 else { return nil }
        hasDigits = true
        if !digits.isEmpty || byte != ASCII.zero { digits.append(byte) }
        if hasPoint { exponent -= 1 }
      }
      guard hasDigits else { return nil }
      if rest.popFirst() != nil {
        // The longest exponents of 128-bit decimals have four digits.
        guard rest.count <= 6, let power = Int(String(decoding: rest, as: UTF8.self)) else {
          return nil
        }
        exponent += power
      }
      while digits.last == ASCII.zero {
        digits.removeLast()
        exponent += 1
      }
      if digits.isEmpty { exponent = 0 }
    }
  }
}
