// SPDX-License-Identifier: MIT

extension JSONReader {
  /// Reads a 64-bit integer. `12.0` is accepted.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, or ``StoreError/Code/typeMismatch`` if the number
  ///   has a fraction or does not fit in 64 bits.
  @inlinable
  package mutating func integer() throws(StoreError) -> Int64 {
    skipWhitespace()
    let first = cursor
    var at = cursor
    let isNegative = at < end && at.pointee == ASCII.minus
    if isNegative { at += 1 }
    let digits = at
    var magnitude: UInt64 = 0
    while at < end {
      let digit = at.pointee &- ASCII.zero
      if digit > 9 { break }
      magnitude = magnitude &* 10 &+ UInt64(digit)
      at += 1
    }
    let isWhole = at == end || endsScalar(at.pointee)
    // 18 digits always fit. 19 digits do not overflow the magnitude, but may not fit in Int64.
    if _fastPath(isWhole && at > digits && at - digits <= 18) {
      cursor = at
      let value = Int64(truncatingIfNeeded: magnitude)
      return isNegative ? -value : value
    }
    return try slowInteger(from: first)
  }

  /// Reads an integer of the specified type.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, or ``StoreError/Code/typeMismatch`` if the number
  ///   does not fit.
  @inlinable @inline(__always)
  public mutating func integer<Integer: FixedWidthInteger>(
    as type: Integer.Type = Integer.self
  ) throws(StoreError) -> Integer {
    let before = self
    let value: Int64 = try integer()
    guard let fitting = Integer(exactly: value) else {
      throw before.mismatch("an integer in the range of its type")
    }
    return fitting
  }

  @usableFromInline @inline(never)
  mutating func slowInteger(from first: UnsafePointer<UInt8>) throws(StoreError) -> Int64 {
    cursor = first
    let before = self
    guard let number = try number() else { throw before.mismatch("an integer") }
    switch number {
    case .integer(let value): return value
    case .double(let value):
      // Beyond 2^53, the double may differ from the decimal in the text.
      guard value.magnitude <= 0x1p53, let exact = Int64(exactly: value) else {
        throw before.mismatch("a 64-bit integer")
      }
      return exact
    }
  }

  /// Reads a number as a double. Integers are accepted.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  public mutating func double() throws(StoreError) -> Double {
    skipWhitespace()
    switch try number() {
    case .integer(let value): return Double(value)
    case .double(let value): return value
    case nil:
      let before = self
      guard next == ASCII.openBrace, case .double(let value) = try value() else {
        throw before.mismatch("a number")
      }
      return value
    }
  }

  enum Number {
    case integer(Int64)
    case double(Double)
  }

  /// Reads a number: an integer if it is written as one and fits in 64 bits. Returns `nil` if the next
  /// value is not a number.
  @inline(__always)
  mutating func number() throws(StoreError) -> Number? {
    let first = cursor
    var at = cursor
    let isNegative = at < end && at.pointee == ASCII.minus
    if isNegative { at += 1 }
    var digits = 0
    var places = 0
    var mantissa: UInt64 = 0
    while at < end {
      let digit = at.pointee &- ASCII.zero
      if digit > 9 { break }
      mantissa = mantissa &* 10 &+ UInt64(digit)
      digits &+= 1
      at += 1
    }
    if _slowPath(digits == 0) {
      if isNegative { throw corrupt("a number") }
      return nil
    }
    if at < end, at.pointee == ASCII.dot {
      at += 1
      let point = at
      while at < end {
        let digit = at.pointee &- ASCII.zero
        if digit > 9 { break }
        mantissa = mantissa &* 10 &+ UInt64(digit)
        at += 1
      }
      places = at - point
      if _slowPath(places == 0) { throw corrupt("digits after the decimal point") }
    } else if at == end || endsScalar(at.pointee), digits <= 19 {
      // 19 digits do not overflow the magnitude, but may not fit in Int64.
      if mantissa <= UInt64(Int64.max) {
        cursor = at
        let value = Int64(truncatingIfNeeded: mantissa)
        return .integer(isNegative ? -value : value)
      }
      if isNegative, mantissa == Int64.min.magnitude {
        cursor = at
        return .integer(.min)
      }
    }
    // The quotient of two exact doubles is the double nearest to the decimal.
    if _fastPath(
      digits &+ places <= 19 && mantissa >> 53 == 0 && places <= 22
        && (at == end || endsScalar(at.pointee)))
    {
      cursor = at
      let value = Double(mantissa) / powersOfTen[places]
      return .double(isNegative ? -value : value)
    }
    return .double(try slowDouble(from: first))
  }

  /// Parses any decimal, correctly rounded.
  @inline(never)
  private mutating func slowDouble(from first: UnsafePointer<UInt8>) throws(StoreError) -> Double {
    cursor = first
    while cursor < end, !endsScalar(cursor.pointee) { cursor += 1 }
    let text = UnsafeBufferPointer(start: first, count: cursor - first)
    guard let value = decimalDouble(text), value.isFinite else {
      cursor = first
      throw corrupt("a number")
    }
    return value
  }
}

/// The powers of ten that a double represents exactly.
let powersOfTen: [Double] = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
  1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]

/// Returns the double nearest to a JSON decimal: infinity if it overflows, `nil` if the text is not a
/// JSON number. Not `strtod`, which depends on the locale.
func decimalDouble(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
  // `Double.init` also accepts `0x1p3`, `nan` and `infinity`, which are not JSON.
  for byte in text {
    switch byte {
    case 0x30...0x39, ASCII.minus, ASCII.plus, ASCII.dot, 0x45, 0x65: continue
    default: return nil
    }
  }
  guard let first = text.first, first != ASCII.plus, first != ASCII.dot else { return nil }
  return Double(String(decoding: text, as: UTF8.self))
}
