// SPDX-License-Identifier: MIT

extension JSONWriter {
  /// Writes an integer.
  @inlinable
  package mutating func integer(_ value: Int64) {
    reserve(20)  // the sign and 19 digits
    if value < 0 {
      base[used] = ASCII.minus
      used &+= 1
    }
    digits(value.magnitude)
  }

  /// Writes an integer of any type. A value that does not fit in 64 signed bits is
  /// recorded as a failure.
  @inlinable @inline(__always)
  public mutating func integer<Integer: FixedWidthInteger>(_ value: Integer) {
    guard let value = Int64(exactly: value) else { return failBeyondInt64() }
    integer(value)
  }

  @usableFromInline @inline(never)
  mutating func failBeyondInt64() { fail(.integerNotStorable) }

  /// Writes the shortest decimal that reads back as the same double, always with a decimal point or an
  /// exponent. NaN and the infinities are written as `{"$numberDouble":"NaN"}` and so on.
  public mutating func double(_ value: Double) {
    reserve(32)
    let start = used
    let magnitude = value.magnitude
    if magnitude < 1e11 {
      if value.sign == .minus {
        base[used] = ASCII.minus
        used &+= 1
      }
      if shortDecimal(magnitude) { return }
      used = start
    }
    if _slowPath(!value.isFinite) { return notFinite(value) }
    let text = value.description
    let done: Void? = text.utf8.withContiguousStorageIfAvailable {
      raw(UnsafeRawBufferPointer($0))
    }
    if done == nil { raw(Array(text.utf8)) }
  }

  /// Writes a double that has at most 15 digits; returns whether it does.
  ///
  /// If a double is `i / 10^k`, the correctly rounded quotient of two exact doubles, then that decimal
  /// reads back as this double, and no other decimal of 15 digits or fewer does.
  private mutating func shortDecimal(_ magnitude: Double) -> Bool {
    let whole = UInt64(magnitude)
    if Double(whole) == magnitude {
      digits(whole)
      base[used] = ASCII.dot
      base[used &+ 1] = ASCII.zero
      used &+= 2
      return true
    }
    let hundredths = UInt64(magnitude * 100 + 0.5)
    if Double(hundredths) / 100 == magnitude {
      decimal(hundredths, scale: 100, places: 2)
      return true
    }
    let tenThousandths = UInt64(magnitude * 10_000 + 0.5)
    if Double(tenThousandths) / 10_000 == magnitude {
      decimal(tenThousandths, scale: 10_000, places: 4)
      return true
    }
    guard magnitude < 1e9, magnitude >= 1e-3 else { return false }
    let millionths = UInt64(magnitude * 1e6 + 0.5)
    guard Double(millionths) / 1e6 == magnitude else { return false }
    decimal(millionths, scale: 1_000_000, places: 6)
    return true
  }

  private mutating func decimal(_ scaled: UInt64, scale: UInt64, places: Int) {
    var (whole, fraction) = scaled.quotientAndRemainder(dividingBy: scale)
    digits(whole)
    base[used] = ASCII.dot
    used &+= 1
    var places = places
    while fraction % 10 == 0 {
      fraction /= 10
      places &-= 1
    }
    var at = places
    while at > 0 {
      at &-= 1
      (fraction, whole) = fraction.quotientAndRemainder(dividingBy: 10)
      base[used &+ at] = ASCII.zero &+ UInt8(truncatingIfNeeded: whole)
    }
    used &+= places
  }

  @inline(never)
  private mutating func notFinite(_ value: Double) {
    literal(#"{"$numberDouble":"#)
    if value.isNaN {
      literal(#""NaN""#)
    } else {
      value < 0 ? literal(#""-Infinity""#) : literal(#""Infinity""#)
    }
    byte(ASCII.closeBrace)
  }

  private mutating func raw(_ bytes: [UInt8]) { bytes.withUnsafeBytes { raw($0) } }

  /// Writes the digits of a number. The caller has reserved the space.
  @inlinable
  mutating func digits(_ value: UInt64) {
    if value < 10 {
      base[used] = ASCII.zero &+ UInt8(truncatingIfNeeded: value)
      used &+= 1
      return
    }
    var length = 0
    var rest = value
    while rest > 0 {
      length &+= 1
      rest /= 10
    }
    var out = base + (used &+ length)
    used &+= length
    rest = value
    while rest >= 100 {
      let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
      out -= 2
      twoDigits(Int(truncatingIfNeeded: pair), out)
      rest = quotient
    }
    if rest >= 10 {
      twoDigits(Int(truncatingIfNeeded: rest), out - 2)
    } else {
      out[-1] = ASCII.zero &+ UInt8(truncatingIfNeeded: rest)
    }
  }
}

/// Writes a number below 100 as two digits.
@inlinable @inline(__always)
func twoDigits(_ value: Int, _ out: UnsafeMutablePointer<UInt8>) {
  let pairs: StaticString = """
    00010203040506070809101112131415161718192021222324252627282930313233343536373839\
    40414243444546474849505152535455565758596061626364656667686970717273747576777879\
    8081828384858687888990919293949596979899
    """
  out[0] = pairs.utf8Start[value &* 2]
  out[1] = pairs.utf8Start[value &* 2 &+ 1]
}

extension StoreError {
  /// The error for an integer that does not fit in 64 signed bits.
  @usableFromInline static var integerNotStorable: StoreError {
    StoreError(
      .valueNotStorable, "An integer exceeds the range of signed 64-bit integers",
      [.limit: "Int64"])
  }
}
