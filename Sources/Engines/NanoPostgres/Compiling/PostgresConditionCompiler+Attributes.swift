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

  private func added(_ comparison: Comparison, _ date: Date) -> Translation? {
    guard let range = CreationDateRange(comparison, date) else { return nil }
    var bounds: [PostgresSQL] = []
    if let low = range.low { bounds.append("added >= " + .value(.int(low))) }
    if let high = range.high { bounds.append("added <= " + .value(.int(high))) }
    return Translation(sql: .joined(bounds, by: " AND "), isExact: false)
  }
}
