// SPDX-License-Identifier: MIT

/// Parses the text of a ``RegularExpression``.
struct RegularExpressionParser {
  typealias Malformed = RegularExpression.Malformed
  typealias Node = RegularExpression.Node

  private struct Flags {
    var ignoresCase = false
    /// Whether a period includes a line feed.
    var isSingleLine = false
    /// Whether anchors are those of lines.
    var isMultiline = false
  }

  private let scalars: [Unicode.Scalar]
  private var at = 0
  private var flags = Flags()
  private var depth = 0

  /// The depth to which groups may be nested. Arbitrary.
  private static let maximumDepth = 100
  /// The number of repetitions that a pattern may ask for. Perl's is 65,535; the length of the program limits it further.
  private static let maximumRepetitions = 1_000

  init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

  private var next: Unicode.Scalar? { at < scalars.count ? scalars[at] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    at += 1
    return true
  }

  private mutating func take(_ text: String) -> Bool {
    guard scalars[at...].starts(with: text.unicodeScalars) else { return false }
    at += text.unicodeScalars.count
    return true
  }

  mutating func pattern() throws(Malformed) -> Node {
    let node = try alternatives()
    guard next == nil else { throw Malformed(reason: "a parenthesis is not opened") }
    return node
  }

  private mutating func alternatives() throws(Malformed) -> Node {
    guard depth < Self.maximumDepth else { throw Malformed(reason: "it is nested too deeply") }
    depth += 1
    defer { depth -= 1 }
    // Flags that are set inside a group end with it.
    let outer = flags
    defer { flags = outer }
    var list = [try sequence()]
    while take("|") { list.append(try sequence()) }
    return list.count == 1 ? list[0] : .alternatives(list)
  }

  private mutating func sequence() throws(Malformed) -> Node {
    var list: [Node] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      at += 1
      guard let node = try atom(scalar) else { continue }
      list.append(try repeated(node))
    }
    return list.count == 1 ? list[0] : .sequence(list)
  }

  /// Parses what a quantifier applies to; nil for flags.
  private mutating func atom(_ scalar: Unicode.Scalar) throws(Malformed) -> Node? {
    switch scalar {
    case "(": return try group()
    case "[": return .scalar(cased(try characterClass()))
    case ".": return .scalar(flags.isSingleLine ? .any : ScalarSet.lineEnd.negated)
    case "^": return .assertion(flags.isMultiline ? .lineStart : .textStart)
    case "$": return .assertion(flags.isMultiline ? .lineEnd : .textEndOrLastLine)
    case "*", "+", "?": throw Malformed(reason: "a quantifier follows nothing")
    case "\\": return try escape()
    default: return .scalar(cased(ScalarSet(scalar.value)))
    }
  }

  private func cased(_ set: ScalarSet) -> ScalarSet { flags.ignoresCase ? set.ignoringCase : set }
}

// Groups.
extension RegularExpressionParser {
  private mutating func group() throws(Malformed) -> Node? {
    var inner = flags
    if take("?") {
      if take("P<") || next == "<" && !isLookbehind {
        // The name of a group has no meaning here.
        guard let end = scalars[at...].firstIndex(of: ">") else {
          throw Malformed(reason: "the name of a group has no end")
        }
        at = end + 1
      } else {
        takeFlags(&inner)
        // They apply to the rest of the surrounding group.
        if take(")") {
          flags = inner
          return nil
        }
        guard take(":") else {
          throw Malformed(reason: "lookaround and atomic groups are not supported")
        }
      }
    }
    let outer = flags
    flags = inner
    let node = try alternatives()
    flags = outer
    guard take(")") else { throw Malformed(reason: "a parenthesis is not closed") }
    return node
  }

  private var isLookbehind: Bool {
    at + 1 < scalars.count && (scalars[at + 1] == "=" || scalars[at + 1] == "!")
  }

  private mutating func takeFlags(_ flags: inout Flags) {
    var isOn = true
    while let scalar = next {
      switch scalar {
      case "i": flags.ignoresCase = isOn
      case "s": flags.isSingleLine = isOn
      case "m": flags.isMultiline = isOn
      case "-": isOn = false
      default: return
      }
      at += 1
    }
  }
}

// Quantifiers.
extension RegularExpressionParser {
  private mutating func repeated(_ node: Node) throws(Malformed) -> Node {
    var node = node
    var isRepeated = false
    while let (least, most) = try quantifier() {
      if isRepeated { throw Malformed(reason: "a quantifier follows another one") }
      isRepeated = true
      node = .repetition(node, least: least, most: most)
      // Whether a repetition takes few or many makes no difference to whether there is a match.
      _ = take("?")
      if next == "+" { throw Malformed(reason: "possessive quantifiers are not supported") }
    }
    return node
  }

