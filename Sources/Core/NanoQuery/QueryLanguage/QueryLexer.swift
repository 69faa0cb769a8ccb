// SPDX-License-Identifier: MIT

import NanoDocument

/// Splits query text into tokens by SQLite's rules, in one pass over its bytes.
struct QueryLexer {
  let source: QuerySource
  var index = 0
  /// The largest parameter position so far. The next `?` is numbered after it.
  var largestPosition = 0

  /// Returns the tokens of a query. The last token is the end or a failure.
  static func tokens(of source: QuerySource) -> [QueryToken] {
    var lexer = QueryLexer(source: source)
    var tokens: [QueryToken] = []
    while true {
      let token = lexer.next()
      tokens.append(token)
      switch token.kind {
      case .end, .failure: return tokens
      default: continue
      }
    }
  }

  private mutating func next() -> QueryToken {
    do throws(StoreError) {
      try skipBlanks()
      let start = index
      let kind = try takeKind()
      return QueryToken(kind: kind, range: start..<index)
    } catch {
      return QueryToken(kind: .failure(error), range: index..<index)
    }
  }

  private mutating func takeKind() throws(StoreError) -> QueryToken.Kind {
    if source.isEnd(index) { return .end }
    let first = source.byte(index)
    switch first {
    case UInt8(ascii: "["): return try takeField()
    case UInt8(ascii: "'"): return .text(try takeText())
    case UInt8(ascii: "?"): return try takePosition()
    case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"): return try takeName()
    case UInt8(ascii: "\""), UInt8(ascii: "`"): throw quotedIdentifier(first)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return try takeNumber()
    case UInt8(ascii: ".") where source.byte(index + 1).isDigit: return try takeNumber()
    case UInt8(ascii: "x"), UInt8(ascii: "X"):
      if source.byte(index + 1) == UInt8(ascii: "'") { return try takeBlob() }
      return takeWord()
    case _ where first.isWordStart: return takeWord()
    default: return .symbol(try takeSymbol())
    }
  }

  private mutating func takeWord() -> QueryToken.Kind {
    let start = index
    while source.byte(index).isWordByte { index += 1 }
    // ASCII only: `lowercased()` maps the Kelvin sign to `k`, which could form a keyword.
    let word = String(
      decoding: source.bytes[start..<index].map(\.asciiLowercased), as: UTF8.self)
    return QueryToken.Keyword(rawValue: word).map { .keyword($0) } ?? .word(word)
  }

  mutating func takeWordText() -> String {
    let start = index
    while source.byte(index).isWordByte { index += 1 }
    return source.text(start..<index)
  }

  private mutating func takeSymbol() throws(StoreError) -> QueryToken.Symbol {
    for length in [3, 2, 1] where index + length <= source.bytes.count {
      let text = source.text(index..<index + length)
      guard let symbol = QueryToken.Symbol(rawValue: text) else { continue }
      index += length
      return symbol
    }
    let isBang = source.byte(index) == UInt8(ascii: "!")
    throw source.error(
      "The query text has an unexpected character", at: index..<index + 1,
      expected: "a field, a literal, an operator or a parameter",
      hint: isBang ? "write NOT, or != between two values" : nil)
  }

  private func quotedIdentifier(_ quote: UInt8) -> StoreError {
    var end = index + 1
    while !source.isEnd(end), source.byte(end) != quote { end += 1 }
    return source.error(
      "Double quotes and backquotes do not delimit a field",
      at: index..<min(end + 1, source.bytes.count), expected: "a field in square brackets",
      hint: "write [name] for a field, 'text' for a string")
  }

  /// Skips whitespace and comments.
  private mutating func skipBlanks() throws(StoreError) {
    while true {
      switch source.byte(index) {
      case 0x20, 0x09, 0x0A, 0x0C, 0x0D: index += 1
      case UInt8(ascii: "-"), UInt8(ascii: "/"):
        guard let comment = source.commentEnd(index) else { return }
        guard comment.isClosed else {
          throw source.error("A comment is not closed", at: index..<index + 2, expected: "*/")
        }
        index = comment.end
      default: return
      }
    }
  }
}
