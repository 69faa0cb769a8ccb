// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryText {
  /// Puts the text of an alias in the place of each word that is one, so that queries can use a
  /// model's names.
  ///
  /// Whole words only, in exactly this case, once: what an alias brings in is not looked at again.
  /// Text in single quotes and in brackets stays as it is, and so does the name of a parameter
  /// (`:name`). A word directly behind digits counts as one. A word of SQL is replaced like any
  /// other, if it is an alias.
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

/// Walks a text that need not parse: what is open at its end is copied.
private struct AliasScanner {
  let source: QuerySource
  let aliases: [ExactName: String]
  private var index = 0
  private var result = ""
  /// What has been passed over and is copied as it is.
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

  /// A doubled quote ends one stretch and begins the next: the outcome is the same.
  private mutating func skip(to end: UInt8) {
    index += 1
    while !source.isEnd(index), source.byte(index) != end { index += 1 }
    if !source.isEnd(index) { index += 1 }
  }

  /// As the lexer does: a `]` in a quoted name does not close.
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
