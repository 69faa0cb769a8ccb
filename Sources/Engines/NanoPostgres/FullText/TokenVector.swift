// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// The tokens of a document, as a value of the server's type `tsvector`: each distinct token with its term frequency in
/// each field, instead of its positions.
struct TokenVector {
  /// The value in the format of `tsvectorrecv`: the number of lexemes; each lexeme as a C string, the number of its
  /// positions, and the positions.
  let bytes: [UInt8]
  /// The number of all tokens, including repetitions.
  let count: Int

  /// The maximum length of a stored token in bytes. The server's limit for a lexeme is 2,046 bytes.
  private static let longest = 2_000
  /// The maximum size of all lexemes and their positions. The server's is 2^20 - 1 bytes, with padding.
  private static let maximumSize = 1_000_000

  /// Returns a token as it is stored: at most ``longest`` bytes of it.
  static func truncated(_ token: String) -> String {
    token.utf8.count > longest ? token.prefix(bytes: longest) : token
  }

  /// Whether only this token is stored in this way. A truncated one may be three bytes shorter than ``longest``.
  static func isWhole(_ token: String) -> Bool { token.utf8.count <= longest - 4 }

  /// Tokenizes the texts of a document.
  ///
  /// - Throws: ``StoreError/Code/documentTooLarge`` if the server cannot store that many distinct tokens.
  init(_ scope: FullTextScope, _ texts: (FieldPath) -> [String]) throws(StoreError) {
    var list = TokenList(fields: scope.fields.count)
    for (field, path) in scope.fields.enumerated() {
      let text = texts(path).joined(separator: FullTextScope.separator)
      for token in scope.tokens.tokens(of: text) { list.add(token.text, field) }
    }
    guard list.size <= Self.maximumSize else {
      throw StoreError(
        .documentTooLarge, "The text of a document has too many distinct words for a text index",
        [.limit: "\(Self.maximumSize) bytes", .actual: "\(list.size) bytes"])
    }
    bytes = list.counted(Self.maximumSize) ?? list.uncounted
    count = list.count
  }

  /// The distinct tokens as they are stored.
  var lexemes: Set<[UInt8]> { bytes.withUnsafeBytes { Self.lexemes($0) } }

  /// Returns the lexemes of a value of the server's type, in the format of `tsvectorsend`: that of ``bytes``.
  static func lexemes(_ vector: UnsafeRawBufferPointer) -> Set<[UInt8]> {
    var lexemes: Set<[UInt8]> = []
    var rest = vector.dropFirst(4)
    while let end = rest.firstIndex(of: 0), rest.endIndex - end >= 3 {
      lexemes.insert(Array(rest[rest.startIndex..<end]))
      let positions = Int(rest[end + 1]) << 8 | Int(rest[end + 2])
      rest = rest[(end + 1)...].dropFirst(2 + 2 * positions)
    }
    return lexemes
  }
}

/// The distinct tokens of a document, with the number of their occurrences in each field.
private struct TokenList {
  private let fields: Int
  private(set) var count = 0
  private var numbers: [[UInt8]: Int] = [:]
  private var lexemes: [[UInt8]] = []
  private var occurrences: [Int] = []

  init(fields: Int) { self.fields = fields }

  mutating func add(_ token: String, _ field: Int) {
    count += 1
    // A lexeme cannot contain NUL, and no query looks up a token that does.
    guard !token.utf8.contains(0) else { return }
    let lexeme = Array(TokenVector.truncated(token).utf8)
    let number = numbers[lexeme] ?? lexemes.count
    if number == lexemes.count {
      numbers[lexeme] = number
      lexemes.append(lexeme)
      occurrences.append(contentsOf: repeatElement(0, count: fields))
    }
    occurrences[number * fields + field] += 1
  }

  /// The size of all lexemes.
  var size: Int { lexemes.reduce(0) { $0 + $1.count } }

  /// Returns the vector with the numbers of occurrences; `nil` if the server cannot store them.
  func counted(_ maximumSize: Int) -> [UInt8]? {
    guard let code = OccurrenceCode(fields: fields) else { return nil }
    var out: [UInt8] = []
    PostgresValue.append(Int32(lexemes.count), to: &out)
    var size = 0
    for (number, lexeme) in lexemes.enumerated() {
      let counts = occurrences[(number * fields)..<((number + 1) * fields)]
      let used = counts.reduce(0) { $0 + ($1 > 0 ? 1 : 0) }
      append(lexeme, positions: used, to: &out)
      for (field, count) in counts.enumerated() where count > 0 {
        guard let position = code.position(field, count) else { return nil }
        PostgresValue.append(position, to: &out)
      }
      // The server aligns the positions and their number to two bytes.
      size += lexeme.count + 1 + 2 + 2 * used
    }
    return size <= maximumSize ? out : nil
  }

  /// The vector without numbers of occurrences.
  var uncounted: [UInt8] {
    var out: [UInt8] = []
    PostgresValue.append(Int32(lexemes.count), to: &out)
    for lexeme in lexemes { append(lexeme, positions: 0, to: &out) }
    return out
  }

  private func append(_ lexeme: [UInt8], positions: Int, to out: inout [UInt8]) {
    out.append(contentsOf: lexeme)
    out.append(0)
    PostgresValue.append(UInt16(positions), to: &out)
  }
}

/// How a position of a `tsvector` expresses the number of a token's occurrences in a field.
///
/// Positions are numbers from 1 to 16,383, at most 255 for each lexeme. Each field has an equal part of them.
struct OccurrenceCode {
  private let span: Int

  private static let positions = 16_383
  /// Arbitrary: more than an index has, and fewer than a lexeme can have positions.
  private static let maximumFields = 64

  /// Returns `nil` if there are too many fields.
  init?(fields: Int) {
    guard fields <= Self.maximumFields else { return nil }
    span = Self.positions / fields
  }

  /// Returns `nil` if the number is too large.
  func position(_ field: Int, _ count: Int) -> UInt16? {
    count <= span ? UInt16(field * span + count) : nil
  }

  @inline(__always)
  func occurrences(_ position: Int) -> (field: Int, count: Int) {
    ((position - 1) / span, (position - 1) % span + 1)
  }
}
