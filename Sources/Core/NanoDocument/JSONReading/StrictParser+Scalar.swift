// SPDX-License-Identifier: MIT

extension StrictParser {
  @inline(__always)
  mutating func skipWhitespace() {
    while cursor < end {
      switch cursor.pointee {
      case 0x20, 0x09, 0x0A, 0x0D: cursor += 1
      default: return
      }
    }
  }

  @inline(__always)
  mutating func take(_ byte: UInt8) -> Bool {
    guard cursor < end, cursor.pointee == byte else { return false }
    cursor += 1
    return true
  }

  mutating func literal(_ text: StaticString) throws(StoreError) {
    for index in 0..<text.utf8CodeUnitCount {
      guard cursor < end else { throw ended("\(text)") }
      guard cursor.pointee == text.utf8Start[index] else {
        throw unexpected("A word is not true, false or null", "\(text)")
      }
      cursor += 1
    }
  }

  mutating func number() throws(StoreError) -> DocumentValue {
    let first = cursor
    let isNegative = take(ASCII.minus)
    let whole = try digits()
    if whole.count > 1, first[isNegative ? 1 : 0] == ASCII.zero {
      throw error(
        "A number has a leading zero", at: first + (isNegative ? 1 : 0), "a digit from 1 to 9")
    }
    var fraction = (value: UInt64(0), count: 0)
    let hasPoint = take(ASCII.dot)
    if hasPoint { fraction = try digits(after: whole.value) }
    let hasExponent = cursor < end && cursor.pointee | 0x20 == ASCII.exponent
    if hasExponent {
      cursor += 1
      if !take(ASCII.plus) { _ = take(ASCII.minus) }
      _ = try digits()
    }
    guard hasPoint || hasExponent else {
      guard whole.count <= 19, let value = Int64(isNegative, whole.value) else {
        throw error("An integer does not fit in 64 bits", at: first, "a point or an exponent")
      }
      return .int(value)
    }
    // The quotient of two exact doubles is the double nearest to the decimal.
    if !hasExponent, whole.count + fraction.count <= 19, fraction.value >> 53 == 0 {
      let value = Double(fraction.value) / powersOfTen[fraction.count]
      return .double(isNegative ? -value : value)
    }
    let value = decimalDouble(UnsafeBufferPointer(start: first, count: cursor - first))
    guard let value, value.isFinite else {
      throw error("A number is out of range for a double", at: first, "a smaller number")
    }
    return .double(value)
  }

  /// Reads at least one digit, appending to `value`. The result is exact up to 19 digits in total.
  @inline(__always)
  private mutating func digits(
    after value: UInt64 = 0
  ) throws(StoreError) -> (value: UInt64, count: Int) {
    let first = cursor
    var value = value
    while cursor < end {
      let digit = cursor.pointee &- ASCII.zero
      if digit > 9 { break }
      value = value &* 10 &+ UInt64(digit)
      cursor += 1
    }
    guard cursor > first else { throw unexpected("A number is missing a digit", "a digit") }
    return (value, cursor - first)
  }

  // MARK: Errors

  @inline(never)
  func error(
    _ message: String, at position: UnsafePointer<UInt8>, _ expected: String
  ) -> StoreError {
    StoreError(.invalidJSON, message, [.byteOffset: "\(position - start)", .expected: expected])
  }

  @inline(never)
  func ended(_ expected: String) -> StoreError {
    error("The text ends unexpectedly", at: end, expected)
  }

  /// Returns the error for the byte at the cursor, with a specific message for common mistakes.
  @inline(never)
  func unexpected(_ message: String, _ expected: String) -> StoreError {
    guard cursor < end else { return ended(expected) }
    switch cursor.pointee {
    case 0x2F: return error("JSON does not allow comments", at: cursor, expected)
    case 0x27: return error("JSON does not allow single quotes", at: cursor, expected)
    default: return error(message, at: cursor, expected)
    }
  }

  @inline(never)
  func tooDeep() -> StoreError {
    StoreError(
      .invalidJSON, "A value is nested too deeply",
      [.byteOffset: "\(cursor - start)", .limit: "\(DocumentValue.maximumDepth) levels"])
  }
}

extension Int64 {
  /// Creates an integer from a sign and a magnitude, or `nil` if it does not fit in 64 bits.
  init?(_ isNegative: Bool, _ magnitude: UInt64) {
    if magnitude <= UInt64(Int64.max) {
      self = isNegative ? -Int64(magnitude) : Int64(magnitude)
    } else if isNegative, magnitude == Int64.min.magnitude {
      self = .min
    } else {
      return nil
    }
  }
}
