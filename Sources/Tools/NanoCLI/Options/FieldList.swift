// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// A comma-separated list of fields in one argument.
enum FieldList {
  /// Splits at commas outside double quotes, which enclose names as in field paths.
  static func split(_ text: String) -> [String] {
    var fields: [String] = []
    var field = String.UnicodeScalarView()
    var isQuoted = false
    // By scalars, because a comma followed by a combining mark forms a different character.
    for scalar in text.unicodeScalars {
      if scalar == "\"" { isQuoted.toggle() }
      if scalar == ",", !isQuoted {
        fields.append(String(field))
        field = String.UnicodeScalarView()
      } else {
        field.append(scalar)
      }
    }
    return fields + [String(field)]
  }
}

/// Field names in the order of their first occurrence.
struct FieldNames {
  private(set) var names: [String] = []
  private var positions: [ExactName: Int] = [:]

  init() {}

  /// If two columns have the same name, the first one receives the fields of that name.
  init(_ names: [String]) {
    self.names = names
    positions = Dictionary(
      names.enumerated().map { (ExactName($1), $0) }, uniquingKeysWith: { first, _ in first })
  }

  mutating func add(_ object: DocumentObject) {
    for (number, field) in object.enumerated()
    where position(of: field.name, expected: number) == nil {
      positions[ExactName(field.name)] = names.count
      names.append(field.name)
    }
  }

  /// Returns the position of a name, or nil if it has not been added.
  ///
  /// - Parameter expected: The likely position, checked first; similar documents have the same field order.
  func position(of name: String, expected: Int) -> Int? {
    if expected < names.count, names[expected].hasSameBytes(as: name) { return expected }
    return positions[ExactName(name)]
  }
}

extension ShownField {
  var path: FieldPath? {
    switch self {
    case .path(_, let path): path
    case .attribute: nil
    }
  }

  /// Returns the value in a document with these fields; if the path traverses an array, the values at its ends.
  func value(in document: Document, _ fields: DocumentObject) -> DocumentValue? {
    switch self {
    case .path(_, let path):
      let fields = DocumentValue.object(fields)
      if let value = fields[path] { return value }
      let values = PathValues.ends(in: fields, at: path)
      return values.isEmpty ? nil : .array(values)
    case .attribute(_, let attribute):
      switch attribute {
      case .key: return document.key.map { .string($0) }
      case .rowID: return document.rowID.map { .int($0) }
      case .type: return document.type.map { .string($0) }
      case .version: return document.version.map { .int($0) }
      case .added:
        guard let date = document.added else { return nil }
        // Other programs may write a number of microseconds beyond the years 0 to 9999.
        guard DateText.storable.contains(date.timeIntervalSinceReferenceDate) else {
          return document.header.added.map { .int($0) }
        }
        return .date(date)
      case .leafPath: return nil
      }
    }
  }
}
