// SPDX-License-Identifier: MIT

import NanoSQL

/// What documents of a collection ever had beside their fields. What none of them has need not be
/// read: each column costs a scan a tenth of what it costs to step a row.
struct AttributeUsage: OptionSet, Sendable, Hashable {
  let rawValue: Int64
  init(rawValue: Int64) { self.rawValue = rawValue }
  static let key = AttributeUsage(rawValue: 1)
  /// A class name or a version of a class.
  static let type = AttributeUsage(rawValue: 2)
  static let all: AttributeUsage = [.key, .type]

  /// The columns of a document, in the order in which rows are read. A row of all parts has seven,
  /// one without types five, one without keys four.
  func columns(body: String = "body") -> String {
    switch layout {
    case .all: "id, key, type, version, added, revision, \(body)"
    case .keyed: "id, key, added, revision, \(body)"
    case .bare: "id, added, revision, \(body)"
    }
  }

  /// Which columns there are.
  enum Layout: Sendable {
    case all, keyed, bare
  }

  var layout: Layout {
    contains(.type) ? .all : contains(.key) ? .keyed : .bare
  }
}
