// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import NanoSQL

extension PostgresConditionCompiler {
  /// Translates the comparison of an attribute with a value. If the column is NULL, the comparison is false rather than
  /// NULL, so that `NOT` negates it.
  func attribute(
    _ attribute: Attribute, _ comparison: Comparison, _ value: DocumentValue
  ) -> Translation? {
    guard let operation = comparison.sql else { return nil }
    switch (attribute, value) {
    case (.rowID, .int(let id)):
      return Translation(sql: "id \(operation) " + .value(.int(id)), isExact: true)
    case (.version, .int(let version)):
      return whereNotNull("version", "version \(operation) " + .value(.int(version)))
    case (.type, .string(let name)) where !name.utf8.contains(0):
      return whereNotNull("type", "type \(operation) " + .value(.text(name)))
    case (.key, .string(let key)) where comparison == .equal:
      guard (try? DocumentKey(key)) != nil else { return Translation(sql: "false", isExact: true) }
      return whereNotNull("key", "key = " + .value(.text(key)))
    case (.added, .date(let date)): return added(comparison, date)
    default: return nil
    }
  }

  private func whereNotNull(_ column: String, _ test: PostgresSQL) -> Translation {
    Translation(sql: test + " AND \(column) IS NOT NULL", isExact: true)
  }

  func attributes(_ attribute: Attribute, _ list: [QueryExpression]) -> Translation? {
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
    guard let column = attribute.column else { return nil }
    switch attribute {
    case .rowID:
      return Translation(sql: "id = ANY(" + .value(.ints(ids.map { $0 })) + ")", isExact: true)
    case .type, .key:
      return whereNotNull(column, "\(column) = ANY(" + .value(.texts(texts.map { $0 })) + ")")
    default: return nil
    }
  }

  /// Compares creation dates. They are stored in whole microseconds and compared as dates, so the SQL selects a
  /// slightly wider range.
  private func added(_ comparison: Comparison, _ date: Date) -> Translation? {
    let micros = date.timeIntervalSince1970 * 1e6
    guard micros.magnitude < 0x1p62 else { return nil }
    let (low, high) = (Int64(micros) - 2, Int64(micros) + 2)
    let sql: PostgresSQL
    switch comparison.interval {
    case .upTo: sql = "added <= " + .value(.int(high))
    case .from: sql = "added >= " + .value(.int(low))
    case .equal: sql = "added >= " + .value(.int(low)) + " AND added <= " + .value(.int(high))
    case nil: return nil
    }
    return Translation(sql: sql, isExact: false)
  }
}
