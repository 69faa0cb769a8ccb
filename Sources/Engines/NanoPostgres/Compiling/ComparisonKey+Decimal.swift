// SPDX-License-Identifier: MIT

import NanoDocument

extension ComparisonKey {
  /// Returns the number and the text of a decimal, as the functions on the server compute them: a decimal below the
  /// nearest number has a number slightly below it, and its side as the text.
  static func place(_ decimal: DecimalValue) -> (number: String, text: String) {
    let place = DecimalPlace(decimal)
    let near =
      switch place.number {
      case .integer(let integer): "\(integer)"
      case .double(let double): Self.decimal(double)
      }
    guard place.side.utf8.first == UInt8(ascii: "<") else { return (near, place.side) }
    return (below(near), place.side)
  }

  /// Multiplies a positive number by 1 - 10^-20, and a negative one by 1 + 10^-20, exactly.
  private static func below(_ number: String) -> String {
    let isNegative = number.utf8.first == UInt8(ascii: "-")
    var digits: [Int] = []
    var exponent = 0
    if let parsed = DecimalText.parse(number, allowsUnstorable: true) {
      digits = "\(parsed.coefficient)".utf8.map { Int($0) - 0x30 }
      exponent = parsed.exponent
    } else {
      // All the digits of a large double.
      digits = number.utf8.filter { $0 != UInt8(ascii: "-") }.map { Int($0) - 0x30 }
    }
    // number · 10^20 ∓ number, with the power of ten 20 less
    var product = [0] + digits + Array(repeating: 0, count: 20)
    for (index, digit) in digits.enumerated() {
      product[product.count - digits.count + index] += isNegative ? digit : -digit
    }
    for index in product.indices.reversed().dropLast() {
      if product[index] < 0 {
        product[index] += 10
        product[index - 1] -= 1
      } else if product[index] > 9 {
        product[index] -= 10
        product[index - 1] += 1
      }
    }
    let text = product.map { "\($0)" }.joined()
    return (isNegative ? "-" : "") + text + "e\(exponent - 20)"
  }
}
