// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

extension PostgresConditionCompiler {
  /// Translates a list of values, of any length, to a fixed number of comparisons.
  func membership(_ path: FieldPath, _ list: [QueryExpression]) -> Translation? {
    guard let single = metadata.single(path) else { return nil }
    var numbers: [String] = []
    var texts: [String] = []
    // Values that are compared by two columns: by number and text, or by text and tail.
    var pairs: [(value: DocumentValue, key: ComparisonKey)] = []
    var longTexts: [(value: DocumentValue, key: ComparisonKey)] = []
    for element in list {
      guard case .value(let value) = element else { return nil }
      // Null is not in any list.
      if value.isNull { continue }
      guard let compared = ComparisonKey(value) else { return nil }
      switch compared.kind {
      case .ordered(.number) where !single.types.contains(.decimal):
        numbers.append(compared.number)
      case .ordered(.text) where compared.mayBePrefix: longTexts.append((value, compared))
      case .ordered(.text), .ordered(.date), .equality: texts.append(compared.text)
      default: pairs.append((value, compared))
      }
    }
    let place = single.place
    var others: [PostgresSQL] = []
    for (values, isLong) in [(pairs, false), (longTexts, true)] where !values.isEmpty {
      if values.count <= Self.fewPairs {
        for (value, _) in values {
          guard let equality = field(path, .equal, value), equality.isExact else { return nil }
          others.append(equality.sql)
        }
      } else if isLong {
        others.append(
          "\(place.number) = 'Infinity' AND "
            + Self.isAny(
              place.text, place.tail, values.map { $0.key.text }, values.map { $0.key.tail }, "text"
            ))
      } else {
        others.append(
          Self.isAny(
            place.number, place.text, values.map { $0.key.number }, values.map { $0.key.text },
            "numeric"))
      }
    }
    if !numbers.isEmpty {
      others.append(
        "\(place.number) = ANY(" + .value(.texts(numbers.map { $0 })) + "::numeric[])")
    }
    if !texts.isEmpty {
      others.append(
        "\(place.number) = 'Infinity' AND \(place.text) = ANY("
          + .value(.texts(texts.map { $0 })) + ")")
    }
    return Translation(sql: PostgresSQL.any(others) ?? "false", isExact: true)
  }

  /// Up to so many pairs are compared one by one, which the server estimates better. Arbitrary.
  private static let fewPairs = 4

  /// Compares two columns with pairs of values. The first part finds them in an index.
  private static func isAny(
    _ first: String, _ second: String, _ firsts: [String], _ seconds: [String], _ type: String
  ) -> PostgresSQL {
    let values = PostgresSQL.value(.texts(firsts.map { $0 })) + "::\(type)[]"
    var sql = PostgresSQL("\(first) = ANY(") + values
    sql += PostgresSQL(") AND (\(first), \(second)) IN (SELECT * FROM unnest(") + values
    sql += ", " + .value(.texts(seconds.map { $0 })) + "))"
    return sql
  }

  /// Merges the equalities of one expression in a disjunction to a list, which the server compares as a whole.
  func merged(_ condition: Condition) -> Condition {
    switch condition {
    case .all(let parts): return .all(parts.map { merged($0) })
    case .not(let part): return .not(merged(part))
    case .any:
      var lists: [(operand: QueryExpression, values: [QueryExpression])] = []
      var positions: [QueryExpression: Int] = [:]
      var others: [Condition] = []
      for part in condition.alternatives {
        guard let (operand, values) = equalities(part) else {
          others.append(merged(part))
          continue
        }
        if let position = positions[operand] {
          lists[position].values += values
        } else {
          positions[operand] = lists.count
          lists.append((operand, values))
        }
      }
      let memberships = lists.map { operand, values in
        values.count == 1
          ? Condition.comparison(operand, .equal, values[0]) : .membership(operand, values)
      }
      let parts = memberships + others
      return parts.count == 1 ? parts[0] : .any(parts)
    default: return condition
    }
  }

  /// Returns an equality or a list, if the translation of the list is that of its equalities.
  private func equalities(
    _ condition: Condition
  ) -> (operand: QueryExpression, values: [QueryExpression])? {
    let operand: QueryExpression
    let values: [QueryExpression]
    switch condition {
    case .comparison(.value(let value), .equal, let other):
      (operand, values) = (other, [.value(value)])
    case .comparison(let other, .equal, .value(let value)):
      (operand, values) = (other, [.value(value)])
    case .membership(let other, let list): (operand, values) = (other, list)
    default: return nil
    }
    switch operand {
    case .field(let path):
      // An element index finds single values only.
      guard metadata.single(path) != nil else { return nil }
      let areComparable = values.allSatisfy { element in
        guard case .value(let value) = element else { return false }
        return ComparisonKey(value) != nil
      }
      return areComparable ? (operand, values) : nil
    case .attribute(let attribute) where [.key, .rowID, .type].contains(attribute):
      return attributes(attribute, values) == nil ? nil : (operand, values)
    default: return nil
    }
  }
}
