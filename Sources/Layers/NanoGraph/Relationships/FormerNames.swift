// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// The former names of a class's relationships that documents have ever had, as the store's path catalog lists them.
struct ObservedFormerNames {
  fileprivate var names: Set<ExactName> = []
  /// The context's ``ObjectContext/inverseEpoch``, which begins at 1, when the catalog was read.
  fileprivate var epoch = 0
  /// The table's ``ObjectTable/followedCommits`` when the catalog was read.
  fileprivate var followedCommits = 0
}

extension ObjectContext {
  /// Requests that former names are read again when they are next needed.
  func expireFormerNames() {
    for table in allTables { table.observedNames.epoch = 0 }
  }
}

extension ObjectTable {
  /// Returns the former names of a relationship that documents have ever had, most recent first; those that other
  /// programs have stored after inverse relationships were last discarded may be missing.
  func observedFormerNames(of relationship: StoredRelationship) throws -> [String] {
    let names = relationship.formerNames
    func isObserved(_ name: String) -> Bool {
      observedNames.names.contains(ExactName(name))
    }
    // The catalog never forgets a name.
    if names.allSatisfy(isObserved) { return names }
    if observedNames.epoch != context.inverseEpoch
      || observedNames.followedCommits != followedCommits
    {
      try readFormerNames()
    }
    return names.filter(isObserved)
  }

  /// Reads the whole catalog, which can have thousands of paths.
  private func readFormerNames() throws {
    let (epoch, commits) = (context.inverseEpoch, followedCommits)
    let former = Set(relationships.flatMap { $0.formerNames }.map { ExactName($0) })
    let paths = try documents.observedPaths()
    let observed = paths.compactMap { $0.field.components.first }.map { ExactName($0) }
    observedNames = ObservedFormerNames(
      names: former.intersection(observed), epoch: epoch, followedCommits: commits)
  }
}
