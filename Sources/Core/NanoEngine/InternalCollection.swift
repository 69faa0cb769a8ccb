// SPDX-License-Identifier: MIT

package import NanoDocument

/// The collections that the store layer keeps for itself, beside those of its users.
///
/// Their names begin with `nano_`, as those of an engine's own tables do, so that no collection of a
/// user can have them. docs/BAGS.md and docs/BATCHES.md describe what stands in them.
package enum InternalCollection: String, Sendable, CaseIterable {
  /// One document for each bag, under the bag's key.
  case bags = "nano_bags"
  /// One document for each membership in a bag, known by row id.
  case bagMembers = "nano_bag_members"
  /// One document for each batch that was applied under an operation id, with its outcome.
  case operations = "nano_operations"

  /// The internal collection of this name, in whichever case its letters are; nil for others.
  package init?(named name: String) {
    // Asked at every write, so that most names cost one comparison.
    guard let first = name.utf8.first, first | 0x20 == 0x6E else { return nil }
    self.init(rawValue: name.foldingASCII)
  }

  package var identity: CollectionIdentity { self == .bagMembers ? .rowID : .key }

  /// What ``EngineWriter/createCollection(_:)`` takes.
  package var description: CollectionDescription {
    CollectionDescription(name: rawValue, identity: identity, isInternal: true)
  }
}

extension String {
  /// A collection's name without regard to the case of ASCII letters, under which it is known.
  package var folded: ExactName { ExactName(foldingASCII) }

  /// The text with ASCII capitals made small: names of collections that agree in it are one name.
  package var foldingASCII: String {
    let isUpper: (UInt8) -> Bool = { (0x41...0x5A).contains($0) }
    guard utf8.contains(where: isUpper) else { return self }
    return String(decoding: utf8.map { isUpper($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
