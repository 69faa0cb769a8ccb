// SPDX-License-Identifier: MIT

/// A function in query text. docs/QUERY-SEMANTICS.md defines the results.
public enum Function: String, Sendable, Hashable, CaseIterable {
  /// The absolute value.
  case abs
  /// The sign: -1, 0 or 1.
  case sign
  /// The rounded number, optionally to a number of digits.
  case round
  /// The smallest integer not below the number.
  case ceil
  /// The largest integer not above the number.
  case floor
  /// The remainder of a division.
  case mod
  /// A power.
  case pow
  /// The square root; null for a negative number.
  case sqrt
  /// The exponential function.
  case exp
  /// The natural logarithm; null unless the number is positive.
  case ln
  /// The decimal logarithm; null unless the number is positive.
  case log10
  /// The constant pi.
  case pi
  /// The length of a string in code points, or of data in bytes.
  case length
  /// The lowercase string.
  case lower
  /// The uppercase string.
  case upper
  /// The string without spaces, or the specified characters, at both ends.
  case trim
  /// The string without spaces, or the specified characters, at its start.
  case ltrim
  /// The string without spaces, or the specified characters, at its end.
  case rtrim
  /// A substring, by position and optional length.
  case substr
  /// The position of a substring in code points, starting at 1; 0 if absent.
  case instr
  /// The string with all occurrences of a substring replaced.
  case replace
  /// The concatenation of the arguments; null arguments are omitted.
  case concat
  /// The bytes of data or a string in hexadecimal.
  case hex
  /// The code point of the first character.
  case unicode
  /// The string of the specified code points.
  case char
  /// The first argument that is not null.
  case coalesce
  /// The first argument, or the second if the first is null.
  case ifnull
  /// The first argument, or null if both are equal.
  case nullif
  /// The second argument if the first is true, otherwise the third.
  case iif
  /// The smallest argument in sort order; null if any argument is null.
  case min
  /// The largest argument in sort order; null if any argument is null.
  case max
  /// The type name of a value.
  case typeof
  /// The number of elements of an array.
  case arrayLength = "array_length"
  /// The year of a date, in UTC.
  case year
  /// The month of a date, in UTC.
  case month
  /// The day of the month of a date, in UTC.
  case day
  /// The hour of a date, in UTC.
  case hour
  /// The minute of a date, in UTC.
  case minute
  /// The second of a date, in UTC, with its fraction.
  case second

  /// The allowed number of arguments.
  package var arity: ClosedRange<Int> {
    switch self {
    case .pi: 0...0
    case .abs, .sign, .ceil, .floor, .sqrt, .exp, .ln, .log10, .length, .lower, .upper, .hex,
      .unicode, .typeof, .arrayLength, .year, .month, .day, .hour, .minute, .second:
      1...1
    case .round, .trim, .ltrim, .rtrim: 1...2
    case .mod, .pow, .instr, .ifnull, .nullif: 2...2
    case .substr: 2...3
    case .replace, .iif: 3...3
    case .min, .max, .coalesce: 2...100
    case .concat, .char: 1...100
    }
  }

  /// Returns the function with a name, ignoring case, or `nil`. SQLite's synonyms, such as `substring`,
  /// are accepted.
  package init?(name: String) {
    switch name.lowercased() {
    case "substring": self = .substr
    case "ceiling": self = .ceil
    case "power": self = .pow
    case "if": self = .iif
    case "json_array_length": self = .arrayLength
    case let lower:
      guard let function = Function(rawValue: lower) else { return nil }
      self = function
    }
  }
}
