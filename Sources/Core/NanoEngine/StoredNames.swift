// SPDX-License-Identifier: MIT

package import NanoDocument

/// The rules for names of collections, indexes, and metadata, on every engine.
package enum StoredNames {
  /// Checks the name of a collection.
  ///
  /// - Throws: ``StoreError/Code/invalidName`` for a name that the store or SQLite reserves. The rule is the
  ///   same on every engine, so that a store can be migrated to any of them.
  package static func validate(_ collection: CollectionDescription) throws(StoreError) {
    let name = collection.name
    if collection.isInternal, InternalCollection(named: name) != nil { return }
    try validate(collection: name)
  }

  /// Checks the name of a collection that programs use.
  ///
  /// - Throws: ``StoreError/Code/invalidName``.
  package static func validate(collection name: String) throws(StoreError) {
    let lower = name.lowercased()
    let isReserved = ["nano_", "sqlite_"].contains { lower.utf8.starts(with: $0.utf8) }
    let problem =
      isReserved ? "names that begin with nano_ and sqlite_ are reserved" : Self.problem(name)
    guard let problem else { return }
    throw StoreError(
      .invalidName, "A collection cannot have this name", [.hint: problem, .collection: name])
  }

  /// The maximum length of a name in bytes. Arbitrary; SQLite itself sets no limit.
  static let maximumNameLength = 500

  /// Checks the name of an index or a metadata entry.
  ///
  /// - Throws: ``StoreError/Code/invalidName`` if the name is empty, too long, or contains a NUL.
  package static func validate(_ kind: StoreError.Detail?, name: String) throws(StoreError) {
    let problem = Self.problem(name)
    guard let problem else { return }
    let error = StoreError(.invalidName, "The name is not valid", [.hint: problem])
    throw kind.map { error.adding($0, name) } ?? error
  }

  private static func problem(_ name: String) -> String? {
    if name.isEmpty { return "a name cannot be empty" }
    if name.utf8.contains(0) { return "a name cannot contain a NUL" }
    return name.utf8.count > maximumNameLength
      ? "a name can have at most \(maximumNameLength) bytes" : nil
  }
}
