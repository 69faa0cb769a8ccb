// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoSQL

/// A user-supplied statement. `?` and `:name` parameters are replaced by `$1` and so on, unless the statement
/// uses `$1` itself.
struct UserStatement {
  private let text: String
  private let values: [PostgresValue]
  /// The statement's identifiers and keywords, in lower case unless quoted.
  let words: [String]

  init(_ text: String, _ arguments: SQLArguments) throws {
    let scan = Scan(text)
    guard !scan.hasMore else {
      throw StoreError(
        .invalidArgument, "The text contains more than one statement",
        [.hint: "run them one at a time in a write block"])
    }
    var values: [PostgresValue] = []
    var rendered = ""
    let named = arguments.named.byExactName
    var unused = Set(named.keys)
    words = scan.words
    let usesNumbers = scan.pieces.contains { if case .number = $0 { true } else { false } }
    for piece in scan.pieces {
      switch piece {
      case .text(let part), .number(let part): rendered += part
      case .mark where usesNumbers || arguments.positional.isEmpty: rendered += "?"
      case .mark:
        guard values.count < arguments.positional.count else {
          throw StoreError(
            .invalidArgument, "A statement has more parameters than arguments",
            [.actual: "\(arguments.positional.count)"])
        }
        values.append(try Self.value(arguments.positional[values.count]))
        rendered += "$\(values.count)"
      case .name(let name):
        guard let value = named[ExactName(name)] else {
          throw StoreError(
            .invalidArgument, "A parameter of the statement has no argument",
            [.expected: ":" + name])
        }
        unused.remove(ExactName(name))
        values.append(try Self.value(value))
        rendered += "$\(values.count)"
      }
    }
    if usesNumbers { values = try arguments.positional.map(Self.value) }
    guard unused.isEmpty, usesNumbers || values.count >= arguments.positional.count else {
      throw StoreError(.invalidArgument, "An argument has no matching parameter in the statement")
    }
    self.text = rendered
    self.values = values
  }

  /// Returns the number of positional arguments of a statement.
  static func parameters(in text: String) -> Int {
    var marks = 0
    var highest = 0
    for piece in Scan(text).pieces {
      switch piece {
      case .mark: marks += 1
      case .number(let number): highest = max(highest, Int(number.dropFirst()) ?? 0)
      default: break
      }
    }
    return highest > 0 ? highest : marks
  }

  var sent: PostgresStatement {
    PostgresStatement(text, values, isPrepared: false, returnsText: true)
  }

  var explained: PostgresStatement {
    PostgresStatement(
      "EXPLAIN (FORMAT JSON, VERBOSE) " + text, values, isPrepared: false, returnsText: true)
  }

  /// Whether the server can plan the statement, so that the tables it writes to are known beforehand.
  var canBeExplained: Bool {
    ["insert", "update", "delete", "merge", "with", "values", "table"].contains(words.first ?? "")
  }

  private static func value(_ value: DocumentValue) throws -> PostgresValue {
    switch value {
    case .null: return .null
    case .bool(let flag): return .bool(flag)
    case .int(let number): return .int(number)
    case .double(let number): return .untyped("\(number)")
    case .string(let text):
      guard !text.utf8.contains(0) else {
        throw StoreError(.valueNotStorable, "A string on the server cannot contain a NUL")
      }
      return .untyped(text)
    case .data(let data): return .bytes(Array(data))
    case .decimal(let number) where number.isStorable: return .number(number.description)
    case .decimal, .date, .url, .array, .object:
      var writer = JSONWriter()
      writer.value(value)
      if let failure = writer.failure { throw failure }
      return .untyped(writer.text)
    }
  }
}

