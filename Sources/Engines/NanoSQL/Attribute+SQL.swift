// SPDX-License-Identifier: MIT

package import NanoQuery

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
