// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoStoreCore
import Synchronization

/// The model type that owns each collection of a store. Without this check, two types that share a
/// collection name by accident would read each other's documents.
private final class CollectionOwners: Sendable {
  private struct Owner {
    let type: String
    let namesCollection: Bool
  }
  private struct State {
    var owners: [ExactName: Owner] = [:]
    var cachedProblems: [ObjectIdentifier: StoreError?] = [:]
  }
  private let state = Mutex(State())

  /// Returns the reason that a model cannot use its collection, or nil if it can.
  func conflict<M: Model>(of type: M.Type) -> StoreError? {
    state.withLock { state in
      if let problem = state.cachedProblems[ObjectIdentifier(type)] { return problem }
      let problem = Self.claim(type, &state.owners)
      state.cachedProblems[ObjectIdentifier(type)] = .some(problem)
      return problem
    }
  }

  private static func claim<M: Model>(
    _ type: M.Type, _ owners: inout [ExactName: Owner]
  ) -> StoreError? {
    let name = M.collectionName
    let owner = Owner(type: String(reflecting: type), namesCollection: M._$namesCollection)
    guard let existing = owners[ExactName(name.lowercasedASCII)] else {
      owners[ExactName(name.lowercasedASCII)] = owner
      return nil
    }
    if owner.namesCollection && existing.namesCollection { return nil }
    return StoreError(
      .invalidArgument, "Two model types use the same collection",
      [
        .collection: name, .expected: existing.type, .actual: owner.type,
        .hint:
          "name a different collection for one of them with @Model(collection: \"…\"), or the same one for both to share it",
      ])
  }
}

extension String {
  /// The name with ASCII letters in lower case: collection names ignore ASCII case.
  fileprivate var lowercasedASCII: String {
    String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}

extension Store {
  /// Returns the collection of a model. Every operation on it throws if another model uses the same
  /// collection in this store, unless both name it with `@Model(collection:)`.
  package func documents<M: Model>(of type: M.Type) -> DocumentCollection {
    let documents = self[M.collectionName]
    let owners = associatedObject { CollectionOwners() }
    return owners.conflict(of: type).map { documents.failing(with: $0) } ?? documents
  }
}
