// SPDX-License-Identifier: MIT

import NanoSQL

/// A piece of SQL with the values of its parameters where they stand.
///
/// Values never become part of the text. Parameters get their numbers when the whole is rendered, so that
/// pieces can be put together in any order.
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

  /// The text with `$1`, `$2` and so on, and their values.
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

/// A statement as it is sent.
struct PostgresStatement {
  var text: String
  var values: [PostgresValue]
  /// Whether the server keeps it prepared; not worth it for what is asked once.
  var isKept = true
  /// Whether values come back as text, for a reader that does not know their types.
  var givesText = false

  init(
    _ text: String, _ values: [PostgresValue] = [], isKept: Bool = true, givesText: Bool = false
  ) {
    self.text = text
    self.values = values
    self.isKept = isKept
    self.givesText = givesText
  }

  /// A statement that is sent once, such as a definition.
  static func once(_ text: String, _ values: [PostgresValue] = []) -> PostgresStatement {
    PostgresStatement(text, values, isKept: false)
  }
}
