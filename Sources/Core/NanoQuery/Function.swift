// SPDX-License-Identifier: MIT

/// A function in query text. docs/QUERY-SEMANTICS.md defines the results.
public enum Function: String, Sendable, Hashable, CaseIterable {
  /// SPLITFN1
  case abs, sign, round, ceil, floor, mod, pow, sqrt, exp, ln, log10, pi
  /// SPLITFN2
  case length, lower, upper, trim, ltrim, rtrim, substr, instr, replace, concat, hex, unicode, char
  /// SPLITFN3
  case coalesce, ifnull, nullif, iif, min, max
  /// The type name of a value.
  case typeof
  /// The number of elements of an array.
  case arrayLength = "array_length"
  /// SPLITFN4
  case year, month, day, hour, minute, second

  /// The allowed number of arguments.
  public var arity: ClosedRange<Int> {
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
  public init?(name: String) {
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
