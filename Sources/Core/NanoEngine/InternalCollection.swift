// SPDX-License-Identifier: MIT

package import NanoDocument

/// The collections that the store layer uses internally, in addition to those of applications.
///
/// Their names begin with `nano_`, like those of an engine's internal tables, a prefix that applications cannot
/// use. docs/BAGS.md and docs/BATCHES.md describe the contents of the first three.
package enum InternalCollection: Sendable, CaseIterable {
  /// One document per bag, under the bag's key.
  case bags
  /// One document per bag membership, identified by row ID.
  case bagMembers
  /// One document per batch applied with an operation ID, with the batch's outcome.
  case operations
  /// The state of sync.
  case syncState
  /// What sync knows about the documents of a collection, whose name is spelled as given.
  case revisions(of: String)

  /// Those that do not belong to a collection of the application.
  package static let allCases: [InternalCollection] = [.bags, .bagMembers, .operations, .syncState]

  private static let revisionsPrefix = "nano_revisions_"

  /// The name.
  package var rawValue: String {
    switch self {
    case .bags: "nano_bags"
    case .bagMembers: "nano_bag_members"
    case .operations: "nano_operations"
    case .syncState: "nano_sync_state"
    case .revisions(let collection): Self.revisionsPrefix + collection
    }
  }

  /// Returns the internal collection with this name, ignoring the case of ASCII letters; `nil` for other names.
  package init?(named name: String) {
    // Runs on every write, so most names are rejected after one comparison.
    guard let first = name.utf8.first, first | 0x20 == 0x6E else { return nil }
    let folded = name.foldingASCII
    if let found = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: folded) }) {
      self = found
      return
    }
    let length = Self.revisionsPrefix.utf8.count
    guard folded.hasExactPrefix(Self.revisionsPrefix), folded.utf8.count > length,
      !folded.utf8.contains(0)
    else { return nil }
    self = .revisions(of: String(decoding: name.utf8.dropFirst(length), as: UTF8.self))
  }

  /// Rejects the names of internal collections.
  ///
  /// - Throws: ``StoreError/Code/invalidName``.
  package static func refuse(_ name: String) throws(StoreError) {
    guard let collection = InternalCollection(named: name) else { return }
    throw collection.refusal
  }

  /// The error of a program's call that names the collection.
  package var refusal: StoreError {
    StoreError(
      .invalidName, "The collection is internal to the store",
      [.hint: hint, .collection: rawValue])
  }

  private var hint: String {
    switch self {
    case .bags:
      "use findBags(_:), bag(named:) and deleteBags(keys:) of the store, or SQL to read it"
    case .bagMembers: "use members() of a bag, bags(containing:) of the store, or SQL to read it"
    case .operations: "use deleteOperationIDs(before:) of the store, or SQL to read it"
    case .syncState: "it holds the state of sync; use SQL to read it"
    case .revisions: "it holds what sync knows about documents; use SQL to read it"
    }
  }

  package var identity: CollectionIdentity {
    if case .bagMembers = self { .rowID } else { .key }
  }

  /// The argument for ``EngineWriter/createCollections(_:)``.
  package var description: CollectionDescription {
    CollectionDescription(name: rawValue, identity: identity, isInternal: true)
  }
}

extension String {
  /// The identity of a collection's name: the name with ASCII letters in lowercase, compared by bytes.
  package var folded: ExactName { ExactName(foldingASCII) }

  /// The text with ASCII letters in lowercase. Names that are equal in this form name the same collection.
  package var foldingASCII: String {
    let isUpper: (UInt8) -> Bool = { (0x41...0x5A).contains($0) }
    guard utf8.contains(where: isUpper) else { return self }
    return String(decoding: utf8.map { isUpper($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
