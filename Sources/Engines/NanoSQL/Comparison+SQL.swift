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
