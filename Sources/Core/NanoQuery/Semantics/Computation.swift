// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Arithmetic, casts and functions over single values. An undefined result is null, never an error.
enum Computation {
  static func arithmetic(
    _ a: DocumentValue, _ operation: Arithmetic, _ b: DocumentValue
  ) -> DocumentValue {
    switch (operation, a, b) {
    case (.concatenate, _, _):
      guard let left = text(a), let right = text(b) else { return .null }
      return .string(left + right)
    case (_, .int(let x), .int(let y)): return integers(x, operation, y)
    case (.bitAnd, _, _), (.bitOr, _, _), (.shiftLeft, _, _), (.shiftRight, _, _): return .null
    case (_, .decimal, _), (_, _, .decimal): return decimals(a, operation, b)
    default:
      guard let x = a.double, let y = b.double else { return .null }
      return doubles(x, operation, y)
    }
  }

  private static func integers(_ x: Int64, _ operation: Arithmetic, _ y: Int64) -> DocumentValue {
    switch operation {
    case .add: return exact(x.addingReportingOverflow(y)) ?? doubles(Double(x), .add, Double(y))
    case .subtract:
      return exact(x.subtractingReportingOverflow(y)) ?? doubles(Double(x), .subtract, Double(y))
    case .multiply:
      return exact(x.multipliedReportingOverflow(by: y)) ?? doubles(Double(x), .multiply, Double(y))
    case .divide:
      guard y != 0 else { return .null }
      return exact(x.dividedReportingOverflow(by: y)) ?? doubles(Double(x), .divide, Double(y))
    case .remainder:
      guard y != 0 else { return .null }
      // `Int64.min % -1` traps; the remainder is 0.
      return .int(y == -1 ? 0 : x % y)
    case .bitAnd: return .int(x & y)
    case .bitOr: return .int(x | y)
    case .shiftLeft: return .int(x << y)
    case .shiftRight: return .int(x >> y)
    case .concatenate: return .null
    }
  }

  /// With a double, the result is a double; so is one that is out of range.
  private static func decimals(
    _ a: DocumentValue, _ operation: Arithmetic, _ b: DocumentValue
  ) -> DocumentValue {
    if let x = a.decimalOperand, let y = b.decimalOperand {
      let isDivision = operation == .divide || operation == .remainder
      if isDivision && y.isZero { return .null }
      let result: DecimalValue? =
        switch operation {
        case .add: DecimalArithmetic.add(x, y)?.value
        case .subtract: DecimalArithmetic.subtract(x, y)?.value
        case .multiply: DecimalArithmetic.multiply(x, y)?.value
        case .divide: DecimalArithmetic.divide(x, y)?.value
        case .remainder: DecimalArithmetic.remainder(x, y)
        case .concatenate, .bitAnd, .bitOr, .shiftLeft, .shiftRight: nil
        }
      if let result { return .decimal(result) }
    }
    guard let x = a.double, let y = b.double else { return .null }
    return doubles(x, operation, y)
  }

  private static func exact(_ result: (partialValue: Int64, overflow: Bool)) -> DocumentValue? {
    result.overflow ? nil : .int(result.partialValue)
  }

  private static func doubles(_ x: Double, _ operation: Arithmetic, _ y: Double) -> DocumentValue {
    switch operation {
    case .add: .double(x + y)
    case .subtract: .double(x - y)
    case .multiply: .double(x * y)
    case .divide: y == 0 ? .null : .double(x / y)
    case .remainder: y == 0 ? .null : .double(x.truncatingRemainder(dividingBy: y))
    case .concatenate, .bitAnd, .bitOr, .shiftLeft, .shiftRight: .null
    }
  }

  /// Returns the text form of a value. Numbers are formatted as in JSON.
  static func text(_ value: DocumentValue) -> String? {
    switch value {
    case .string(let text): text
    case .url(let url): url.absoluteString
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .decimal(let number): number.isNaN ? nil : number.description
    case .bool(let flag): flag ? "true" : "false"
    case .date(let date): DateParts(date)?.text
    case .null, .data, .array, .object: nil
    }
  }

