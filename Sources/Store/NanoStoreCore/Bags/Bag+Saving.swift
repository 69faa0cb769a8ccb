// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension Bag {
  /// Writes what is unsaved, all in one transaction: the bag, its documents that are new or edited,
  /// who is in it, and likewise every bag within it that has changes.
  ///
  /// Does nothing if there is nothing to write. What was collected by ``Store/saveInterval`` is
  /// written first. In a ``Store/write(_:)-(()->Result)`` block that fails later, the changes are
  /// unsaved again.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a bag without a store,
  ///   ``StoreError/Code/notFound`` if the bag, a bag in it, or a document known by its row id was
  ///   removed from the store meanwhile, and what writing documents throws. Nothing was written, and
  ///   everything is still unsaved.
  public func save() throws {
    guard let store else {
      throw StoreError(
        .invalidArgument, "The bag belongs to no store", [.hint: "save it by store.save(bag)"])
    }
    try save(in: store)
  }
  public func save() async throws { try await onWriter { try self.save() } }

  func save(in store: Store) throws {
    guard reachable().contains(where: \.hasUnsavedChanges) else { return }
    try store.write {
      guard let context = TransactionContext.current(of: store) else { return }
      try BagSaver(store, context).save(self)
    }
  }

  /// This bag and those that a save of it concerns.
  func reachable() -> [Bag] {
    var found: [Bag] = []
    var seen: Set<DocumentKey> = []
    var waiting = [self]
    while let bag = waiting.popLast() {
      guard seen.insert(bag.documentKey).inserted else { continue }
      found.append(bag)
      let state = bag.snapshot
      waiting += state.unsavedEntries.compactMap(\.content.bag)
      waiting += state.nested.values.compactMap(\.bag)
    }
    return found
  }

  /// Reads the name again, and documents that were loaded. What is unsaved stays unsaved, the name
  /// too, and what was removed stays removed.
  ///
  /// Members need no reloading: they are read from the store whenever they are asked for.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the bag is not in the store. Nothing has changed.
  public func reload() throws {
    guard let store else { return }
    let name = try store.reading(.call) { reader in
      var name: String?
      let isThere = try reader.get(.key(documentKey), in: InternalCollection.bags.rawValue) {
        name = try Self.name($0)
      }
      guard isThere else { throw Self.notFound(key) }
      return name
    }
    let isInflated = change { state in
      if !state.isRenamed { state.name = name }
      state.savedName = name
      state.base = .stored
      return state.inflated != nil
    }
    if isInflated { try inflate() }
  }
  public func reload() async throws { try await onReader { try self.reload() } }

  static func notFound(_ key: String) -> StoreError {
    StoreError(
      .notFound, "The bag is not in the store",
      [.collection: InternalCollection.bags.rawValue, .key: key])
  }

  /// Removes the bag from the store and from every bag that holds it, and says whether it was there.
  /// Its documents stay.
  ///
  /// What is unsaved stays in the bag, which may be saved again as a new one.
  @discardableResult
  public func delete() throws -> Bool {
    guard let store else { return false }
    return try store.write {
      guard let context = TransactionContext.current(of: store), let writer = context.writer,
        try BagMemberships(writer).deleteBag(documentKey)
      else { return false }
      let before = snapshot
      change { $0.detach() }
      context.compensations?.append { self.change { $0.base = before.base } }
      return true
    }
  }
  @discardableResult
  public func delete() async throws -> Bool { try await onWriter { try self.delete() } }

  /// A new bag, unsaved, with another key, the same name, and the same members, saved and unsaved.
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
        // A bag that held itself is held by its copy.
        let isSelf = entry.member == member
        copy.add(entry.member, isSelf ? .bag(self) : entry.content)
      }
      for entry in state.removedEntries {
        _ = copy.remove(entry.member, isSaved: inherited.contains(entry.member))
      }
      return Bag(key: Self.keys.next(), state: copy)
    }
  }
  public func copy() async throws -> Bag { try await onReader { try self.copy() } }
}
