// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryText {
  /// Replaces each word that is an alias with the alias's text, so that queries can use a model's
  /// property names.
  ///
  /// Matches whole words, case-sensitively. Replacements are not expanded again. Strings in single
  /// quotes, fields in brackets, parameter names (`:name`) and comments are not changed. A word directly
  /// after digits is replaced too, as is an SQL keyword that is an alias.
  ///
  /// ```swift
  /// QueryText.replacingAliases(["last": "[user.last_name]"], in: "last = 'last'")
  /// // [user.last_name] = 'last'
  /// ```
  package static func replacingAliases(_ aliases: [String: String], in text: String) -> String {
    var scanner = AliasScanner(source: QuerySource(text), aliases: aliases)
    return scanner.replaced()
  }
}

/// Scans text that may not parse. An unclosed string, field or comment at its end is copied.
private struct AliasScanner {
  let source: QuerySource
  let aliases: [ExactName: String]
  private var index = 0
  private var result = ""
  /// The end of the input that has been written to `result`.
  private var copied = 0

  init(source: QuerySource, aliases: [String: String]) {
    self.source = source
    self.aliases = aliases.byExactName
  }

  mutating func replaced() -> String {
    while !source.isEnd(index) {
      switch source.byte(index) {
      case UInt8(ascii: "'"): skip(to: UInt8(ascii: "'"))
      case UInt8(ascii: "["): skipField()
      case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"):
        index += 1
        skipWord()
      case UInt8(ascii: "-"), UInt8(ascii: "/"): index = source.commentEnd(index)?.end ?? index + 1
      case let byte where byte.isWordStart: takeWord()
      default: index += 1
      }
    }
    return result + source.text(copied..<index)
  }

  private mutating func takeWord() {
    let start = index
    skipWord()
    guard let replacement = aliases[ExactName(source.text(start..<index))] else { return }
    result += source.text(copied..<start) + replacement
    copied = index
  }

  private mutating func skipWord() {
    while source.byte(index).isWordByte { index += 1 }
  }

  /// A doubled quote ends one string and starts another, which gives the same result.
  private mutating func skip(to end: UInt8) {
    index += 1
    while !source.isEnd(index), source.byte(index) != end { index += 1 }
    if !source.isEnd(index) { index += 1 }
  }

  /// Skips a field, as the lexer does: a `]` in a quoted name does not close it.
  private mutating func skipField() {
    var isAtName = true
    index += 1
    while !source.isEnd(index), source.byte(index) != UInt8(ascii: "]") {
      if isAtName, source.byte(index) == UInt8(ascii: "\"") {
        skipQuotedName()
        isAtName = false
      } else {
        isAtName = source.byte(index) == UInt8(ascii: ".")
        index += 1
      }
    }
    if !source.isEnd(index) { index += 1 }
  }

  private mutating func skipQuotedName() {
    repeat { skip(to: UInt8(ascii: "\"")) } while source.byte(index) == UInt8(ascii: "\"")
  }
}
