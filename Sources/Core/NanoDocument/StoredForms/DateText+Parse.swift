// SPDX-License-Identifier: MIT

extension DateText {
  /// Parses exactly the form that ``write(seconds:nanoseconds:to:)`` writes.
  static func parseStored(_ text: UnsafePointer<UInt8>) -> Double? {
    // Eight bytes at a time: XOR with the template leaves 0...9 for a digit and 0 for a separator. The
    // addition sets the high bit of any byte with a larger value.
    let date = load64(text) ^ 0x2D30_302D_3030_3030  // 0000-00-
    let time = load64(text + 8) ^ 0x3030_3A30_3054_3030  // 00T00:00
    let rest = load64(text + 16) ^ 0x3030_3030_2E30_303A  // :00.0000
    let last = load64(text + 22) ^ 0x5A30_3030_3030_3030  // 0000000Z, overlapping by two
    var wrong = date | (date &+ 0x7F76_767F_7676_7676)
    wrong |= time | (time &+ 0x7676_7F76_767F_7676)
    wrong |= rest | (rest &+ 0x7676_7676_7F76_767F)
    wrong |= last | (last &+ 0x7F76_7676_7676_7676)
    guard wrong & 0x8080_8080_8080_8080 == 0 else { return nil }
    func pair(_ digits: UInt64, _ at: UInt64) -> Int {
      Int(truncatingIfNeeded: ((digits &* 10 &+ digits >> 8) >> (8 &* at)) & 0xFF)
    }
    let year = pair(date, 0) &* 100 &+ pair(date, 2)
    let (month, day) = (pair(date, 5), pair(time, 0))
    let (hour, minute, second) = (pair(time, 3), pair(time, 6), pair(rest, 1))
    let nanoseconds =
      pair(rest, 4) &* 10_000_000 &+ pair(rest, 6) &* 100_000 &+ pair(last, 2) &* 1_000
      &+ pair(last, 4) &* 10 &+ Int(truncatingIfNeeded: (last >> 48) & 0xFF)
    guard
      let seconds = seconds(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    return join(seconds: seconds, nanoseconds: nanoseconds)
  }

  /// Parses ISO 8601 text with any number of fractional digits and any offset, as other programs write
  /// it: `2009-04-01T00:00:00.000-0700`, `2009-04-01T00:00Z`.
  ///
  /// Text without an offset is rejected, because it does not denote a specific moment.
  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    if text.count == length, let base = text.baseAddress, let stored = parseStored(base) {
      return stored
    }
    return interval(text).flatMap { storable.contains($0) ? $0 : nil }
  }

  /// Returns whether the text is a date before year 0 or after year 9999, because of extra digits, a
  /// sign, or its offset.
  package static func isOutsideYears(_ text: String) -> Bool {
    var year = text.utf8[...]
    let isNegative = year.first == ASCII.minus
    if isNegative || year.first == ASCII.plus { year.removeFirst() }
    let digits = year.prefix { $0 >= ASCII.zero && $0 <= ASCII.zero + 9 }
    if year.dropFirst(digits.count).first == ASCII.minus,
      digits.count > 4 || isNegative && digits.count == 4
    {
      return true
    }
    let moment = Array(text.utf8).withUnsafeBufferPointer { interval($0) }
    return moment.map { !storable.contains($0) } ?? false
  }

  /// Returns the time interval of a date with an offset, for any four-digit year.
  private static func interval(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    var scanner = Scanner(rest: text[...])
    guard
      let year = scanner.digits(4), scanner.take(ASCII.minus),
      let month = scanner.digits(2), scanner.take(ASCII.minus),
      let day = scanner.digits(2),
      scanner.take(0x54) || scanner.take(0x74) || scanner.take(ASCII.space),
      let hour = scanner.digits(2), scanner.take(ASCII.colon),
      let minute = scanner.digits(2)
    else { return nil }
    var second = 0
    var nanoseconds = 0
    if scanner.take(ASCII.colon) {
      guard let given = scanner.digits(2) else { return nil }
      second = given
      if scanner.take(ASCII.dot) || scanner.take(ASCII.comma) {
        guard let given = scanner.nanoseconds() else { return nil }
        nanoseconds = given
      }
    }
    guard
      let offset = scanner.offset(), scanner.rest.isEmpty,
      let seconds = seconds(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    return join(seconds: seconds - offset, nanoseconds: nanoseconds)
  }

  private static func seconds(
    year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
  ) -> Int? {
    guard
      month >= 1, month <= 12, day >= 1, day <= daysInMonth(month, of: year),
      hour < 24, minute < 60, second < 60
    else { return nil }
    return days(year: year, month: month, day: day) * 86_400
      + hour * 3600 + minute * 60 + second
  }

  private struct Scanner {
    var rest: Slice<UnsafeBufferPointer<UInt8>>

    mutating func take(_ byte: UInt8) -> Bool {
      guard rest.first == byte else { return false }
      rest.removeFirst()
      return true
    }

    mutating func digits(_ count: Int) -> Int? {
      var value = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        value = value * 10 + digit
      }
      return value
    }

    mutating func digit() -> Int? {
      guard let byte = rest.first, case let digit = byte &- ASCII.zero, digit <= 9 else {
        return nil
      }
      rest.removeFirst()
      return Int(digit)
    }

    /// Reads at least one digit. Digits after the ninth are below the stored precision and are dropped.
    mutating func nanoseconds() -> Int? {
      var value = 0
      var count = 0
      while let digit = digit() {
        if count < 9 { value = value * 10 + digit }
        count += 1
      }
      guard count > 0 else { return nil }
      for _ in min(count, 9)..<9 { value *= 10 }
      return value
    }

    /// Reads an offset, `Z`, `+01:00`, `+0100` or `+01`, in seconds east of UTC.
    mutating func offset() -> Int? {
      if take(0x5A) || take(0x7A) { return 0 }
      let sign: Int
      if take(ASCII.plus) { sign = 1 } else if take(ASCII.minus) { sign = -1 } else { return nil }
      guard let hours = digits(2), hours < 24 else { return nil }
      if rest.isEmpty { return sign * hours * 3600 }
      _ = take(ASCII.colon)
      guard let minutes = digits(2), minutes < 60 else { return nil }
      return sign * (hours * 3600 + minutes * 60)
    }
  }
}
