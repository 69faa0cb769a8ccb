// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

extension Bag {
  /// Writes all unsaved changes in one transaction: the bag, its new and edited documents, its
  /// memberships, and the changes of every bag in it.
  ///
  /// Does nothing if there are no changes. Documents buffered by ``Store/saveInterval`` are written
  /// first. If the save is part of a ``Store/write(retries:isolation:_:)-(_,_,()->Result)`` block that fails later, the
  /// changes are unsaved again.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a bag without a store,
  ///   ``StoreError/Code/notFound`` if the bag, a bag in it, or a document identified by its row ID
  ///   was deleted from the store in the meantime, and the errors of writing documents. Nothing was
  ///   written, and all changes are still unsaved.
  public func save() throws {
    guard let store else {
      throw StoreError(
        .invalidArgument, "The bag has no store", [.hint: "save it by store.save(bag)"])
    }
    try save(in: store)
  }
  /// The asynchronous form of `save()`, which does not block the calling thread.
  public func save() async throws { try await onWriter { try self.save() } }

  func save(in store: Store) throws {
    guard reachable.contains(where: \.state.hasUnsavedChanges) else { return }
    try store.writing(atomic: true, callsBack: true) { try BagSaver(store, $0).save(self) }
  }

  /// Returns this bag and the bags that are saved with it, without saved ones that lead to no changes.
  ///
  /// - Parameter contained: Returns which of the members the store has in a bag. Another handle or process may have
  ///   removed bags that were saved with it.
  func savedTogether(
    _ contained: (Bag, BagState, [BagMember]) throws -> Set<BagMember>
  ) rethrows -> [BagNode] {
    let nodes = reachable
    let leading = leadingToChanges(nodes)
    let nodeOf = Dictionary(uniqueKeysWithValues: nodes.map { (ObjectIdentifier($0.bag), $0) })
    var found: [BagNode] = []
    var seen: Set<DocumentKey> = []
    var waiting = [self]
    while let bag = waiting.popLast() {
      guard seen.insert(bag.documentKey).inserted, let node = nodeOf[ObjectIdentifier(bag)] else {
        continue
      }
      found.append(node)
      waiting += node.added
      let nested = node.nested.filter { leading.contains(ObjectIdentifier($0)) }
      guard !nested.isEmpty else { continue }
      let stored = try contained(bag, node.state, nested.map(\.member))
      waiting += nested.filter { stored.contains($0.member) }
    }
    return found
  }

  /// This bag and all bags in it at any depth, as known in memory.
  private var reachable: [BagNode] {
    var found: [BagNode] = []
    var seen: Set<ObjectIdentifier> = []
    var waiting = [self]
    while let bag = waiting.popLast() {
      guard seen.insert(ObjectIdentifier(bag)).inserted else { continue }
      let node = BagNode(bag)
      found.append(node)
      waiting += node.added + node.nested
    }
    return found
  }

  /// Returns the bags that a save writes, and those that contain one of them at any depth, but not this bag, nor bags
  /// that contain one only because they contain this bag.
  private func leadingToChanges(_ nodes: [BagNode]) -> Set<ObjectIdentifier> {
    var leading: Set<ObjectIdentifier> = []
    var holders: [ObjectIdentifier: [ObjectIdentifier]] = [:]
    for node in nodes where node.bag !== self {
      if node.state.needsWriting { leading.insert(ObjectIdentifier(node.bag)) }
      for inner in node.added + node.nested {
        holders[ObjectIdentifier(inner), default: []].append(ObjectIdentifier(node.bag))
      }
    }
    var waiting = Array(leading)
    while let bag = waiting.popLast() {
      for holder in holders[bag] ?? [] where leading.insert(holder).inserted {
        waiting.append(holder)
      }
    }
    return leading
  }

