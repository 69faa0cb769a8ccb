// SPDX-License-Identifier: MIT

import SwiftSyntax

/// Checks the fields of a model for conflicts.
struct FieldChecks {
  private let properties: [StoredProperty]

  init(_ properties: [StoredProperty]) { self.properties = properties }

  func run(_ problems: inout Problems) {
    checkNames(&problems)
    checkKeys(&problems)
    checkInverses(&problems)
  }

  /// Checks that each inverse belongs to one relationship.
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
          "'\(name)' is already the inverse of '\(other)'; declare a separate '@Inverse' property for '\(property.name)'",
          blocks: false)
      }
      owners[name] = property.name
    }
  }

  /// A field name, which documents distinguish from others by its bytes.
  private typealias Name = [UInt8]

  /// Checks that each field name, current or former, belongs to one property.
  private func checkNames(_ problems: inout Problems) {
    var owners: [Name: String] = [:]
    for property in properties {
      let name = property.storedName
      if name.isEmpty {
        problems.add(.error, property.nameNode, "a field name cannot be empty")
      } else if let other = owners[Name(name.utf8)] {
        problems.add(
          .error, property.nameNode,
          "field name '\(name)' is already used by '\(other)'; choose a different name with '@Field'"
        )
      } else {
        owners[Name(name.utf8)] = property.name
      }
    }
    var formerOwners: [Name: String] = [:]
    for property in properties {
      for (index, name) in property.formerNames.enumerated() {
        guard let problem = problem(ofFormer: name, property, owners, formerOwners) else {
          formerOwners[Name(name.utf8)] = property.name
          continue
        }
        problems.add(
          .error, property.nameNode, problem, fixes: [property.removals[index]],
          blocks: false)
      }
    }
  }

  /// Returns the problem with a former name of a property, or nil if it is valid.
  private func problem(
    ofFormer name: String, _ property: StoredProperty, _ owners: [Name: String],
    _ formerOwners: [Name: String]
  ) -> String? {
    let own = property.name.trimmingBackticks
    if name.isEmpty { return "a field name cannot be empty" }
    if name.utf8.elementsEqual(property.storedName.utf8) {
      return
        "'\(name)' is the current field name of '\(own)'; list only former names in 'renamedFrom'"
    }
    if let other = owners[Name(name.utf8)] {
      return
        "'\(own)' cannot be renamed from '\(name)', which is the current field name of '\(other)'; remove it from 'renamedFrom'"
    }
    guard let other = formerOwners[Name(name.utf8)] else { return nil }
    return other == property.name
      ? "'\(name)' is listed twice as a former name of '\(own)'; remove one"
      : "'\(name)' is already listed as a former name of '\(other)'; remove one"
  }

  private func checkKeys(_ problems: inout Problems) {
    let keys = properties.filter(\.isKey)
    for extra in keys.dropFirst() {
      guard let mark = extra.marks.first(where: { $0.shortName == "Key" }) else { continue }
      problems.add(
        .error, mark, "'\(keys[0].name)' is already the key; a model has only one '@Key'",
        fixes: [.remove(mark)])
    }
    guard let key = keys.first else { return }
    for mark in key.marks where ["Indexed", "Unique"].contains(mark.shortName) {
      problems.add(
        .error, mark, "a key is always unique and indexed; remove '@\(mark.shortName)'",
        fixes: [.remove(mark)])
    }
    for mark in key.marks where mark.shortName == "TextIndexed" {
      problems.add(
        .error, mark,
        "a key is not stored as a field, so a text index cannot contain it; remove '@TextIndexed'",
        fixes: [.remove(mark)])
    }
  }
}
