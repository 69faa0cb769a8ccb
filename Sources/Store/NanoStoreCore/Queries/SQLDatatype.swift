// SPDX-License-Identifier: MIT

public import NanoDocument

/// How the columns of SQL tables name the types of values.
public enum SQLDatatype: String, Sendable, Hashable, CaseIterable {
  case integer = "INTEGER"
  case real = "REAL"
  case text = "TEXT"
  case blob = "BLOB"
  case null = "NULL"
  case url = "URL"
  case unknown = "UNKNOWN"

  /// The type of a leaf. Numbers and booleans count as real, dates as text.
  public init(of value: DocumentValue) {
    switch value {
    case .null: self = .null
    case .bool, .int, .double: self = .real
    case .string, .date: self = .text
    case .data: self = .blob
    case .url: self = .url
    case .array, .object: self = .unknown
    }
  }

  /// The type of this name, in any case; ``unknown`` for every other name.
  public init(name: String) { self = SQLDatatype(rawValue: name.uppercased()) ?? .unknown }
}
