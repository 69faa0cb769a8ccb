// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension UserStatement {
  /// A statement split at its parameters.
  ///
  /// Strings, comments and names end where they end for the server (`scan.l` in its sources).
  struct Scan {
    enum Piece {
      case text(String)
      /// `?`
      case mark
      /// `:name`
      case name(String)
      /// The digits of `$1`.
      case number(String)
    }
    private(set) var pieces: [Piece] = []
    private(set) var words: [Word] = []
    /// Whether another statement follows after a semicolon.
    private(set) var hasMore = false
    /// Whether a name is written with Unicode escapes: `U&"\0061"`.
    private(set) var escapesNames = false

    init(_ text: String) {
      var rest = text.unicodeScalars[...]
      var plain = String.UnicodeScalarView()
      // The word directly before the rest, which may belong to a string.
      var prefix: Word?
      while let first = rest.first {
        let before = prefix
        prefix = nil
        if let quoted = Self.quoted(rest, hasEscapes: before?.isKeyword("e") == true) {
          plain.append(contentsOf: quoted)
          if first == "\"" { words.append(Word(quoted: quoted)) }
          rest = rest[quoted.endIndex...]
          if first == "'", before != nil, let gap = Self.continuation(rest) {
            plain.append(contentsOf: gap)
            rest = rest[gap.endIndex...]
            prefix = before
          }
          continue
        }
        if Self.isLetter(first) || Self.isDigit(first) {
          let letters = rest.prefix { Self.isLetter($0) || Self.isDigit($0) || $0 == "$" }
          plain.append(contentsOf: letters)
          rest = rest[letters.endIndex...]
          if Self.isLetter(first) {
            let word = Word(letters)
            words.append(word)
            prefix = word
          }
          continue
        }
        rest = rest.dropFirst()
        if first == "&", rest.first == "\"", before?.isKeyword("u") == true { escapesNames = true }
        if first == ";", !SQLText(String(rest), .postgres).isEmpty { hasMore = true }
        if first == ":", rest.first == ":" {
          plain.append(contentsOf: "::".unicodeScalars)
          rest = rest.dropFirst()
          continue
        }
        guard let piece = Self.parameter(first, &rest) else {
          plain.append(first)
          continue
        }
        pieces += [.text(String(plain)), piece]
        plain = String.UnicodeScalarView()
      }
      pieces.append(.text(String(plain)))
    }

    /// Reads the parameter that begins with a character, given what follows it.
    private static func parameter(
      _ first: Unicode.Scalar, _ rest: inout Substring.UnicodeScalarView
    ) -> Piece? {
      let digits = rest.prefix(while: isDigit)
      switch first {
      case "?": return .mark
      // Before digits, a colon belongs to a slice of an array.
      case ":" where digits.isEmpty:
        let name = rest.prefix { isLetter($0) || isDigit($0) }
        guard !name.isEmpty else { return nil }
        rest = rest[name.endIndex...]
        return .name(String(name))
      case "$" where !digits.isEmpty:
        rest = rest[digits.endIndex...]
        return .number(String(digits))
      default: return nil
      }
    }

    /// Whether a name can begin with a character. To the server, every character beyond ASCII is a letter.
    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
      scalar == "_" || scalar.value >= 0x80 || (0x41...0x5A).contains(scalar.value & 0xDF)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
      (0x30...0x39).contains(scalar.value)
    }

    /// Returns the quoted string, quoted name or comment at the start of a text.
    ///
    /// - Parameter hasEscapes: Whether a string has escapes with backslashes.
    private static func quoted(
      _ text: Substring.UnicodeScalarView, hasEscapes: Bool
    ) -> Substring.UnicodeScalarView? {
      guard let first = text.first else { return nil }
      let second = text.dropFirst().first
      switch first {
      case "'": return string(text, hasEscapes: hasEscapes)
      case "\"": return string(text, hasEscapes: false)
      case "-" where second == "-":
        return text.prefix { $0 != "\n" && $0 != "\r" }
      case "/" where second == "*":
        return text[..<SQLText.afterComment(Substring(text).utf8, .postgres).startIndex]
      case "$": return dollarQuoted(text)
      default: return nil
      }
    }

    /// Returns the text up to the closing quote, which is doubled within a string.
    private static func string(
      _ text: Substring.UnicodeScalarView, hasEscapes: Bool
    ) -> Substring.UnicodeScalarView {
      var rest = text.dropFirst()
      while let scalar = rest.popFirst() {
        if hasEscapes, scalar == "\\" {
          rest = rest.dropFirst()
        } else if scalar == text.first {
          guard rest.first == scalar else { return text[..<rest.startIndex] }
          rest = rest.dropFirst()
        }
      }
      return text
    }

    /// Returns the whitespace before a string that continues another one: with a line break, as the standard requires.
    private static func continuation(
      _ text: Substring.UnicodeScalarView
    ) -> Substring.UnicodeScalarView? {
      let gap = text.prefix { " \t\n\r\u{B}\u{C}".unicodeScalars.contains($0) }
      guard gap.contains(where: { $0 == "\n" || $0 == "\r" }) else { return nil }
      return text[gap.endIndex...].first == "'" ? gap : nil
    }

    /// Returns a string between two `$tag$`; `nil` if the text does not begin with one.
    private static func dollarQuoted(
      _ text: Substring.UnicodeScalarView
    ) -> Substring.UnicodeScalarView? {
      let tag = text.dropFirst().prefix { isLetter($0) || isDigit($0) }
      let after = text[tag.endIndex...]
      guard after.first == "$", tag.first.map(isDigit) != true else { return nil }
      var rest = after.dropFirst()
      let mark = text[..<rest.startIndex]
      while !rest.isEmpty, !rest.starts(with: mark) { rest = rest.dropFirst() }
      return text[..<rest.dropFirst(mark.count).startIndex]
    }
  }

  /// An identifier or keyword, as the server reads it.
  struct Word {
    let text: String
    let isQuoted: Bool

    /// The server folds only ASCII letters, and truncates long names.
    init(_ letters: Substring.UnicodeScalarView) {
      text = String(letters).foldingASCII.prefix(bytes: PostgresConfiguration.longestName)
      isQuoted = false
    }

    /// - Parameter quoted: The name in quotes, with quotes inside doubled.
    init(quoted: Substring.UnicodeScalarView) {
      var name = String.UnicodeScalarView()
      var rest = quoted.dropFirst().dropLast()
      while let scalar = rest.popFirst() {
        name.append(scalar)
        if scalar == "\"" { rest = rest.dropFirst() }
      }
      text = String(name).prefix(bytes: PostgresConfiguration.longestName)
      isQuoted = true
    }

    /// - Parameter keyword: In lowercase.
    func isKeyword(_ keyword: String) -> Bool { !isQuoted && text.hasSameBytes(as: keyword) }
  }
}
