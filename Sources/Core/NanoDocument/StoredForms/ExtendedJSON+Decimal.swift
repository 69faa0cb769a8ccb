// SPDX-License-Identifier: MIT

extension ExtendedJSON {
  /// Recognizes a Decimal128. NaN and the infinities become doubles, which have these values too.
  static func decimal(_ value: DocumentValue) -> Recognition {
    guard let text = value.string else { return .wrong(0, expected: "a decimal number in quotes") }
    if let special = StoredForm.number(text) { return .value(.double(special)) }
    if let decimal = DecimalValue(text) { return .value(.decimal(decimal)) }
    guard isDecimal(text) else { return .wrong(0, expected: "a decimal number") }
    return .wrong(
      0, expected: "at most 34 digits, the last at 10^-128 to 10^127",
      message: "A decimal has too many digits or is out of range")
  }

  private static func isDecimal(_ text: String) -> Bool {
    Array(text.utf8).withUnsafeBufferPointer { decimalDouble($0) != nil }
  }
}

extension ExtendedJSON {
  /// Returns a number of a library without decimals as an integer or a double if that represents it, otherwise as its
  /// text; `nil` for other text.
  package static func number(_ text: String) -> DocumentValue? {
    if let special = StoredForm.number(text) { return .double(special) }
    if let integer = Int64(text), text.utf8.first != ASCII.plus { return .int(integer) }
    let double = Array(text.utf8).withUnsafeBufferPointer { decimalDouble($0) }
    guard let exact = DecimalText.parse(text, allowsUnstorable: true) else {
      return double == nil ? nil : .string(text)
    }
    guard let double, double.isFinite,
      DecimalText.parse(double.description, allowsUnstorable: true) == exact
    else { return .string(text) }
    return .double(double)
  }
}
