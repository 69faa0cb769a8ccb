// SPDX-License-Identifier: MIT

import SwiftSyntax

/// Finds fields that exclude each other.
struct FieldChecks {
  private let properties: [StoredProperty]

  init(_ properties: [StoredProperty]) { self.properties = properties }

  func run(_ problems: inout Problems) {
    checkNames(&problems)
    checkKeys(&problems)
    checkInverses(&problems)
  }

  /// An inverse shows the owners of one relationship.
  private func checkInverses(_ problems: inout Problems) {
    var owners: [String: String] = [:]
    for property in properties {
      guard let relationship = property.relationship, let inverse = relationship.inverse,
        let mark = property.marks.first(where: { $0.shortName == "Relationship" })
      else { continue }
      let name = "\(relationship.target).\(inverse)"
      if let other = owners[name] {
        problems.add(
          .error, mark,
          "'\(name)' is the inverse of '\(other)' already; declare another '@Inverse' for '\(property.name)'",
          blocks: false)
      }
      owners[name] = property.name
    }
  }

  /// Each name of a document's field belongs to one property.
  private func checkNames(_ problems: inout Problems) {
    var owners: [String: String] = [:]
    for property in properties {
      let name = property.storedName
      if name.isEmpty {
        problems.add(.error, property.namesPlace, "the name of a field is empty")
      } else if let other = owners[name] {
        problems.add(
          .error, property.namesPlace, "the field '\(name)' belongs to '\(other)' already")
      } else {
        owners[name] = property.name
      }
    }
    var formerOwners: [String: String] = [:]
    for property in properties {
      for (index, name) in property.formerNames.enumerated() {
        guard let problem = problem(ofFormer: name, property, owners, formerOwners) else {
          formerOwners[name] = property.name
          continue
        }
        problems.add(
          .error, property.namesPlace, problem, fixes: [property.removals[index]],
          blocks: false)
      }
    }
  }

  /// What is wrong with a former name of a property; nil if nothing is.
  private func problem(
    ofFormer name: String, _ property: StoredProperty, _ owners: [String: String],
    _ formerOwners: [String: String]
  ) -> String? {
    let own = property.name.trimmingBackticks
    if name.isEmpty { return "the name of a field is empty" }
    if name == property.storedName {
      return
        "'\(own)' has the field name '\(name)' now; 'renamedFrom' takes names that older documents have"
    }
    if let other = owners[name] {
      return "'\(own)' cannot be renamed from '\(name)', which is the field of '\(other)'"
    }
    guard let other = formerOwners[name] else { return nil }
    return other == property.name
      ? "'\(name)' is listed twice as a former name of '\(own)'"
      : "'\(name)' is a former name of '\(other)' already"
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
