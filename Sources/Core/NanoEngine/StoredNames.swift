// SPDX-License-Identifier: MIT

package import NanoDocument

/// Which names collections, indexes and metadata can have, on every engine.
package enum StoredNames {
  /// - Throws: ``StoreError/Code/invalidName`` for a name that the store or SQLite use themselves, so
  /// that a store can be moved to any engine.
  package static func validate(_ collection: CollectionDescription) throws(StoreError) {
    let name = collection.name
    if collection.isInternal, InternalCollection(named: name) != nil { return }
    let lower = name.lowercased()
    let isReserved = ["nano_", "sqlite_"].contains { lower.utf8.starts(with: $0.utf8) }
    let problem =
      isReserved ? "names that begin with nano_ and sqlite_ are reserved" : Self.problem(name)
    guard let problem else { return }
    throw StoreError(
      .invalidName, "A collection cannot have this name", [.hint: problem, .collection: name])
  }

  /// In bytes. Arbitrary; SQLite itself sets no limit.
  static let maximumNameLength = 500

  /// - Throws: ``StoreError/Code/invalidName`` for a name that an index or an entry of the metadata
  ///   cannot have.
  package static func validate(_ kind: StoreError.Detail?, name: String) throws(StoreError) {
    let problem = Self.problem(name)
    guard let problem else { return }
    let error = StoreError(.invalidName, "A name cannot be used", [.hint: problem])
    throw kind.map { error.adding($0, name) } ?? error
  }

  private static func problem(_ name: String) -> String? {
    if name.isEmpty { return "a name is empty" }
    if name.utf8.contains(0) { return "a name holds a NUL" }
    return name.utf8.count > maximumNameLength
      ? "a name has at most \(maximumNameLength) bytes" : nil
  }
}
