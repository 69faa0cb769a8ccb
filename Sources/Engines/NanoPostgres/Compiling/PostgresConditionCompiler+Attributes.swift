// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

extension PostgresConditionCompiler {
  /// Comparisons of what may be NULL are false there, also below NOT.
  func attribute(
    _ attribute: Attribute, _ comparison: Comparison, _ value: DocumentValue
  ) -> Answer? {
    switch (attribute, value) {
    case (.rowID, .int(let id)):
      return Answer(sql: "id \(comparison.sql) " + .value(.int(id)), isExact: true)
    case (.version, .int(let version)):
      return whereThere("version", "version \(comparison.sql) " + .value(.int(version)))
    case (.type, .string(let name)) where !name.utf8.contains(0):
      return whereThere("type", "type \(comparison.sql) " + .value(.text(name)))
    case (.key, .string(let key)) where comparison == .equal:
      guard (try? DocumentKey(key)) != nil else { return Answer(sql: "false", isExact: true) }
      return whereThere("key", "key = " + .value(.text(key)))
    case (.added, .date(let date)) where comparison != .notEqual: return added(comparison, date)
    default: return nil
    }
  }

  private func whereThere(_ column: String, _ test: PostgresSQL) -> Answer {
    Answer(sql: test + " AND \(column) IS NOT NULL", isExact: true)
  }

  func attributes(_ attribute: Attribute, _ list: [QueryExpression]) -> Answer? {
    var texts: [String] = []
    var ids: [Int64] = []
    for element in list {
      switch (attribute, element) {
      case (.rowID, .value(.int(let id))): ids.append(id)
      case (.type, .value(.string(let name))) where !name.utf8.contains(0): texts.append(name)
      case (.key, .value(.string(let key))): if (try? DocumentKey(key)) != nil { texts.append(key) }
      default: return nil
      }
    }
    switch attribute {
    case .rowID:
      return Answer(sql: "id = ANY(" + .value(.ints(ids.map { $0 })) + ")", isExact: true)
    case .type, .key:
      let column = attribute.rawValue
      return whereThere(column, "\(column) = ANY(" + .value(.texts(texts.map { $0 })) + ")")
    default: return nil
    }
  }

  /// Moments are kept in whole microseconds and compared as dates, so the SQL looks a little wider.
  private func added(_ comparison: Comparison, _ date: Date) -> Answer? {
    let micros = date.timeIntervalSince1970 * 1e6
    guard micros.magnitude < 0x1p62 else { return nil }
    let (low, high) = (Int64(micros) - 2, Int64(micros) + 2)
    let sql: PostgresSQL
    switch comparison {
    case .less, .lessOrEqual: sql = "added <= " + .value(.int(high))
    case .greater, .greaterOrEqual: sql = "added >= " + .value(.int(low))
    case .equal, .notEqual:
      sql = "added >= " + .value(.int(low)) + " AND added <= " + .value(.int(high))
    }
    return Answer(sql: sql, isExact: false)
  }
}
