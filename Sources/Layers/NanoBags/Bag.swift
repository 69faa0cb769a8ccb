// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
public import NanoStoreCore
import Synchronization

/// An ordered set of documents from any collections, with a key and optionally a name.
///
/// A bag may contain other bags, and itself.
///
/// ```swift
/// let favorites = try store.bag(named: "favorites")
/// try favorites.add(ada)                                   // ada: a Document
/// try favorites.add(Document(["title": "Dune"]), in: "books")
/// try favorites.save()                                     // writes Dune and both memberships
/// try favorites.documents()                                // [ada, Dune]
/// ```
///
/// Changes stay in memory until ``save()-()``. Saved members stay in the store and are read on
/// demand, so opening or adding to a bag of 100,000 documents costs no more than an empty one. Two
/// instances read from the store under the same key see each other's saves.
///
/// You can use a bag from any thread and task. Deleting a document from the store removes it from
/// every bag; removing a document from a bag leaves it in the store. Bags that contain each other
/// and are never saved retain each other until ``undo()``.
public final class Bag: Sendable {
  /// The key of the bag, generated when it is created.
  public let key: String
  let documentKey: DocumentKey
  private let state: Mutex<BagState>

  /// Generates keys for bags and documents that have no store yet.
  static let keys = KeyGenerator()

  /// Creates a bag, which is written to the store when it is saved.
  ///
  /// - Parameters:
  ///   - name: The name, which need not be unique.
  ///   - store: The store to save it in; nil for a bag that receives its store from
  ///     ``Store/save(_:)-(Bag)``.
  public convenience init(name: String? = nil, in store: Store? = nil) {
    self.init(key: Self.keys.next(), state: BagState(store: store, name: name, base: .none))
  }

  init(key: DocumentKey, state: BagState) {
    self.key = key.description
    documentKey = key
    self.state = Mutex(state)
  }

  /// A copy of the current state.
  var snapshot: BagState {
    let state = state.withLock { $0 }
    guard !state.uncommitted.isEmpty else { return state }
    return state.seen(in: state.store?.rollbackActions)
  }
  /// - Parameter change: A closure that must not access this or any other bag, or the store.
  func change<Result: Sendable>(_ change: (inout BagState) -> Result) -> Result {
    state.withLock { change(&$0) }
  }

  var member: BagMember { .bag(documentKey) }

  /// The store of the bag; nil for a new bag that has none yet.
  public var store: Store? { snapshot.store }

  /// The name of the bag, which need not be unique. A change is saved with the bag and reverted by
  /// ``undo()``.
  public var name: String? {
    get { snapshot.name }
    set { change { $0.name = newValue } }
  }

  /// Whether ``save()-()`` has changes of this bag to write: it is new or renamed, or members were
  /// added or removed. False for a new bag after ``undo()``. The changes of bags in it are not
  /// included.
  public var hasUnsavedChanges: Bool { snapshot.hasUnsavedChanges }

  /// Returns whether both bags have the same saved, unsaved and removed members, in any order.
  ///
  /// Names and keys are ignored.
  public func isEqual(to other: Bag) throws -> Bool {
    if self === other { return true }
    return try saved.memberSet() == other.saved.memberSet()
      && unsaved.memberSet() == other.unsaved.memberSet()
      && removed.memberSet() == other.removed.memberSet()
  }
  /// The asynchronous form of `isEqual(to:)`, which does not block the calling thread.
  public func isEqual(to other: Bag) async throws -> Bool {
    try await onReader { try self.isEqual(to: other) }
  }
}

extension Bag: CustomStringConvertible {
  /// The key and the numbers of unsaved changes; never the name, since descriptions end up in logs.
  public var description: String {
    let state = snapshot
    return "Bag(key: \(key), unsaved: \(state.unsaved.count), removed: \(state.removed.count))"
  }
}

extension Bag {
  /// Runs a block with the saved members and the unsaved changes, both as of one moment.
  func reading<Result>(_ work: (BagReader, BagState) throws -> Result) throws -> Result {
    let state = snapshot
    guard let store = state.store else {
      return try work(try BagReader(nil, documentKey, state.base), state)
    }
    return try store.reading(.snapshot) { reader in
      try work(try BagReader(reader, documentKey, state.base), state)
    }
  }

  func onReader<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    guard let store else { return try work() }
    return try await store.onReader(work)
  }

  func onWriter<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    guard let store else { return try work() }
    return try await store.onWriter(work)
  }
}
