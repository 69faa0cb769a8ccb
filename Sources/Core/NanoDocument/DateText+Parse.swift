// SPDX-License-Identifier: MIT

extension DateText {
  /// Reads the form that ``write(seconds:nanoseconds:to:)`` writes, and only that.
  static func parseStored(_ text: UnsafePointer<UInt8>) -> Double? {
    var wrong: UInt8 = 0
    func digits(_ at: Int, _ count: Int) -> Int {
      var value = 0
      for index in at..<(at &+ count) {
        let digit = text[index] &- ASCII.zero
        if digit > 9 { wrong = 1 }
        value = value &* 10 &+ Int(digit)
      }
      return value
    }
    let (year, month, day) = (digits(0, 4), digits(5, 2), digits(8, 2))
    let (hour, minute, second) = (digits(11, 2), digits(14, 2), digits(17, 2))
    let nanoseconds = digits(20, 9)
    wrong |= text[4] ^ ASCII.minus | text[7] ^ ASCII.minus | text[10] ^ 0x54
    wrong |= text[13] ^ ASCII.colon | text[16] ^ ASCII.colon | text[19] ^ ASCII.dot
    wrong |= text[29] ^ 0x5A
    guard wrong == 0 else { return nil }
    guard
      let seconds = seconds(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    return join(seconds: seconds, nanoseconds: nanoseconds)
  }

  /// Reads ISO 8601 text with any fraction and any offset, as other programs write it:
  /// `2009-04-01T00:00:00.000-0700`, `2009-04-01T00:00Z`.
  ///
  /// Text without an offset is refused, because nobody can know what moment it means.
  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    if text.count == length, let base = text.baseAddress, let stored = parseStored(base) {
      return stored
    }
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
    let interval = join(seconds: seconds - offset, nanoseconds: nanoseconds)
    return storable.contains(interval) ? interval : nil
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

    /// At least one digit; those after the ninth are below what is kept.
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

    /// `Z`, `+01:00`, `+0100` or `+01` in seconds east of UTC.
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