  static func cast(_ value: DocumentValue, to type: CastType) -> DocumentValue {
    switch type {
    case .text: return text(value).map(DocumentValue.string) ?? .null
    case .integer:
      switch value {
      case .int: return value
      case .double(let number): return .int(clamped(number))
      case .decimal(let number): return .int(DecimalArithmetic.clamped(number))
      case .bool(let flag): return .int(flag ? 1 : 0)
      case .string(let text):
        return .int(clamped(NumberPrefix.double(text), NumberPrefix.integer(text)))
      default: return .null
      }
    case .real:
      switch value {
      case .int(let number): return .double(Double(number))
      case .double: return value
      case .decimal(let number): return .double(number.nearestDouble)
      case .bool(let flag): return .double(flag ? 1 : 0)
      case .string(let text): return .double(NumberPrefix.double(text))
      default: return .null
      }
    case .decimal:
      switch value {
      case .int(let number): return .decimal(DecimalValue(number))
      // The shortest decimal that is parsed as the double, which is how it is usually written.
      case .double(let number): return decimal("\(number)")
      case .decimal: return value
      case .bool(let flag): return .decimal(DecimalValue(Int64(flag ? 1 : 0)))
      case .string(let text): return decimal(NumberPrefix.text(text))
      default: return .null
      }
    case .boolean:
      switch value {
      case .bool: return value
      case .int(let number): return .bool(number != 0)
      case .double(let number): return .bool(number != 0 && !number.isNaN)
      case .decimal(let number): return .bool(number.sign != 0 && !number.isNaN)
      case .string("true"): return .bool(true)
      case .string("false"): return .bool(false)
      default: return .null
      }
    }
  }

  private static func decimal(_ text: String) -> DocumentValue {
    DecimalValue(text.isEmpty ? "0" : text).map { .decimal($0) } ?? .null
  }

  private static func clamped(_ number: Double, _ exact: Int64? = nil) -> Int64 {
    if let exact { return exact }
    if number.isNaN { return 0 }
    if number >= 0x1p63 { return .max }
    if number < -0x1p63 { return .min }
    return Int64(number)
  }
}

/// Parses the numeric prefix of a string as SQLite's `CAST` does; 0 if there is none.
enum NumberPrefix {
  static func integer(_ text: String) -> Int64? {
    let (digits, isWhole) = prefix(text)
    return isWhole ? Int64(digits) : nil
  }

  static func double(_ text: String) -> Double { Double(prefix(text).digits) ?? 0 }

  /// The prefix itself; empty if it has no digits.
  static func text(_ text: String) -> String {
    let digits = prefix(text).digits
    return Double(digits) == nil ? "" : digits
  }

  private static func prefix(_ text: String) -> (digits: String, isWhole: Bool) {
    var rest = Array(text.utf8).drop { $0 == 0x20 || ($0 >= 9 && $0 <= 13) }
    var taken: [UInt8] = []
    func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 >= 0x30 && $0 <= 0x39 } ?? false }
    func takeDigits() { while isDigit(rest.first) { taken.append(rest.removeFirst()) } }
    if rest.first == 0x2B || rest.first == 0x2D { taken.append(rest.removeFirst()) }
    takeDigits()
    var isWhole = true
    if rest.first == 0x2E, isDigit(rest.dropFirst().first) || isDigit(taken.last) {
      isWhole = false
      rest.removeFirst()
      taken.append(0x2E)
      let before = taken.count
      takeDigits()
      if taken.count == before { taken.append(0x30) }
    }
    if let mark = rest.first, mark | 0x20 == 0x65, isDigit(taken.last) {
      var tail = rest.dropFirst()
      var sign: [UInt8] = []
      if let next = tail.first, next == 0x2B || next == 0x2D { sign = [tail.removeFirst()] }
      if isDigit(tail.first) {
        isWhole = false
        taken.append(contentsOf: [0x65] + sign)
        rest = tail
        takeDigits()
      }
    }
    if taken.first == 0x2B { taken.removeFirst() }
    return (String(decoding: taken, as: UTF8.self), isWhole && isDigit(taken.last))
  }
}
