// SPDX-License-Identifier: MIT

/// The stored form of decimals: `{"$near":12.3,"$side":"<=","$numberDecimal":"12.3"}`. The fields are in the order of
/// jsonb.
///
/// A database engine sorts and compares by a number and a text. The number is the nearest integer or double, which it
/// reads from the decimal's own text, or from `$near` if the decimal differs from it: for one in 4,300 decimals with 8
/// digits, `CAST` of SQLite 3.40 returns another double on processors with 80-bit floating point, because it rounds
/// twice. The text is `$side`: on which side of the number the decimal is. A decimal that equals the number has none.
package struct DecimalPlace: Sendable, Hashable {
  /// The integer or double nearest to the decimal.
  package enum Number: Sendable, Hashable {
    case integer(Int64)
    case double(Double)
  }
  package let number: Number
  /// Whether the number follows from the decimal's text: they are equal, and the text has few digits.
  package let isImplied: Bool
  /// `<` or `>`, then the order relative to the shortest decimal of the number, then digits that sort like the decimal,
  /// unless it is that decimal. Empty if the decimal equals the number; there, ``equal`` sorts like it.
  package let side: String

  /// The text between the sides.
  package static let equal = "="

  /// All decimals of that many digits have different doubles.
  private static let impliedDigits = 15

  package init(_ value: DecimalValue) {
    if let integer = value.exactInteger {
      self.init(.integer(integer), isImplied: true, side: "")
      return
    }
    let double = value.nearestDouble
    if double.magnitude >= 0x1p53, let found = value.nearestInteger {
      // Doubles are further apart than integers there.
      let letter = Self.letter(found.order)
      self.init(
        .integer(found.integer), isImplied: false, side: letter + letter + value.sortedDigits)
      return
    }
    let order = value.order(ofNearest: double)
    guard order != 0 else {
      let isImplied =
        value.digitCount <= Self.impliedDigits
        && (DecimalText.smallestPlain..<Self.impliedDigits).contains(value.adjustedExponent)
      self.init(.double(double), isImplied: isImplied, side: "")
      return
    }
    let shortest = DecimalText.parse("\(double)", allowsUnstorable: true) ?? .nan
    let finer = DecimalValue.compare(value, shortest)
    self.init(
      .double(double), isImplied: false,
      side: Self.letter(order) + Self.letter(finer) + (finer == 0 ? "" : value.sortedDigits))
  }

  private init(_ number: Number, isImplied: Bool, side: String) {
    self.number = number
    self.isImplied = isImplied
    self.side = side
  }

  private static func letter(_ order: Int) -> String { order < 0 ? "<" : order > 0 ? ">" : equal }
}

extension DecimalValue {
  /// The nearest integer of a number with a fraction, and the order relative to it; `nil` beyond 64 bits.
  fileprivate var nearestInteger: (integer: Int64, order: Int)? {
    guard exponent < 0, -exponent < Self.powers.count else { return nil }
    let unit = Self.powers[-exponent]
    let (whole, rest) = coefficient.quotientAndRemainder(dividingBy: unit)
    guard whole <= UInt128(Int64.max) else { return nil }
    let isUp = rest > unit / 2 || rest == unit / 2 && whole & 1 == 1
    let magnitude = UInt64(whole) + (isUp ? 1 : 0)
    return Int64(isNegative, magnitude).map { ($0, (isUp ? -1 : 1) * sign) }
  }

  /// Text that sorts like the number among numbers of the same sign: the power of ten and the digits, and for negative
  /// numbers their complements.
  package var sortedDigits: String {
    let text = "\(500 + adjustedExponent)" + "\(coefficient)"
    guard isNegative else { return text }
    // A number with more digits is less than one whose digits it begins with.
    return String(decoding: text.utf8.map { 0x39 - $0 + 0x30 } + [0x7E], as: UTF8.self)
  }
}

extension JSONWriter {
  /// Writes a decimal in its stored form. NaN, more than 34 digits, and a number out of range are recorded as a
  /// failure.
  @inline(never)  // reduces stack use for deeply nested arrays
  public mutating func decimal(_ value: DecimalValue) {
    guard value.isStorable else { return fail(.decimalNotStorable(value)) }
    let place = DecimalPlace(value)
    byte(ASCII.openBrace)
    if !place.isImplied {
      literal(#""$near":"#)
      switch place.number {
      case .integer(let number): integer(number)
      case .double(let number): double(number)
      }
      byte(ASCII.comma)
    }
    if !place.side.isEmpty {
      literal(#""$side":""#)
      rawText(place.side)
      literal(#"","#)
    }
    literal(#""$numberDecimal":""#)
    rawText(DecimalText.text(value))
    literal(#""}"#)
  }

  /// Writes a decimal as external JSON: `{"$numberDecimal":"12.3"}`.
  mutating func extendedDecimal(_ value: DecimalValue) {
    guard value.isStorable else { return fail(.decimalNotStorable(value)) }
    literal(#"{"$numberDecimal":""#)
    rawText(DecimalText.text(value))
    literal(#""}"#)
  }

  /// Writes ASCII text that needs no escapes.
  mutating func rawText(_ text: String) {
    var text = text
    text.withUTF8 { raw(UnsafeRawBufferPointer($0)) }
  }
}

extension JSONReader {
  /// Reads `{"$numberDecimal":"12.3"}`, with or without the fields by which engines sort it.
  mutating func storedDecimal() -> DecimalValue? {
    var ahead = self
    guard ahead.match("{") else { return nil }
    if ahead.match(#""$near":"#) {
      _ = ahead.skipNumber()
      guard ahead.match(",") else { return nil }
    }
    if ahead.match(#""$side":""#) {
      guard (try? ahead.finishString()) == false, ahead.match(",") else { return nil }
    }
    guard ahead.match(#""$numberDecimal":""#),
      let value = DecimalText.parse(&ahead.cursor, ahead.end), value.isStorable,
      ahead.match(#""}"#)
    else { return nil }
    self = ahead
    return value
  }
}

extension StoredForm {
  /// Returns the decimal of an object in any spelling; `nil` if it is another object.
  static func decimal(_ object: DocumentObject) -> DecimalValue? {
    let isPlace = object.allSatisfy { name, value in
      switch name {
      case "$numberDecimal": true
      case "$near": value.int64 != nil || value.double != nil
      case "$side": value.string != nil
      default: false
      }
    }
    guard isPlace else { return nil }
    return object["$numberDecimal"]?.string.flatMap { DecimalValue($0) }
  }
}
