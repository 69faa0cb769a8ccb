// SPDX-License-Identifier: MIT

import Foundation
import NanoQuery

/// How often single tokens occur in a document, read from what the server returns of its tokens.
struct OccurrenceCounts {
  private let tokens: [[UInt8]]
  private let fields: Int
  private let code: OccurrenceCode
  private var counts: [Int]

  /// - Parameter phrases: The phrases to count.
  /// - Returns: `nil` if they are not single whole tokens, or if an index has too many fields.
  init?(_ phrases: [FullTextPhrase], _ scope: FullTextScope) {
    guard let code = OccurrenceCode(fields: scope.fields.count) else { return nil }
    var tokens: [[UInt8]] = []
    for phrase in phrases {
      let words = scope.tokens.tokens(of: phrase.text)
      guard words.count == 1, !phrase.isPrefix, TokenVector.isWhole(words[0].text) else {
        return nil
      }
      tokens.append(Array(words[0].text.utf8))
    }
    self.tokens = tokens
    self.code = code
    fields = scope.fields.count
    counts = Array(repeating: 0, count: tokens.count * fields)
  }

  /// The expression for the tokens of a document that the phrases name, with their occurrences.
  ///
  /// The server has no function that selects lexemes, but one that marks them, and one that selects marked ones. Both
  /// are faster than a subquery.
  func expression(_ index: PostgresTextIndex) -> PostgresSQL {
    "ts_filter(setweight(\(index.column), 'A', " + .value(.texts(distinctTokens))
      + "), '{a}')"
  }

  private var distinctTokens: [String] {
    Set(tokens).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Reads the value of the expression.
  ///
  /// - Returns: False if it has no lexeme: the document was stored without numbers of occurrences.
  mutating func read(_ vector: UnsafeRawBufferPointer) -> Bool {
    for number in counts.indices { counts[number] = 0 }
    var rest = vector.dropFirst(4)
    while let end = rest.firstIndex(of: 0) {
      let lexeme = UnsafeRawBufferPointer(rebasing: rest[rest.startIndex..<end])
      rest = rest[(end + 1)...]
      let positions = Self.number(&rest)
      for _ in 0..<positions {
        // The two highest bits are the mark.
        let (field, count) = code.occurrences(Self.number(&rest) & 0x3FFF)
        guard field < fields else { continue }
        for (number, token) in tokens.enumerated() where lexeme.elementsEqual(token) {
          counts[number * fields + field] = count
        }
      }
    }
    return vector.count > 4
  }

  private static func number(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int {
    guard rest.count >= 2 else { return 0 }
    let start = rest.startIndex
    defer { rest = rest[(start + 2)...] }
    return Int(rest[start]) << 8 | Int(rest[start + 1])
  }

  @inline(__always)
  func count(_ phrase: Int, _ field: Int) -> Int { counts[phrase * fields + field] }
}
