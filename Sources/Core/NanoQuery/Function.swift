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
  /// The year of a date.
  case year
  /// The month of a date.
  case month
  /// The day of the month of a date.
  case day
  /// The hour of a date.
  case hour
  /// The minute of a date.
  case minute
  /// The second of a date, with its fraction.
  case second
  /// The quarter of a date, 1 to 4.
  case quarter
  /// The week of a date by ISO 8601.
  case week
  /// The year that the week of a date belongs to by ISO 8601.
  case isoYear = "iso_year"
  /// The day of the week of a date by ISO 8601, from 1 for Monday to 7 for Sunday.
  case weekday
  /// The day of the year of a date, from 1.
  case dayOfYear = "day_of_year"
  /// The start of the unit, such as a month, that contains a date.
  case dateTrunc = "date_trunc"
  /// The date that is a number of units later.
  case dateAdd = "date_add"
  /// The number of starts of a unit between two dates.
  case dateDiff = "date_diff"
  /// The text of a date in a format, such as `%Y-%m`.
  case dateFormat = "date_format"
  /// The date of an ISO 8601 text, or of seconds since 1970.
  case toDate = "to_date"
  /// The lower bound of the interval that contains a value, given the bounds of the intervals.
  case bucket
  /// The array of the arguments.
  case array
  /// The element of an array at an index, counted from 0, or from the end if it is negative.
  case elementAt = "element_at"
  /// The elements of an array from an index on, at most as many as specified.
  case arraySlice = "array_slice"
  /// The elements of several arrays, one after the other.
  case arrayConcat = "array_concat"
  /// The distinct elements of an array, in order.
  case arrayDistinct = "array_distinct"
  /// The elements of an array in sort order.
  case arraySort = "array_sort"
  /// The elements of an array in reverse order.
  case arrayReverse = "array_reverse"
  /// The union of several arrays: each distinct element once.
  case arrayUnion = "array_union"
  /// The distinct elements that are in all of the arrays.
  case arrayIntersection = "array_intersection"
  /// The distinct elements of the first array that are in none of the others.
  case arrayDifference = "array_difference"

  /// The upper bound of ``arity`` of a function that takes any number of arguments. Arbitrary.
  private static var most: Int { 100 }

  /// The allowed number of arguments in query text.
  package var arity: ClosedRange<Int> {
    switch self {
    case .pi: 0...0
    case .abs, .sign, .ceil, .floor, .sqrt, .exp, .ln, .log10, .length, .lower, .upper, .hex,
      .unicode, .typeof, .arrayLength, .toDate, .arrayDistinct, .arraySort, .arrayReverse:
      1...1
    case .round, .trim, .ltrim, .rtrim, .year, .quarter, .month, .week, .isoYear, .day,
      .dayOfYear, .weekday, .hour, .minute, .second:
      1...2
    case .mod, .pow, .instr, .ifnull, .nullif, .elementAt: 2...2
    case .substr, .dateTrunc, .dateFormat, .arraySlice: 2...3
    case .replace, .iif: 3...3
    case .dateAdd, .dateDiff: 3...4
    case .min, .max, .coalesce, .arrayConcat, .arrayUnion, .arrayIntersection, .arrayDifference:
      2...Self.most
    case .bucket: 3...Self.most
    case .array: 0...Self.most
    case .concat, .char: 1...Self.most
    }
  }

  /// Returns whether the function can be called with a number of arguments. A call that is not text may have more of them
  /// than ``arity`` allows, or a single one, if the function takes any number and is defined for it.
  func takes(_ count: Int) -> Bool {
    switch self {
    case .min, .max, .coalesce, .arrayConcat, .arrayUnion, .arrayDifference: count >= 1
    case .array, .concat, .char: true
    default:
      arity.contains(count) || count > Self.most && arity.upperBound == Self.most
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
    case "array_intersect": self = .arrayIntersection
    case let lower:
      guard let function = Function(rawValue: lower) else { return nil }
      self = function
    }
  }
}
