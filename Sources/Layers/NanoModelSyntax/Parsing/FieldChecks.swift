// SPDX-License-Identifier: MIT

import SwiftSyntax

/// Finds fields that exclude each other.
struct FieldChecks {
  private let properties: [StoredProperty]

  init(_ properties: [StoredProperty]) { self.properties = properties }

  func run(_ problems: inout Problems) {
    checkNames(&problems)
    checkKeys(&problems)
  }

  /// Each name of a document's field belongs to one property.
  private func checkNames(_ problems: inout Problems) {
    var owners: [String: String] = [:]
    for property in properties {
      for (name, place) in property.names {
        if name.isEmpty {
          problems.add(.error, place, "the name of a field is empty")
        } else if let other = owners[name] {
          problems.add(.error, place, "the field '\(name)' belongs to '\(other)' already")
        } else {
          owners[name] = property.name
        }
      }
    }
  }

  private func checkKeys(_ problems: inout Problems) {
    let keys = properties.filter(\.isKey)
    for extra in keys.dropFirst() {
      guard let mark = extra.marks.first(where: { $0.shortName == "Key" }) else { continue }
      problems.add(
        .error, mark, "'\(keys[0].name)' is the key already", fixes: [.remove(mark)])
    }
    guard let key = keys.first else { return }
    for mark in key.marks where ["Indexed", "Unique"].contains(mark.shortName) {
      problems.add(
        .error, mark, "a key is unique and found quickly without '@\(mark.shortName)'",
        fixes: [.remove(mark)])
    }
    for mark in key.marks where mark.shortName == "TextIndexed" {
      problems.add(
        .error, mark, "a key is kept beside the fields, where no search by text looks",
        fixes: [.remove(mark)])
    }
  }
}
