// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import NanoSQL

/// The SQL by which a field with decimals is sorted, compared and indexed: a number, and a text that distinguishes the
/// decimals next to it. Other values have only the number's expression, which is then what `json_extract` returns.
struct DecimalExpression {
  /// The nearest integer or double.
  let number: String
  /// On which side of the number the value is.
  let side: String

  /// Returns `nil` for a field that cannot be indexed.
  init?(_ path: FieldPath, from column: String = "body") {
    guard let literal = FieldExpression.literal(path) else { return nil }
    func part(_ name: String) -> String {
      "json_extract(\(column),\(literal.dropLast()).\"\(name)\"')"
    }
    number =
      "coalesce(\(part("$near")),CAST(\(part("$numberDecimal")) AS NUMERIC),"
      + "json_extract(\(column),\(literal)))"
    side = "coalesce(\(part("$side")),\(SQLName.literal(DecimalPlace.equal)))"
  }

  /// Returns the entry of an element in an index on elements: the number of a decimal that equals one, otherwise the
  /// decimal's stored form. Other elements are their own entries.
  static func element(_ table: String) -> String {
    func part(_ name: String) -> String { "json_extract(\(table).value,'$.\"\(name)\"')" }
    return "CASE WHEN \(table).type = 'object' THEN CASE WHEN \(part("$side")) IS NULL THEN "
      + "coalesce(\(part("$near")),CAST(\(part("$numberDecimal")) AS NUMERIC),\(table).value) "
      + "ELSE \(table).value END ELSE \(table).value END"
  }
}

extension DecimalPlace {
  /// The parameters for the two expressions of a field; `nil` if the value is not a number.
  static func bindings(_ value: DocumentValue) -> (number: SQLBinding, side: SQLBinding)? {
    switch value {
    case .int(let number): return (.int(number), .text(equal))
    case .double(let number): return number.isFinite ? (.double(number), .text(equal)) : nil
    case .decimal(let number):
      guard number.isStorable else { return nil }
      let place = DecimalPlace(number)
      let side = SQLBinding.text(place.side.isEmpty ? equal : place.side)
      switch place.number {
      case .integer(let integer): return (.int(integer), side)
      case .double(let double): return (.double(double), side)
      }
    default: return nil
    }
  }
}
