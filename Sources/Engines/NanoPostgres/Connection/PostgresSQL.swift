// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSQL

/// A fragment of SQL with the values of its parameters inline.
///
/// Values never become part of the text. Parameters are numbered when the entire statement is rendered, so
/// fragments can be combined in any order.
struct PostgresSQL: SQLExpression, ExpressibleByStringInterpolation {
  private enum Part {
    case text(String)
    case value(PostgresValue)
  }
  private var parts: [Part] = []

  init(_ text: String = "") { if !text.isEmpty { parts = [.text(text)] } }
  init(stringLiteral text: String) { self.init(text) }

  static func value(_ value: PostgresValue) -> PostgresSQL {
    var sql = PostgresSQL()
    sql.parts = [.value(value)]
    return sql
  }

  static func + (a: PostgresSQL, b: PostgresSQL) -> PostgresSQL {
    var sql = a
    sql.parts += b.parts
    return sql
  }

  static func += (a: inout PostgresSQL, b: PostgresSQL) { a.parts += b.parts }

  static func joined(_ pieces: [PostgresSQL], by separator: String) -> PostgresSQL {
    var sql = PostgresSQL()
    for (index, piece) in pieces.enumerated() {
      if index > 0 { sql.parts.append(.text(separator)) }
      sql.parts += piece.parts
    }
    return sql
  }

  static func constant(_ truth: Bool) -> PostgresSQL { truth ? "true" : "false" }

  /// The number of its parameters.
  var parameterCount: Int { parts.count { if case .value = $0 { true } else { false } } }

  /// The condition for the rows after the last one of a page. The first page has none, since it may begin with the
  /// smallest row ID.
  static func page(after last: Int64?) -> PostgresSQL {
    guard let last else { return "" }
    return "WHERE id > " + .value(.int(last))
  }

  /// The rendered statement, with `$1`, `$2` and so on, and their values.
  var statement: PostgresStatement {
    var text = ""
    var values: [PostgresValue] = []
    for part in parts {
      switch part {
      case .text(let piece): text += piece
      case .value(let value):
        values.append(value)
        text += "$\(values.count)"
      }
    }
    return PostgresStatement(text, values)
  }
}

/// A statement as sent to the server.
struct PostgresStatement {
  var text: String
  var values: [PostgresValue]
  /// Whether the server keeps the statement prepared; not worthwhile for a statement that runs once.
  var isPrepared = true
  /// Whether values are returned in text format, for a reader that does not have their types.
  var returnsText = false

  init(
    _ text: String, _ values: [PostgresValue] = [], isPrepared: Bool = true,
    returnsText: Bool = false
  ) {
    self.text = text
    self.values = values
    self.isPrepared = isPrepared
    self.returnsText = returnsText
  }

  /// The maximum number of values, which the protocol counts in 16 bits.
  static let maximumValues = 65_535

  static func tooManyValues(_ actual: String) -> StoreError {
    StoreError(
      .invalidArgument, "A statement has more parameters than the server accepts",
      [.limit: "\(maximumValues)", .actual: actual])
  }

  /// The maximum size of the values. A message has less than a gibibyte, including lengths and formats of the values.
  static let maximumSize = (1 << 30) - (1 << 20)

  static func tooLarge(_ size: Int) -> StoreError {
    StoreError(
      .documentTooLarge, "A statement exceeds the maximum size of the server",
      [.limit: "\(maximumSize) bytes", .actual: "\(size) bytes"])
  }

  /// - Throws: ``StoreError/Code/invalidArgument`` if the statement has too many values,
  ///   ``StoreError/Code/documentTooLarge`` if they are too large.
  func requireSendable() throws(StoreError) {
    guard values.count <= Self.maximumValues else { throw Self.tooManyValues("\(values.count)") }
    let size = values.reduce(0) { $0 + $1.size }
    guard size <= Self.maximumSize else { throw Self.tooLarge(size) }
  }

  /// Returns a statement that is sent once, such as a definition.
  static func once(_ text: String, _ values: [PostgresValue] = []) -> PostgresStatement {
    PostgresStatement(text, values, isPrepared: false)
  }
}
