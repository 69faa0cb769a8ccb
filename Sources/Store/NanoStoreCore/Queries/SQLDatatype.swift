// SPDX-License-Identifier: MIT

public import NanoDocument

/// The SQL column type names for values.
public enum SQLDatatype: String, Sendable, Hashable, CaseIterable {
  /// Not produced for values; numbers are ``real``.
  case integer = "INTEGER"
  /// Numbers and booleans.
  case real = "REAL"
  /// Strings and dates.
  case text = "TEXT"
  /// Binary data.
  case blob = "BLOB"
  /// Null.
  case null = "NULL"
  /// URLs.
  case url = "URL"
  /// Arrays and objects, and unrecognized type names.
  case unknown = "UNKNOWN"

  /// The type of a scalar value. Numbers and booleans are ``real``, dates are ``text``.
  public init(of value: DocumentValue) {
    switch value {
    case .null: self = .null
    case .bool, .int, .double, .decimal: self = .real
    case .string, .date: self = .text
    case .data: self = .blob
    case .url: self = .url
    case .array, .object: self = .unknown
    }
  }

  /// The type with this name, case-insensitive; ``unknown`` for every other name.
  public init(name: String) { self = SQLDatatype(rawValue: name.uppercased()) ?? .unknown }
}