extension UserStatement {
  /// A statement split at its parameters.
  fileprivate struct Scan {
    enum Piece {
      case text(String)
      /// `?`
      case mark
      /// `:name`
      case name(String)
      /// `$1`
      case number(String)
    }
    var pieces: [Piece] = []
    var words: [String] = []
    /// Whether another statement follows after a semicolon.
    var hasMore = false

    init(_ text: String) {
      var rest = text.unicodeScalars[...]
      var plain = String.UnicodeScalarView()
      func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
      }
      while let first = rest.first {
        if let quoted = Self.quoted(rest) {
          plain.append(contentsOf: quoted)
          if first == "\"" { words.append(String(quoted.dropFirst().dropLast())) }
          rest = rest.dropFirst(quoted.count)
          continue
        }
        if isWord(first) {
          let word = rest.prefix(while: isWord)
          words.append(String(word).lowercased())
          plain.append(contentsOf: word)
          rest = rest.dropFirst(word.count)
          continue
        }
        rest = rest.dropFirst()
        if first == ";", !SQLText(String(rest)).isEmpty { hasMore = true }
        let name = rest.prefix(while: isWord)
        let piece: Piece?
        switch first {
        case "?": piece = .mark
        case ":" where rest.first == ":":
          plain.append(contentsOf: "::".unicodeScalars)
          rest = rest.dropFirst()
          continue
        case ":" where !name.isEmpty: piece = .name(String(name))
        case "$" where !name.isEmpty && name.allSatisfy({ ("0"..."9").contains($0) }):
          piece = .number("$" + String(name))
        default: piece = nil
        }
        guard let piece else {
          plain.append(first)
          continue
        }
        if first != "?" { rest = rest.dropFirst(name.count) }
        pieces += [.text(String(plain)), piece]
        plain = String.UnicodeScalarView()
      }
      pieces.append(.text(String(plain)))
    }

    /// Returns the quoted string, quoted name or comment at the start of a text.
    private static func quoted(
      _ text: Substring.UnicodeScalarView
    ) -> Substring.UnicodeScalarView? {
      guard let first = text.first else { return nil }
      let second = text.dropFirst().first
      func upTo(_ end: String, from start: Int) -> Substring.UnicodeScalarView {
        let rest = String(text)
        let from = rest.unicodeScalars.index(rest.startIndex, offsetBy: start)
        guard let found = rest.range(of: end, options: .literal, range: from..<rest.endIndex) else {
          return text
        }
        let count = rest.unicodeScalars.distance(from: rest.startIndex, to: found.upperBound)
        return text.prefix(count)
      }
      switch first {
      case "'", "\"": return upTo(String(first), from: 1)
      case "-" where second == "-": return upTo("\n", from: 2)
      case "/" where second == "*": return upTo("*/", from: 2)
      case "$":
        let tag = text.dropFirst().prefix { $0 == "_" || $0.properties.isAlphabetic }
        guard text.dropFirst(tag.count + 1).first == "$" else { return nil }
        return upTo("$" + String(tag) + "$", from: tag.count + 2)
      default: return nil
      }
    }
  }
}

extension PostgresResult {
  /// Returns a value in text format, converted according to the type of its column.
  func textValue(_ row: Int, _ column: Int) throws -> DocumentValue {
    guard !isNull(row, column) else { return .null }
    let text = text(row, column)
    switch typeID(column) {
    case 16: return .bool(text == "t")
    case 20, 21, 23, 26: return Int64(text).map { .int($0) } ?? .string(text)
    case 700, 701: return .double(Double(text) ?? .nan)
    case 1700:
      if let integer = Int64(text) { return .int(integer) }
      return Double(text).map { .double($0) } ?? .string(text)
    case 17: return .data(Self.data(text))
    default: return .string(text)
    }
  }

  /// Decodes `\x` and hexadecimal digits.
  private static func data(_ text: String) -> Data {
    var data = Data()
    var digits = text.utf8.dropFirst(2)
    while digits.count >= 2 {
      let pair = String(decoding: digits.prefix(2), as: UTF8.self)
      data.append(UInt8(pair, radix: 16) ?? 0)
      digits = digits.dropFirst(2)
    }
    return data
  }
}
