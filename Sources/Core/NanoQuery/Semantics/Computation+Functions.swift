// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension Computation {
  /// Calls a function.
  ///
  /// - Throws: ``StoreError/Code/tooComplex`` if the resulting text exceeds the budget.
  static func call(
    _ function: Function, _ operands: [DocumentValue], _ budget: EvaluationBudget
  ) throws(StoreError) -> DocumentValue {
    switch function {
    case .replace: return try replacing(operands, budget)
    case .concat, .char, .hex, .dateFormat, .lower, .upper, .trim, .ltrim, .rtrim, .substr:
      let result = call(function, operands)
      try budget.spend(text: result)
      return result
    case .array, .elementAt, .arraySlice, .arrayConcat, .arrayDistinct, .arraySort, .arrayReverse,
      .arrayUnion, .arrayIntersection, .arrayDifference:
      return try array(function, operands, budget)
    default: return call(function, operands)
    }
  }

  private static func call(_ function: Function, _ operands: [DocumentValue]) -> DocumentValue {
    switch function {
    case .abs, .sign, .round, .ceil, .floor, .mod, .pow, .sqrt, .exp, .ln, .log10, .pi:
      return number(function, operands)
    case .length, .lower, .upper, .trim, .ltrim, .rtrim, .substr, .instr, .replace, .concat, .hex,
      .unicode, .char:
      return text(function, operands)
    case .coalesce, .ifnull: return operands.first { !$0.isNull } ?? .null
    case .nullif: return ValueOrder.compare(operands[0], operands[1]) == 0 ? .null : operands[0]
    case .iif: return isTrue(operands[0]) ? operands[1] : operands[2]
    case .min:
      if operands.contains(.null) { return .null }
      return operands.min { ValueOrder.compare($0, $1) < 0 } ?? .null
    case .max:
      if operands.contains(.null) { return .null }
      return operands.max { ValueOrder.compare($0, $1) < 0 } ?? .null
    case .typeof: return .string(operands[0].typeName)
    case .arrayLength: return operands[0].array.map { .int(Int64($0.count)) } ?? .null
    case .year, .quarter, .month, .week, .isoYear, .day, .dayOfYear, .weekday, .hour, .minute,
      .second, .dateTrunc, .dateAdd, .dateDiff, .dateFormat, .toDate:
      return date(function, operands)
    case .bucket: return bucket(operands)
    // Computed above, within the budget.
    case .array, .elementAt, .arraySlice, .arrayConcat, .arrayDistinct, .arraySort, .arrayReverse,
      .arrayUnion, .arrayIntersection, .arrayDifference:
      return .null
    }
  }

  private static func isTrue(_ value: DocumentValue) -> Bool {
    Evaluator<DocumentSubject>.isTrue(value)
  }

  private static func number(_ function: Function, _ operands: [DocumentValue]) -> DocumentValue {
    if function == .pi { return .double(.pi) }
    if case .int(let number) = operands[0] {
      switch function {
      case .abs: return number == .min ? .double(0x1p63) : .int(Swift.abs(number))
      case .sign: return .int(number.signum())
      case .ceil, .floor: return .int(number)
      case .mod: return arithmetic(operands[0], .remainder, operands[1])
      default: break
      }
    }
    if case .decimal(let number) = operands[0], number.isStorable,
      let result = decimal(function, number, operands)
    {
      return result
    }
    guard let x = operands[0].double else { return .null }
    switch function {
    case .abs: return .double(x.magnitude)
    case .sign: return x.isNaN ? .null : .int(x > 0 ? 1 : x < 0 ? -1 : 0)
    case .round:
      guard operands.count == 2 else { return .double(x.rounded()) }
      guard let digits = operands[1].int else { return .null }
      let scale = Foundation.pow(10, Double(Swift.min(Swift.max(digits, 0), 15)))
      let scaled = x * scale
      // A larger number is whole, and dividing it would not return the same value.
      guard scaled.magnitude < 0x1p52 else { return .double(x) }
      // Nothing to round, although the product may not be whole.
      for whole in [scaled.rounded(.down), scaled.rounded(.up)] where whole / scale == x {
        return .double(x)
      }
      return .double(scaled.rounded() / scale)
    case .ceil: return .double(x.rounded(.up))
    case .floor: return .double(x.rounded(.down))
    case .mod: return arithmetic(operands[0], .remainder, operands[1])
    case .pow: return operands[1].double.map { .double(Foundation.pow(x, $0)) } ?? .null
    case .sqrt: return x < 0 ? .null : .double(x.squareRoot())
    case .exp: return .double(Foundation.exp(x))
    case .ln: return x > 0 ? .double(Foundation.log(x)) : .null
    case .log10: return x > 0 ? .double(Foundation.log10(x)) : .null
    default: return .null
    }
  }

  /// Returns `nil` for functions whose result is a double.
  private static func decimal(
    _ function: Function, _ x: DecimalValue, _ operands: [DocumentValue]
  ) -> DocumentValue? {
    switch function {
    case .abs: return .decimal(DecimalArithmetic.magnitude(x))
    case .sign: return .int(Int64(x.sign))
    case .round:
      guard operands.count == 2 else { return .decimal(DecimalArithmetic.round(x, places: 0)) }
      guard let places = operands[1].int else { return .null }
      return .decimal(
        DecimalArithmetic.round(
          x, places: Swift.min(Swift.max(places, 0), DecimalValue.maximumDigits)))
    case .ceil: return .decimal(DecimalArithmetic.ceiling(x))
    case .floor: return .decimal(DecimalArithmetic.floor(x))
    default: return nil
    }
  }

  private static func text(_ function: Function, _ operands: [DocumentValue]) -> DocumentValue {
    switch function {
    case .concat: return .string(operands.compactMap { text($0) }.joined())
    case .char:
      var scalars = String.UnicodeScalarView()
      for operand in operands {
        let scalar = operand.int.flatMap { UInt32(exactly: $0) }.flatMap(Unicode.Scalar.init)
        scalars.append(scalar ?? "\u{FFFD}")
      }
      return .string(String(scalars))
    case .length:
      if case .data(let data) = operands[0] { return .int(Int64(data.count)) }
      return text(operands[0]).map { .int(Int64($0.unicodeScalars.count)) } ?? .null
    case .hex:
      let bytes = operands[0].data.map(Array.init) ?? text(operands[0]).map { Array($0.utf8) }
      return bytes.map { .string($0.map(hexByte).joined()) } ?? .null
    default: break
    }
    guard let string = text(operands[0]) else { return .null }
    switch function {
    case .instr:
      return text(operands[1]).map { .int(Int64(position(of: $0, in: string))) } ?? .null
    case .lower: return .string(string.lowercased())
    case .upper: return .string(string.uppercased())
    default: break
    }
    let scalars = Array(string.unicodeScalars)
    switch function {
    case .unicode: return scalars.first.map { .int(Int64($0.value)) } ?? .null
    case .trim, .ltrim, .rtrim:
      guard let set = operands.count == 2 ? text(operands[1]) : " " else { return .null }
      return .string(trimmed(scalars, Set(set.unicodeScalars), function))
    case .substr: return substring(scalars, operands)
    default: return .null
    }
  }

  private static func hexByte(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return byte < 16 ? "0" + digits : digits
  }

  private static func trimmed(
    _ scalars: [Unicode.Scalar], _ set: Set<Unicode.Scalar>, _ function: Function
  ) -> String {
    var slice = scalars[...]
    if function != .rtrim { slice = slice.drop { set.contains($0) } }
    if function != .ltrim { while let last = slice.last, set.contains(last) { slice.removeLast() } }
    return string(slice)
  }

  private static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  /// Positions start at 1, count from the end if negative, and a negative length extends backward, as
  /// in SQLite's `substr`.
  private static func substring(
    _ scalars: [Unicode.Scalar], _ operands: [DocumentValue]
  ) -> DocumentValue {
    guard let from = operands[1].int64 else { return .null }
    let count = Int64(scalars.count)
    var start = from > 0 ? from - 1 : from < 0 ? from + count : -1
    var end = Int64.max
    if operands.count == 3 {
      guard let length = operands[2].int64 else { return .null }
      let (sum, overflow) = start.addingReportingOverflow(length)
      end = overflow ? (length < 0 ? .min : .max) : sum
      if length < 0 { swap(&start, &end) }
    }
    let low = Int(Swift.min(Swift.max(start, 0), count))
    let high = Int(Swift.min(Swift.max(end, 0), count))
    return .string(low < high ? string(scalars[low..<high]) : "")
  }

  /// Returns the position in code points, starting at 1; 0 if absent. In UTF-8, a byte match is a text
  /// match.
  private static func position(of part: String, in whole: String) -> Int {
    if part.isEmpty { return 1 }
    let (whole, part) = (Array(whole.utf8), Array(part.utf8))
    return whole.withUnsafeBytes { whole in
      guard let offset = ByteSearch.offset(of: part, in: whole) else { return 0 }
      // Counts code points: all bytes except continuation bytes.
      return whole[..<offset].count { $0 & 0xC0 != 0x80 } + 1
    }
  }

  private static func replacing(
    _ operands: [DocumentValue], _ budget: EvaluationBudget
  ) throws(StoreError) -> DocumentValue {
    guard let whole = text(operands[0]), let old = text(operands[1]), let new = text(operands[2])
    else { return .null }
    if old.isEmpty { return .string(whole) }
    let pieces = (whole: Array(whole.utf8), old: Array(old.utf8), new: Array(new.utf8))
    var out: [UInt8] = []
    var at = 0
    var isTooLong = false
    pieces.whole.withUnsafeBytes { bytes in
      while !isTooLong {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[at...])
        let found = ByteSearch.offset(of: pieces.old, in: rest)
        out.append(contentsOf: rest[..<(found ?? rest.count)])
        guard let found else { return }
        out.append(contentsOf: pieces.new)
        at += found + pieces.old.count
        isTooLong = out.count > budget.remainingTextBytes
      }
    }
    try budget.spend(textBytes: out.count)
    return .string(String(decoding: out, as: UTF8.self))
  }
}