  private mutating func quantifier() throws(Malformed) -> (least: Int, most: Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    guard next == "{" else { return nil }
    let start = at
    at += 1
    let least = number()
    let hasComma = take(",")
    let most = number()
    // Braces that are no quantifier are text.
    guard take("}"), let least, hasComma || most == nil else {
      at = start
      return nil
    }
    let limit = hasComma ? most : least
    guard least <= Self.maximumRepetitions, (limit ?? 0) <= Self.maximumRepetitions else {
      throw Malformed(reason: "it is too long, or repeats too much")
    }
    guard limit.map({ $0 >= least }) ?? true else {
      throw Malformed(reason: "the numbers of a quantifier are reversed")
    }
    return (least, limit)
  }

  private mutating func number() -> Int? {
    let start = at
    while let scalar = next, ("0"..."9").contains(scalar) { at += 1 }
    // More digits than any limit.
    return start == at ? nil : at - start > 9 ? .max : Int(text(start..<at))
  }

  private func text(_ range: Range<Int>) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars[range])
    return String(text)
  }
}

// Escapes and classes.
extension RegularExpressionParser {
  private mutating func escape() throws(Malformed) -> Node {
    switch next {
    case "b": return assertion(.wordBoundary)
    case "B": return assertion(.noWordBoundary)
    case "A": return assertion(.textStart)
    case "z": return assertion(.textEnd)
    case "Z": return assertion(.textEndOrLastLine)
    default: return .scalar(cased(try escapedSet()))
    }
  }

  private mutating func assertion(_ assertion: RegularExpression.Assertion) -> Node {
    at += 1
    return .assertion(assertion)
  }

  /// Parses an escape that stands for a set of code points.
  private mutating func escapedSet() throws(Malformed) -> ScalarSet {
    guard let scalar = next else { throw Malformed(reason: "it ends with a backslash") }
    at += 1
    switch scalar {
    case "d": return .digit
    case "D": return ScalarSet.digit.negated
    case "w": return .word
    case "W": return ScalarSet.word.negated
    case "s": return .space
    case "S": return ScalarSet.space.negated
    case "h": return .horizontalSpace
    case "N": return ScalarSet.lineEnd.negated
    case "n": return ScalarSet(0x0A)
    case "r": return ScalarSet(0x0D)
    case "t": return ScalarSet(0x09)
    case "f": return ScalarSet(0x0C)
    case "a": return ScalarSet(0x07)
    case "e": return ScalarSet(0x1B)
    case "0":
      // An octal number.
      if let next, ("0"..."7").contains(next) {
        throw Malformed(reason: "octal escapes are not supported")
      }
      return ScalarSet(0)
    case "x": return ScalarSet(try hexadecimal())
    case "A"..."Z", "a"..."z", "0"..."9":
      throw Malformed(reason: "the escape \\\(scalar) is not supported")
    default: return ScalarSet(scalar.value)
    }
  }

  private mutating func hexadecimal() throws(Malformed) -> UInt32 {
    let isBraced = take("{")
    let start = at
    while let scalar = next, scalar.properties.isASCIIHexDigit, at - start < (isBraced ? 6 : 2) {
      at += 1
    }
    let value = start == at ? 0 : UInt32(text(start..<at), radix: 16)
    guard let value, !isBraced || take("}") else {
      throw Malformed(reason: "a hexadecimal escape is malformed")
    }
    return value
  }

  private mutating func characterClass() throws(Malformed) -> ScalarSet {
    let isNegated = take("^")
    var set = ScalarSet([])
    var isFirst = true
    while true {
      guard let scalar = next else { throw Malformed(reason: "a class is not closed") }
      if scalar == "]", !isFirst {
        at += 1
        return isNegated ? set.negated : set
      }
      isFirst = false
      if try takeNamedClass(into: &set) { continue }
      let lower = try member(&set)
      guard let lower, next == "-", at + 1 < scalars.count, scalars[at + 1] != "]" else {
        if let lower { set.insert(lower...lower) }
        continue
      }
      at += 1
      guard let upper = try member(&set) else {
        // A class is no end of a range: the hyphen is a member.
        set.insert(lower...lower)
        set.insert(0x2D...0x2D)
        continue
      }
      guard lower <= upper else { throw Malformed(reason: "a range is reversed") }
      set.insert(lower...upper)
    }
  }

  /// Parses a single member, which is returned, or an escape for several, which are inserted.
  private mutating func member(_ set: inout ScalarSet) throws(Malformed) -> UInt32? {
    guard let scalar = next else { throw Malformed(reason: "a class is not closed") }
    at += 1
    guard scalar == "\\" else { return scalar.value }
    if take("b") { return 0x08 }
    let escaped = try escapedSet()
    if let single = escaped.single { return single }
    set.formUnion(escaped)
    return nil
  }

  private mutating func takeNamedClass(into set: inout ScalarSet) throws(Malformed) -> Bool {
    guard next == "[", at + 1 < scalars.count, scalars[at + 1] == ":" else { return false }
    let start = at
    at += 2
    let isNegated = take("^")
    let first = at
    while let scalar = next, ("a"..."z").contains(scalar) { at += 1 }
    let name = text(first..<at)
    guard take(":]") else {
      at = start
      return false
    }
    guard let named = ScalarSet.named[name] else {
      throw Malformed(reason: "there is no class of that name")
    }
    set.formUnion(isNegated ? named.negated : named)
    return true
  }
}
