// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoStoreCore

// For imports, which know the keys of bags and of their members.
extension Bag {
  /// Creates a bag with a given key, which is written to the store when it is saved.
  package convenience init(key: DocumentKey, name: String?, in store: Store) {
    self.init(key: key, state: BagState(store: store, name: name, base: .none))
  }

  /// Adds a document or a bag that is in the store. Saving fails with ``StoreError/Code/notFound`` if it is not.
  package func add(_ member: BagMember) { change { $0.add(member, .stored) } }
}
