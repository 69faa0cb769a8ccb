// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Translates conditions to PostgreSQL's SQL.
///
/// The rest of a condition is evaluated in the client on each document that the SQL selects, with the semantics of the
/// reference evaluator.
struct PostgresConditionCompiler: ConditionTranslator {
  let metadata: PostgresCollectionMetadata
  var defaults: FieldDefaults? { metadata.collection.defaults }
  var checksEverything: Bool { false }

  struct Split {
    var sql: PostgresSQL?
    var rest: Condition?
  }

  /// A condition in SQL. Its result is never NULL.
  struct Translation: ConditionTranslation {
    var sql: PostgresSQL
    var isExact: Bool
  }

  /// Half of the values that a statement can have, which leaves room for the rest of the statement. Arbitrary number of
  /// comparisons, because the server inlines the functions of each: 50 ranges of dates that no index has take 15 µs per
  /// document, 200 that an index has 250 ms, and 10,000 more memory than servers have.
  var limits: TranslationLimits? {
    TranslationLimits(parameters: PostgresStatement.maximumValues / 2, comparisons: 200)
  }

  /// The server computes a comparison that no index has for each document.
  func weight(_ condition: Condition) -> Int {
    condition.fields.allSatisfy(metadata.isIndexed) ? 1 : 4
  }

  func split(_ condition: Condition) -> Split {
    let (translations, rest) = translateConjuncts(condition)
    return Split(sql: PostgresSQL.all(translations.map(\.sql)), rest: rest)
  }

  func translateSimple(_ condition: Condition) -> Translation? {
    switch condition {
    case .not(let part):
      // The negation of a superset is not a superset.
      guard let inner = translate(part), inner.isExact else { return nil }
      return Translation(sql: "NOT (" + inner.sql + ")", isExact: true)
    case .comparison(.field(let path), let comparison, .value(let value)):
      return field(path, comparison, value)
    case .between(.field(let path), .value(let low), .value(let high)):
      guard let from = field(path, .greaterOrEqual, low), from.isExact,
        let to = field(path, .lessOrEqual, high), to.isExact
      else { return nil }
      return Translation(sql: "(" + from.sql + ") AND (" + to.sql + ")", isExact: true)
    case .membership(.field(let path), let list): return membership(path, list)
    case .text(.field(let path), let match, .value(.string(let pattern))):
      return text(path, match, pattern)
    case .isNull(.field(let path)):
      guard let single = metadata.single(path) else { return nil }
      return Translation(
        sql: "\(single.place.number) = '-Infinity' AND \(single.place.text) = ''", isExact: true)
    case .exists(let path):
      guard let single = metadata.single(path) else { return nil }
      return Translation(sql: "\(single.place.value) IS NOT NULL", isExact: true)
    case .comparison(.attribute(let attribute), let comparison, .value(let value)):
      return self.attribute(attribute, comparison, value)
    case .membership(.attribute(let attribute), let list): return attributes(attribute, list)
    case .isNull(.attribute(let attribute)) where attribute != .rowID:
      return attribute.column.map { Translation(sql: "\($0) IS NULL", isExact: true) }
    case .search(let search): return searched(search)
    case .related(let related): return self.related(related)
    default: return nil
    }
  }
}

extension PostgresConditionCompiler {
  func field(
    _ path: FieldPath, _ comparison: Comparison, _ value: DocumentValue
  ) -> Translation? {
    guard let single = metadata.single(path) else { return entered(path, comparison, value) }
    guard let operation = comparison.sql, let compared = ComparisonKey(value) else { return nil }
    let place = single.place
    switch compared.kind {
    case .ordered(.decimal): return decimal(place, comparison, operation, compared)
    case .ordered(.number) where single.types.contains(.decimal):
      return decimal(place, comparison, operation, compared)
    case .ordered(.number):
      let limits: String
      switch comparison {
      case .equal: limits = ""
      case .less, .lessOrEqual: limits = " AND \(place.number) > '-Infinity'"
      case .greater, .greaterOrEqual: limits = " AND \(place.number) < 'Infinity'"
      case .notEqual:
        limits = " AND \(place.number) > '-Infinity' AND \(place.number) < 'Infinity'"
      }
      let test =
        "\(place.number) \(operation) " + .value(.number(compared.number)) + "\(limits)"
      return Translation(sql: test, isExact: true)
    case .ordered:
      guard !compared.mayBePrefix else { return long(place, comparison, compared) }
      return Translation(sql: ranged(place, comparison, operation, compared), isExact: true)
    case .equality:
      guard comparison == .equal else { return nil }
      return Translation(sql: ranged(place, comparison, operation, compared), isExact: true)
    }
  }

