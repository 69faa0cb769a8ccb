// SPDX-License-Identifier: MIT

import NanoStore

/// Values as text in the cells of tables and CSV.
enum CellText {
  /// For people: lists without their brackets, nothing that moves the cursor.
  static func table(_ value: DocumentValue?) -> String {
    Printable.text(
      plain(value) { elements in
        elements.contains { $0.array != nil || $0.object != nil }
          ? nil : elements.map { table($0) }.joined(separator: ", ")
      })
  }

  /// For programs: lists and objects as JSON.
  static func csv(_ value: DocumentValue?) -> String { plain(value) { _ in nil } }

  static func isNumber(_ value: DocumentValue?) -> Bool {
    switch value {
    case .int, .double: true
    default: false
    }
  }

  private static func plain(
    _ value: DocumentValue?, list: ([DocumentValue]) -> String?
  ) -> String {
    switch value {
    case nil: return ""
    case .string(let text): return text
    case .array(let elements):
      return list(elements) ?? DocumentValue.array(elements).jsonString(dialect: .plain)
    // JSON has no word for those; a cell has.
    case .double(let number) where !number.isFinite: return "\(number)"
    case let value?:
      let text = value.jsonString(dialect: .plain)
      let isQuoted = value.date != nil || value.data != nil || value.url != nil
      return isQuoted ? value.url?.absoluteString ?? String(text.dropFirst().dropLast()) : text
    }
  }
}
