// SPDX-License-Identifier: MIT

/// A word, a quoted name or text, or any other character.
package enum SQLToken: Equatable {
  case word(String)
  case quoted(String)
  case symbol(Character)
}

/// The tokens of a statement, as far as definitions need them.
package struct SQLTokens {
  private var rest: Substring.UnicodeScalarView

  package init(_ sql: String) { rest = Substring(sql).unicodeScalars }

  package mutating func next() -> SQLToken? {
    skipBlanks()
    guard let first = rest.first else { return nil }
    switch first {
    case "\"", "'", "`": return .quoted(quoted(first))
    case "[": return .quoted(bracketed())
    case _ where Self.isWord(first):
      let word = rest.prefix(while: Self.isWord)
      rest = rest[word.endIndex...]
      return .word(String(word))
    default:
      rest.removeFirst()
      return .symbol(Character(first))
    }
  }

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$", "\u{80}"...: true
    default: false
    }
  }

  private mutating func skipBlanks() {
    while let first = rest.first {
      if first == " " || first == "\n" || first == "\r" || first == "\t" || first == "\u{C}"
        || first == "\u{FEFF}"
      {
        rest.removeFirst()
      } else if first == "-", rest.dropFirst().first == "-" {
        rest = rest.drop { $0 != "\n" }
      } else if first == "/", rest.dropFirst().first == "*" {
        rest = rest.dropFirst(2)
        while let scalar = rest.popFirst(), scalar != "*" || rest.first != "/" {}
        _ = rest.popFirst()
      } else {
        return
      }
    }
  }

  /// A quote inside is doubled.
  private mutating func quoted(_ quote: Unicode.Scalar) -> String {
    rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      if scalar == quote {
        guard rest.first == quote else { break }
        rest.removeFirst()
      }
      text.append(scalar)
    }
    return String(text)
  }

  private mutating func bracketed() -> String {
    rest.removeFirst()
    let name = rest.prefix { $0 != "]" }
    rest = rest[name.endIndex...].dropFirst()
    return String(name)
  }
}
