// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// A user-supplied statement. `?` and `:name` parameters are replaced by `$1` and so on, unless the statement
/// uses `$1` itself.
struct UserStatement {
  private let text: String
  private let values: [PostgresValue]
  /// The statement's identifiers and keywords.
  let words: [Word]
  /// Whether a name is written with escapes, so that ``words`` do not contain it.
  let escapesNames: Bool
  /// Whether a `?` is a parameter.
  let replacesMarks: Bool

  init(_ text: String, _ arguments: SQLArguments) throws {
    try self.init(Scan(text), arguments.positional, arguments.named.byExactName)
  }

  /// Creates a statement whose parameters are all null, for its plan.
  ///
  /// - Parameter keepsMarks: Whether a `?` is an operator.
  init(withoutValues text: String, keepsMarks: Bool = false) throws {
    let scan = Scan(text)
    var marks = 0
    var highest: Int?
    var named: [ExactName: DocumentValue] = [:]
    for piece in scan.pieces {
      switch piece {
      case .text: break
      case .mark: if !keepsMarks { marks += 1 }
      case .name(let name): named[ExactName(name)] = .null
      case .number(let digits):
        let number = try Self.number(digits)
        highest = max(highest ?? 0, number)
      }
    }
    try self.init(scan, Array(repeating: .null, count: highest ?? marks), named)
  }

  private init(
    _ scan: Scan, _ positional: [DocumentValue], _ named: [ExactName: DocumentValue]
  ) throws {
    guard !scan.hasMore else {
      throw StoreError(
        .invalidArgument, "The text contains more than one statement",
        [.hint: "run them one at a time in a write block"])
    }
    var values: [PostgresValue] = []
    var rendered = ""
    var used = 0
    var unused = Set(named.keys)
    let usesNumbers = scan.pieces.contains { if case .number = $0 { true } else { false } }
    for piece in scan.pieces {
      switch piece {
      case .text(let part): rendered += part
      case .number(let digits):
        let number = try Self.number(digits)
        rendered += "$\(number)"
      case .mark where usesNumbers || positional.isEmpty: rendered += "?"
      case .mark:
        guard used < positional.count else {
          throw StoreError(
            .invalidArgument, "A statement has more parameters than arguments",
            [.actual: "\(positional.count)"])
        }
        values.append(try Self.value(positional[used]))
        used += 1
        rendered += "$\(values.count)"
      case .name(let name):
        guard !usesNumbers else {
          throw StoreError(
            .invalidArgument, "A statement has both numbered and named parameters",
            [.actual: ":" + name, .hint: "use $1 and so on, or names, for all of them"])
        }
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
    if usesNumbers { values = try positional.map(Self.value) }
    guard unused.isEmpty, usesNumbers || used == positional.count else {
      throw StoreError(.invalidArgument, "An argument has no matching parameter in the statement")
    }
    text = rendered
    self.values = values
    words = scan.words
    escapesNames = scan.escapesNames
    replacesMarks = used > 0
  }

  /// - Throws: ``StoreError/Code/invalidArgument`` if the server does not accept so many parameters.
  private static func number(_ digits: String) throws(StoreError) -> Int {
    guard let number = Int(digits), number <= PostgresStatement.maximumValues else {
      throw PostgresStatement.tooManyValues("$" + digits)
    }
    return number
  }

  var sent: PostgresStatement {
    PostgresStatement(text, values, isPrepared: false, returnsText: true)
  }

  var explained: PostgresStatement {
    PostgresStatement(
      "EXPLAIN (FORMAT JSON, VERBOSE) " + text, values, isPrepared: false, returnsText: true)
  }

  /// The statement that shows the plan. After the option in parentheses, the text cannot continue with ANALYZE, which
  /// would execute it.
  var planned: PostgresStatement { .once("EXPLAIN (FORMAT TEXT) " + text, values) }

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

  /// Decodes a value in either format of `bytea_output`.
  ///
  /// Source: https://www.postgresql.org/docs/current/datatype-binary.html
  private static func data(_ text: String) -> Data {
    guard text.utf8.starts(with: "\\x".utf8) else { return unescaped(text) }
    var data = Data()
    var digits = text.utf8.dropFirst(2)
    while digits.count >= 2 {
      let pair = String(decoding: digits.prefix(2), as: UTF8.self)
      data.append(UInt8(pair, radix: 16) ?? 0)
      digits = digits.dropFirst(2)
    }
    return data
  }

  /// Decodes the escape format: a backslash is doubled, and begins the three octal digits of other bytes.
  private static func unescaped(_ text: String) -> Data {
    var data = Data()
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        data.append(byte)
        continue
      }
      let octal = String(decoding: rest.prefix(3), as: UTF8.self)
      if let value = UInt8(octal, radix: 8), octal.utf8.count == 3 {
        data.append(value)
        rest = rest.dropFirst(3)
      } else if let next = rest.popFirst() {
        data.append(next)
      }
    }
    return data
  }
}
