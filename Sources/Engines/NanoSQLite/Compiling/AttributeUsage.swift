// SPDX-License-Identifier: MIT

import NanoSQL

/// The attributes that documents of a collection have ever had. Unused columns are not read: each column costs a
/// scan a tenth of the cost of stepping to a row.
struct AttributeUsage: OptionSet, Sendable, Hashable {
  let rawValue: Int64
  init(rawValue: Int64) { self.rawValue = rawValue }
  static let key = AttributeUsage(rawValue: 1)
  /// A class name or a version of a class.
  static let type = AttributeUsage(rawValue: 2)
  static let all: AttributeUsage = [.key, .type]
  /// Expirations, which are in a separate table.
  static let expiration = AttributeUsage(rawValue: 4)

  /// Returns the columns of a document in the order in which rows are read: seven with all attributes, five
  /// without types, four without keys.
  func columns(body: String = "body") -> String {
    switch layout {
    case .all: "id, key, type, version, added, revision, \(body)"
    case .keyed: "id, key, added, revision, \(body)"
    case .bare: "id, added, revision, \(body)"
    }
  }

  /// The columns that are read.
  enum Layout: Sendable {
    case all, keyed, bare
  }

  var layout: Layout {
    contains(.type) ? .all : contains(.key) ? .keyed : .bare
  }
}
