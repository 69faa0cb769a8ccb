// SPDX-License-Identifier: MIT

/// The directives of `date_format`, a part of those of `strftime`.
enum DateFormat {
  /// The directives, in the order of the documentation.
  static let directives = "YmdHMSLfjGVuFTz%"

  /// Returns whether every directive of a format is known.
  static func isValid(_ format: String) -> Bool {
    var scalars = format.unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      guard scalar == "%" else { continue }
      guard let directive = scalars.next(), directives.unicodeScalars.contains(directive) else {
        return false
      }
    }
    return true
  }

  /// Returns the formatted date, or `nil` for an unknown directive.
  static func text(_ parts: DateParts, _ format: String) -> String? {
    var text = String.UnicodeScalarView()
    var scalars = format.unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      guard scalar == "%" else {
        text.append(scalar)
        continue
      }
      guard let directive = scalars.next(), let part = part(parts, directive) else { return nil }
      text.append(contentsOf: part.unicodeScalars)
    }
    return String(text)
  }

  private static func part(_ parts: DateParts, _ directive: Unicode.Scalar) -> String? {
    switch directive {
    case "Y": padded(parts.year, 4)
    case "m": padded(parts.month, 2)
    case "d": padded(parts.day, 2)
    case "H": padded(parts.hour, 2)
    case "M": padded(parts.minute, 2)
    case "S": padded(parts.wholeSecond, 2)
    case "L": padded(parts.nanoseconds / 1_000_000, 3)
    case "f": padded(parts.nanoseconds, 9)
    case "j": padded(parts.dayOfYear, 3)
    case "G": padded(parts.week.year, 4)
    case "V": padded(parts.week.number, 2)
    case "u": padded(parts.weekday, 1)
    case "F": "\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))"
    case "T": "\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):\(padded(parts.wholeSecond, 2))"
    case "z": offset(parts.offset)
    case "%": "%"
    default: nil
    }
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number.magnitude)
    let zeros = String(repeating: "0", count: max(0, width - digits.count))
    return (number < 0 ? "-" : "") + zeros + digits
  }

  /// Returns an offset such as `+0530`; seconds, which only historical offsets have, are omitted.
  private static func offset(_ seconds: Int) -> String {
    let minutes = Int(seconds.magnitude) / 60
    return (seconds < 0 ? "-" : "+") + padded(minutes / 60, 2) + padded(minutes % 60, 2)
  }
}
