// SPDX-License-Identifier: MIT

extension DecimalValue {
  /// The number of decimal places of attoseconds, the unit of `Duration`.
  fileprivate static let places = 18

  /// Creates the number of seconds in a duration, exactly. Above 10^16 seconds, it can have too many digits to be storable.
  package init(secondsOf duration: Duration) {
    let attoseconds = duration.attoseconds
    self.init(
      isNegative: attoseconds < 0, coefficient: attoseconds.magnitude, exponent: -Self.places)
  }
}

extension Duration {
  /// Creates a duration from seconds, rounded to attoseconds, half to even; nil for NaN and if it is out of range.
  init?(seconds: DecimalValue) {
    guard !seconds.isNaN else { return nil }
    let shift = seconds.exponent + DecimalValue.places
    var magnitude = seconds.coefficient
    if magnitude == 0 {
      self = .zero
      return
    }
    if shift >= 0 {
      guard shift < DecimalValue.powers.count else { return nil }
      let (product, overflow) = magnitude.multipliedReportingOverflow(
        by: DecimalValue.powers[shift])
      guard !overflow else { return nil }
      magnitude = product
    } else if -shift < DecimalValue.powers.count {
      let unit = DecimalValue.powers[-shift]
      let (quotient, rest) = magnitude.quotientAndRemainder(dividingBy: unit)
      let isRoundedUp = rest > unit / 2 || rest == unit / 2 && !quotient.isMultiple(of: 2)
      magnitude = quotient + (isRoundedUp ? 1 : 0)
    } else {
      magnitude = 0
    }
    guard let attoseconds = Int128(exactly: magnitude) else { return nil }
    self.init(attoseconds: seconds.isNegative ? -attoseconds : attoseconds)
  }
}
