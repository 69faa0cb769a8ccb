// SPDX-License-Identifier: MIT

/// A function that query text can call. What each gives is in docs/QUERY-SEMANTICS.md.
public enum Function: String, Sendable, Hashable, CaseIterable {
  case abs, sign, round, ceil, floor, mod, pow, sqrt, exp, ln, log10, pi
  case length, lower, upper, trim, ltrim, rtrim, substr, instr, replace, concat, hex, unicode, char
  case coalesce, ifnull, nullif, iif, min, max
  case typeof
  case arrayLength = "array_length"
  case year, month, day, hour, minute, second

  /// How many operands it takes.
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

  /// The function of this name, in any case; SQLite's synonyms are known.
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