  /// Compares numbers of which some are decimals, by the number and the text.
  private func decimal(
    _ place: PostgresFieldExpression, _ comparison: Comparison, _ operation: String,
    _ value: ComparisonKey
  ) -> Translation {
    let number = PostgresSQL.value(.number(value.number))
    let text = PostgresSQL.value(.text(value.text))
    let low = " AND \(place.number) > '-Infinity'"
    let high = " AND \(place.number) < 'Infinity'"
    let pair: PostgresSQL =
      "(\(place.number), \(place.text)) \(operation) (" + number + ", " + text + ")"
    let sql: PostgresSQL
    switch comparison {
    case .equal: sql = "\(place.number) = " + number + " AND \(place.text) = " + text
    case .less, .lessOrEqual: sql = pair + "\(low)"
    case .greater, .greaterOrEqual: sql = pair + "\(high)"
    case .notEqual: sql = pair + "\(low)\(high)"
    }
    return Translation(sql: sql, isExact: true)
  }

  /// Compares texts that begin with the letter of their type. Values of other types are neither less nor greater.
  private func ranged(
    _ place: PostgresFieldExpression, _ comparison: Comparison, _ operation: String,
    _ value: ComparisonKey
  ) -> PostgresSQL {
    // A scalar, not a character: a combining mark after the letter would be part of the character.
    let letter = value.text.unicodeScalars.first ?? "t"
    let next = Unicode.Scalar(letter.value + 1) ?? letter
    let low = " AND \(place.text) >= '\(letter)'"
    let high = " AND \(place.text) < '\(next)'"
    let limits: String
    switch comparison {
    case .equal: limits = ""
    case .less, .lessOrEqual: limits = low
    case .greater, .greaterOrEqual: limits = high
    case .notEqual: limits = low + high
    }
    return "\(place.number) = '\(value.number)' AND \(place.text) \(operation) "
      + .value(.text(value.text)) + "\(limits)"
  }

  /// Compares a text that is at least as long as the prefix in an index.
  private func long(
    _ place: PostgresFieldExpression, _ comparison: Comparison, _ value: ComparisonKey
  ) -> Translation? {
    guard comparison == .equal else { return nil }
    let sql =
      "\(place.number) = 'Infinity' AND \(place.text) = " + .value(.text(value.text))
      + " AND \(place.tail) = " + .value(.text(value.tail))
    return Translation(sql: sql, isExact: true)
  }

  private func text(_ path: FieldPath, _ match: TextMatch, _ pattern: String) -> Translation? {
    guard let single = metadata.single(path), !pattern.utf8.contains(0) else { return nil }
    let place = single.place
    // Evaluated on each document; `CASE` keeps the server from reading values that are not texts.
    func tested(_ test: PostgresSQL) -> Translation {
      Translation(
        sql: "CASE WHEN \(place.isString) THEN " + test + " ELSE false END", isExact: true)
    }
    switch match {
    case .beginsWith:
      guard pattern.unicodeScalars.count < PostgresSchema.indexedText else { return nil }
      var sql: PostgresSQL =
        "\(place.number) = 'Infinity' AND \(place.text) >= " + .value(.text("t" + pattern))
      let end = TextRange.upperBound(ofPrefix: "t" + pattern) ?? "u"
      sql += " AND \(place.text) < " + .value(.text(end))
      return Translation(sql: sql, isExact: true)
    case .contains:
      return tested("strpos(\(place.string), " + .value(.text(pattern)) + ") > 0")
    case .endsWith:
      let count = pattern.unicodeScalars.count
      guard count > 0 else { return tested("true") }
      return tested("right(\(place.string), \(count)) = " + .value(.text(pattern)))
    default: return nil
    }
  }
}
