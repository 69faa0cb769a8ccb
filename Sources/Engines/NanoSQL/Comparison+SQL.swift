// SPDX-License-Identifier: MIT

package import NanoQuery

extension Comparison {
  /// The operator in SQL, which SQLite and PostgreSQL share, or `nil` if SQL has none and the documents
  /// have to be compared. Its raw value is the operator in query text.
  package var sql: String? {
    switch self {
    case .equal: "="
    case .notEqual: "<>"
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}

extension Attribute {
  /// The column of a collection's table, which SQLite and PostgreSQL share, or `nil` if there is none. Its
  /// raw value is the name in query text.
  package var column: String? {
    switch self {
    case .key: "key"
    case .rowID: "id"
    case .type: "type"
    case .version: "version"
    case .added: "added"
    case .leafPath: nil
    }
  }
}
