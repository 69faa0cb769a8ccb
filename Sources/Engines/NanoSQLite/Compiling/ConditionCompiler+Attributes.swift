// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Comparisons of keys, row IDs, class names and creation dates.
extension ConditionCompiler {
  func attribute(
    _ attribute: Attribute, _ comparison: Comparison, _ value: DocumentValue
  ) -> Translation? {
    guard let column = attribute.column, let operation = comparison.sql else { return nil }
    switch (attribute, value) {
    case (.rowID, .int(let id)):
      return Translation(
        sql: SQLFragment("\(column) \(operation) ") + .parameter(.int(id)), isExact: true)
    case (.type, .string(let name))
    where !name.utf8.contains(0) && isPreserved(value)
      && (metadata.ordersText || [.equal, .notEqual].contains(comparison)):
      return Translation(
        sql: SQLFragment("\(column) \(operation) ") + .parameter(.text(name)), isExact: true)
    case (.key, .string(let key)) where comparison == .equal:
      guard let binding = keyBinding(key) else { return Translation(sql: "0", isExact: true) }
      return Translation(sql: SQLFragment("\(column) = ") + .parameter(binding), isExact: true)
    case (.added, .date(let date)): return added(comparison, date)
    default: return nil
    }
  }

  func attributeMembership(_ attribute: Attribute, _ list: [QueryExpression])
    -> Translation?
  {
    var bindings: [SQLFragment] = []
    guard let column = attribute.column, list.count <= Self.longestList else { return nil }
    for element in list {
      switch (attribute, element) {
      case (.rowID, .value(.int(let id))): bindings.append(.parameter(.int(id)))
      case (.type, .value(.string(let name)))
      where !name.utf8.contains(0) && isPreserved(.string(name)):
        bindings.append(.parameter(.text(name)))
      case (.key, .value(.string(let key))):
        if let binding = keyBinding(key) { bindings.append(.parameter(binding)) }
      default: return nil
      }
    }
    let sql = SQLFragment("\(column) IN (") + SQLFragment.joined(bindings, by: ", ") + ")"
    return Translation(sql: sql, isExact: true)
  }

  /// Returns the parameter for a key; `nil` for a text that no key of the database can be.
  private func keyBinding(_ key: String) -> SQLBinding? {
    switch try? DocumentKey(key) {
    case .text(let text)? where !isPreserved(.string(text)): nil
    case let key: key?.binding
    }
  }

  /// Whether SQLite compares a value as it is. A UTF-16 database, where texts have no order either, compares some as
  /// different texts.
  func isPreserved(_ value: DocumentValue) -> Bool {
    guard !metadata.ordersText, case .string(let text) = value else { return true }
    return TextEncoding.preserves(text)
  }

  private func added(_ comparison: Comparison, _ date: Date) -> Translation? {
    guard let range = CreationDateRange(comparison, date) else { return nil }
    var bounds: [SQLFragment] = []
    if let low = range.low { bounds.append(SQLFragment("added >= ") + .parameter(.int(low))) }
    if let high = range.high { bounds.append(SQLFragment("added <= ") + .parameter(.int(high))) }
    return Translation(sql: .joined(bounds, by: " AND "), isExact: false)
  }
}

extension DocumentKey {
  /// The key as a parameter.
  var binding: SQLBinding {
    switch self {
    case .uuid(let high, let low): .uuid(high, low)
    case .text(let text): .text(text)
    }
  }
}
