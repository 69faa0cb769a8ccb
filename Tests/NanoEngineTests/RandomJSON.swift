// SPDX-License-Identifier: MIT

import NanoTesting

/// Generates valid JSON that our writer never produces: white space, unnecessary escapes, duplicate names, numbers
/// with many digits.
struct RandomJSON {
  var random: SplitMix

  mutating func text() -> String {
    space() + (random.oneIn(12) ? value(0) : object(random.number(1...3))) + space()
  }

  private mutating func value(_ depth: Int) -> String {
    switch random.number(0...(depth > 0 ? 11 : 7)) {
    case 0: "null"
    case 1: random.pick(["true", "false"])
    case 2...4: number()
    case 8, 9: object(depth - 1)
    case 10: array(depth - 1)
    default: string(random.pick(Self.texts))
    }
  }

  private mutating func object(_ depth: Int) -> String {
    let fields = (0..<random.number(0...4)).map { _ in
      space() + string(random.pick(Self.names)) + space() + ":" + space() + value(depth) + space()
    }
    return "{" + (fields.isEmpty ? space() : fields.joined(separator: ",")) + "}"
  }

  private mutating func array(_ depth: Int) -> String {
    let elements = (0..<random.number(0...3)).map { _ in space() + value(depth) + space() }
    return "[" + (elements.isEmpty ? space() : elements.joined(separator: ",")) + "]"
  }

  private mutating func space() -> String {
    random.oneIn(6) ? random.pick([" ", "\n", "\t ", "\r\n", "  "]) : ""
  }

  private mutating func number() -> String {
    switch random.number(0...5) {
    case 0:
      let digits = (0..<random.number(1...25)).map { _ in "\(random.number(0...9))" }.joined()
      let whole = String(digits.drop { $0 == "0" })
      return random.pick(["", "-"]) + (whole.isEmpty ? "0" : whole)
    case 1:
      let digits = (0..<random.number(1...25)).map { _ in "\(random.number(0...9))" }.joined()
      return random.pick(["", "-"]) + "\(random.number(0...99))." + digits
    case 2:
      return "\(random.number(-99...99))" + random.pick(["e5", "E+3", "e-12", ".5e300", "e22"])
    case 3:
      let number = Double(bitPattern: random.next())
      return number.isFinite ? "\(number)" : "0.0"
    default: return random.pick(Self.numbers)
    }
  }

  /// Escapes some of the characters.
  private mutating func string(_ text: String) -> String {
    var written = "\""
    for scalar in text.unicodeScalars {
      if scalar.value < 0x20 || scalar == "\"" || scalar == "\\" || random.oneIn(12) {
        written += escaped(scalar)
      } else {
        written.unicodeScalars.append(scalar)
      }
    }
    return written + "\""
  }

  private mutating func escaped(_ scalar: Unicode.Scalar) -> String {
    if random.oneIn(2) {
      switch scalar {
      case "\"": return "\\\""
      case "\\": return "\\\\"
      case "/": return "\\/"
      case "\n": return "\\n"
      case "\t": return "\\t"
      default: break
      }
    }
    return String(scalar).utf16.map { unit in
      let digits = String(unit, radix: 16, uppercase: random.oneIn(2))
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }

  private static let names = [
    "a", "a", "b", "b", "", "ab", "a b", "a.b", "é", "e\u{301}", "0", "q\"t", "back\\slash",
    "$date",
    "a[0]", "🙂", "a\u{0}", "\u{1}",
  ]
  private static let texts = [
    "", "a", "text", "it's", "\"", "\\", "/", "\n", "\t", "é", "🙂", "\u{FFFF}", "a\u{0}b", "\u{0}",
    "\u{7F}", "1", "null", "{\"a\":1}", "[1]", "\u{1}",
  ]
  private static let numbers = [
    "0", "-0", "0.0", "-0.0", "1", "-1", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e400", "-1e400",
    "1e-400", "5e-324", "2.2250738585072011e-308", "1.7976931348623157e308", "0.1",
    "0.30000000000000004",
    "9007199254740993", "9007199254740993.0", "100000000000000000000000", "1E2", "1e2", "1.0e+2",
    "123456789012345678", "1234567890123456789", "0.1000000000000000055511151231257827",
  ]

  static let paths = [
    "$", "$.a", "$.b", "$.\"a\"", "$.\"b\"", "$.a.b", "$.\"a\".\"b\"", "$.b.a",
    "$.\"b\".\"a\".\"a\"",
    "$.a.a.b", "$.missing", "$.\"missing\".\"a\"", "$[0]", "$.a[0]", "$.a[#-1]", "$.a[1].b",
    "$.\"a b\"",
    "$.a b", "$.\"a.b\"", "$.a.b.a", "$.\"é\"", "$.é", "$.\"e\u{301}\"", "$.\"0\"", "$.0", "$.\"\"",
    "$.",
    "$..a", "$.a.", "a", "", "$a", "$.\"a", "$.\"a\"b", "$.\"a\"[0]", "$.a\"b", "$.\"q\"t\"",
    "$.\"back\\slash\"", "$.back\\slash", "$.\"back\\\\slash\"", "$.\"$date\"", "$.$date",
    "$.\"a[0]\"",
    "$.\"🙂\"", "$.\\u0061", "$.\"\\u0061\"", "$.ab", "$ .a", "$. a", "$.\"a\u{1}\"", "$.a[",
    "$.a[0", "$[",
    "$.\"a\".", "$.\"a\"..\"b\"", "@.a", ".a", "$.a[99999999999]",
  ]
}
