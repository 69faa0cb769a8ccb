// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import Synchronization

/// An ordered list of documents from any collections, each at most once, under a key and perhaps a
/// name. A bag may hold other bags, and itself.
///
/// ```swift
/// let favourites = try store.bag(named: "favourites")
/// try favourites.add(ada)                                   // ada: a Document
/// try favourites.add(Document(["title": "Dune"]), in: "books")
/// try favourites.save()                                     // writes Dune, and that both are in it
/// try favourites.documents()                                // [ada, Dune]
/// ```
///
/// Changes stay in memory until ``save()-()``; what is saved stays in the store and is read when it
/// is asked for, so that a bag of 100,000 documents costs no more to open or to add to than an
/// empty one. Two bags that were read from the store under one key see each other's saves.
///
/// A bag may be used from any thread and task. Removing a document from the store takes it out of
/// every bag; removing one from a bag leaves it in the store. Bags that hold each other and are
/// never saved keep each other in memory until ``undo()``.
public final class Bag: Sendable {
  /// The bag's identity, made with it.
  public let key: String
  let documentKey: DocumentKey
  private let state: Mutex<BagState>

  /// For bags and documents that have no store yet.
  static let keys = KeyGenerator()

  /// A new bag, in the store when it is saved.
  ///
  /// - Parameters:
  ///   - name: Need not be unique.
  ///   - store: Where it will be saved; nil for a bag that ``Store/save(_:)-(Bag)`` gives a store.
  public convenience init(name: String? = nil, in store: Store? = nil) {
    self.init(key: Self.keys.next(), state: BagState(store: store, name: name, base: .none))
  }

  init(key: DocumentKey, state: BagState) {
    self.key = key.description
    documentKey = key
    self.state = Mutex(state)
  }

  /// As it is now: a copy, which later changes do not reach.
  var snapshot: BagState {
    let state = state.withLock { $0 }
    guard !state.uncommitted.isEmpty else { return state }
    let transaction = state.store.flatMap { TransactionContext.current(of: $0)?.compensations }
    return state.seen(in: transaction)
  }
  /// - Parameter change: Must not use this or another bag, nor the store.
  func change<Result: Sendable>(_ change: (inout BagState) -> Result) -> Result {
    state.withLock { change(&$0) }
  }

  var member: BagMember { .bag(documentKey) }

  /// The store that the bag is saved in; nil for a new one that has none yet.
  public var store: Store? { snapshot.store }

  /// What the bag is called; several may have one name. A change is saved with the bag, and undone
  /// by ``undo()``.
  public var name: String? {
    get { snapshot.name }
    set { change { $0.name = newValue } }
  }

  /// Whether ``save()-()`` has something to write: the bag is new, has another name, or something was
  /// added or removed. Bags within it tell their own.
  public var hasUnsavedChanges: Bool { snapshot.hasUnsavedChanges }

  /// Whether both hold the same: the same saved, the same unsaved and the same removed members, in
  /// whatever order. Names and keys do not count.
  public func isEqual(to other: Bag) throws -> Bool {
    if self === other { return true }
    return try saved.memberSet() == other.saved.memberSet()
      && unsaved.memberSet() == other.unsaved.memberSet()
      && removed.memberSet() == other.removed.memberSet()
  }
  public func isEqual(to other: Bag) async throws -> Bool {
    try await onReader { try self.isEqual(to: other) }
  }
}

extension Bag: CustomStringConvertible {
  /// The key and what is unsaved; never the name, since descriptions end up in logs.
  public var description: String {
    let state = snapshot
    return "Bag(key: \(key), unsaved: \(state.unsaved.count), removed: \(state.removed.count))"
  }
}

extension Bag {
  /// Runs a block with the saved members and the changes, all of one moment.
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
