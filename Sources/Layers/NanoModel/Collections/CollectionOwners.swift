// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoStoreCore
import Synchronization

/// Which model the collections of a store belong to. Two types that happen to have one name would read each other's
/// documents.
private final class CollectionOwners: Sendable {
  private struct Owner {
    let type: String
    let namesCollection: Bool
  }
  private struct State {
    var owners: [ExactName: Owner] = [:]
    var verdicts: [ObjectIdentifier: StoreError?] = [:]
  }
  private let state = Mutex(State())

  /// Why a model cannot use the collection that it names; nil if it can.
  func conflict<M: Model>(of type: M.Type) -> StoreError? {
    state.withLock { state in
      if let verdict = state.verdicts[ObjectIdentifier(type)] { return verdict }
      let verdict = Self.take(type, &state.owners)
      state.verdicts[ObjectIdentifier(type)] = .some(verdict)
      return verdict
    }
  }

  private static func take<M: Model>(
    _ type: M.Type, _ owners: inout [ExactName: Owner]
  ) -> StoreError? {
    let name = M.collectionName
    let own = Owner(type: String(reflecting: type), namesCollection: M._$namesCollection)
    guard let other = owners[ExactName(name.lowercasedASCII)] else {
      owners[ExactName(name.lowercasedASCII)] = own
      return nil
    }
    if own.namesCollection && other.namesCollection { return nil }
    return StoreError(
      .invalidArgument, "Two model types have the same collection",
      [
        .collection: name, .expected: other.type, .actual: own.type,
        .hint:
          "give one of them another collection, @Model(collection: \"…\"), or both the same one to share it",
      ])
  }
}

extension String {
  /// Names of collections match in either case of ASCII letters.
  fileprivate var lowercasedASCII: String {
    String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}

extension Store {
  /// The documents of a model, in the collection that the model names. Each operation throws if another model has
  /// it in this store, unless both name it with `@Model(collection:)`.
  package func documents<M: Model>(of type: M.Type) -> DocumentCollection {
    let documents = self[M.collectionName]
    let owners = companion { CollectionOwners() }
    return owners.conflict(of: type).map { documents.refusing($0) } ?? documents
  }
}