  /// Reads the stored name and the loaded documents again. Unsaved changes, including the name, are
  /// kept, and removed members stay removed.
  ///
  /// Members need not be reloaded: they are always read from the store.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the bag is not in the store. Nothing has changed.
  public func reload() throws {
    guard let store else { return }
    let transaction = store.rollbackActions
    typealias Old = (stored: String?, name: String?, savedName: String?, isInflated: Bool)
    let old = try changing { reader, _ in
      try storedName(reader)
    } by: { stored, state -> Old in
      defer { state.setStoredName(stored, in: transaction) }
      return (stored, state.name, state.savedName, state.inflated != nil)
    }
    transaction?.append {
      self.change { $0.revertStoredName(old.stored, to: (old.name, old.savedName)) }
    }
    if old.isInflated { try inflate() }
  }
  /// The asynchronous form of `reload()`, which does not block the calling thread.
  public func reload() async throws { try await onReader { try self.reload() } }

  private func storedName(_ reader: BagReader) throws -> String? {
    var name: String?
    let exists = try reader.reader?.get(
      .key(documentKey), in: InternalCollection.bags.rawValue
    ) { name = try Self.name($0) }
    guard exists == true else { throw Self.notFound(key) }
    return name
  }

  static func notFound(_ key: String) -> StoreError {
    StoreError(
      .notFound, "The bag is not in the store",
      [.collection: InternalCollection.bags.rawValue, .key: key])
  }

  /// Deletes the bag from the store, and returns whether it existed.
  ///
  /// It is also removed from every bag that contains it.
  ///
  /// Its documents are kept. Unsaved changes stay in the bag, which can be saved again as a new
  /// one.
  @discardableResult
  public func delete() throws -> Bool {
    guard let store else { return false }
    return try store.writing(atomic: true, callsBack: true) { writer in
      guard try BagMemberships(writer).deleteBag(documentKey) else { return false }
      changeUntilRollback(on: store) { state, owner in state.detach(by: owner) }
      return true
    }
  }
  /// The asynchronous form of `delete()`, which does not block the calling thread.
  @discardableResult
  public func delete() async throws -> Bool { try await onWriter { try self.delete() } }

  /// Changes the state by a save or deletion, until the running transaction is rolled back.
  ///
  /// - Parameter write: Receives the state and the transaction.
  func changeUntilRollback(
    on store: Store, _ write: (inout BagState, ObjectIdentifier?) -> Void
  ) {
    let rollbackActions = store.rollbackActions
    let owner = rollbackActions.map { ObjectIdentifier($0) }
    let number = change { state -> Int in
      write(&state, owner)
      return state.generation
    }
    rollbackActions?.append { self.change { $0.rollBack(number) } }
    rollbackActions?.onEnd { self.change { $0.end(owner) } }
  }

  /// Returns a new, unsaved bag with the same members, saved and unsaved.
  ///
  /// It has the same name and a different key.
  public func copy() throws -> Bag {
    try reading { reader, state in
      var copy = BagState(store: state.store, name: state.name, base: .none)
      var inherited: [BagMember] = []
      try reader.each { _, member in
        if !state.isCleared { inherited.append(try reader.named(member)) }
        return true
      }
      if !inherited.isEmpty { copy.base = .inherited(InheritedMembers(inherited)) }
      for entry in state.unsavedEntries {
        // If the bag contains itself, the copy contains the original.
        let isSelf = entry.member == member
        copy.add(entry.member, isSelf ? .bag(self) : entry.content, isMoved: entry.isMoved)
      }
      for entry in state.removedEntries {
        _ = copy.remove(entry.member, isSaved: inherited.contains(entry.member))
      }
      return Bag(key: Self.keys.next(), state: copy)
    }
  }
  /// The asynchronous form of `copy()`, which does not block the calling thread.
  public func copy() async throws -> Bag { try await onReader { try self.copy() } }
}

/// A bag and the bags in it, as known in memory.
struct BagNode {
  let bag: Bag
  let state: BagState
  /// The bags that the next save adds.
  let added: [Bag]
  let nested: [Bag]

  init(_ bag: Bag) {
    self.bag = bag
    state = bag.snapshot
    added = state.unsavedEntries.compactMap(\.content.bag)
    nested = state.storedNested
  }
}
