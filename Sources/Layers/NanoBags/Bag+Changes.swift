// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoStoreCore

extension Bag {
  /// Adds a document. Saving the bag also writes the document if it is new, edited, read from another
  /// collection, or not in the store. It replaces the one with its key.
  ///
  /// Adding a document that is already in the bag marks its changed fields to be saved and keeps
  /// its position. A document that was removed from the bag is appended at the end.
  ///
  /// - Parameters:
  ///   - document: The document in its current state. Add it again after changing it.
  ///   - collection: The collection to save it in; nil for the collection that it was read from.
  /// - Returns: The document as it is in the bag. A new document has received a key.
  /// - Throws: ``StoreError/Code/invalidArgument`` for a new document without a collection,
  ///   ``StoreError/Code/partialDocument`` for a document of which only some fields were read, if it
  ///   is edited or was read from another collection, ``StoreError/Code/invalidName``,
  ///   ``StoreError/Code/valueNotStorable``. The bag is unchanged.
  @discardableResult
  public func add(_ document: Document, in collection: String? = nil) throws -> Document {
    let (member, added, isEdited) = try Self.prepared(document, in: collection)
    change { $0.add(member, .document(added, isEdited: isEdited)) }
    return added
  }

  /// Adds documents in order, all or none.
  @discardableResult
  public func add(_ documents: [Document], in collection: String? = nil) throws -> [Document] {
    let prepared = try documents.map { try Self.prepared($0, in: collection) }
    change { state in
      for entry in prepared {
        state.add(entry.member, .document(entry.document, isEdited: entry.isEdited))
      }
    }
    return prepared.map(\.document)
  }

  /// Adds a bag. Its changes are saved with this one. A bag may contain itself, directly or
  /// indirectly.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the two belong to different stores.
  public func add(_ bag: Bag) throws {
    if let store, let other = bag.store, store !== other { throw Self.otherStore }
    change { $0.add(bag.member, bag === self ? .stored : .bag(bag)) }
  }

  static let otherStore = StoreError(
    .invalidArgument, "The bag belongs to a different store",
    [.hint: "save its documents in this store and create a new bag of them"])

  /// Returns the document as it is in the bag, and whether it must be written even if the store has one in its place.
  private static func prepared(
    _ document: Document, in given: String?
  ) throws -> (member: BagMember, document: Document, isEdited: Bool) {
    var header = document.header
    guard let collection = given ?? header.collection else {
      throw StoreError(
        .invalidArgument, "A new document in a bag needs a collection",
        [.hint: "pass the collection when you add it"])
    }
    try StoredNames.validate(collection: collection)
    let isElsewhere = header.collection?.foldingASCII != collection.foldingASCII
    if isElsewhere { header.rowID = nil }
    // One that exists there under its key is a different one.
    let isEdited = document.isEdited || isElsewhere
    if document.isPartial, isEdited { throw DocumentCollection.partial }
    let identity: Identity
    if let key = header.key {
      identity = .key(key)
    } else if let rowID = header.rowID {
      identity = .rowID(rowID)
    } else {
      let key = keys.next()
      identity = .key(key)
      header.key = key
    }
    let member = BagMember(collection, identity)
    guard isElsewhere || document.header.key != header.key else {
      return (member, document, isEdited)
    }
    header.collection = collection
    return (member, try document.with(header), isEdited)
  }
}

extension Bag {
  /// Removes a document from the bag and returns whether it was in it. The document stays in the
  /// store.
  ///
  /// ```swift
  /// try favorites.remove(ada)    // true
  /// try favorites.remove(ada)    // false: no longer in it, and nothing changes
  /// ```
  @discardableResult
  public func remove(_ document: Document) throws -> Bool {
    try remove([document]) > 0
  }
  /// The asynchronous form of `remove(_:)`, which does not block the calling thread.
  @discardableResult
  public func remove(_ document: Document) async throws -> Bool {
    try await onReader { try self.remove(document) }
  }

  /// Removes documents from the bag and returns how many were in it.
  @discardableResult
  public func remove(_ documents: [Document]) throws -> Int {
    try remove { reader, state in
      try documents.flatMap { try $0.members(among: state, reader) }
    }
  }
  /// The asynchronous form of `remove(_:)`, which does not block the calling thread.
  @discardableResult
  public func remove(_ documents: [Document]) async throws -> Int {
    try await onReader { try self.remove(documents) }
  }

  /// Removes the members with this key, and returns whether there were any.
  ///
  /// A key may denote documents of several collections, and a bag.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - collection: The collection of the document; nil for all collections.
  @discardableResult
  public func remove(key: String, in collection: String? = nil) throws -> Bool {
    try remove(keys: [key], in: collection) > 0
  }
  /// The asynchronous form of `remove(key:in:)`, which does not block the calling thread.
  @discardableResult
  public func remove(key: String, in collection: String? = nil) async throws -> Bool {
    try await onReader { try self.remove(key: key, in: collection) }
  }

  /// Removes the members with these keys from the bag and returns how many were in it.
  @discardableResult
  public func remove(keys: [String], in collection: String? = nil) throws -> Int {
    let keys = try keys.map { try DocumentKey($0) }
    return try remove { reader, state in
      try keys.flatMap { try state.members($0, in: collection, reader) }
    }
  }
  /// The asynchronous form of `remove(keys:in:)`, which does not block the calling thread.
  @discardableResult
  public func remove(keys: [String], in collection: String? = nil) async throws -> Int {
    try await onReader { try self.remove(keys: keys, in: collection) }
  }

  /// Removes a bag from this one and returns whether it was in it.
  @discardableResult
  public func remove(_ bag: Bag) throws -> Bool { try remove { _, _ in [bag.member] } > 0 }
  /// The asynchronous form of `remove(_:)`, which does not block the calling thread.
  @discardableResult
  public func remove(_ bag: Bag) async throws -> Bool {
    try await onReader { try self.remove(bag) }
  }

  private func remove(_ choose: (BagReader, BagState) throws -> [BagMember]) throws -> Int {
    try changing { reader, state -> (members: [BagMember], saved: Set<BagMember>) in
      let members = try choose(reader, state)
      return (members, try reader.contained(members))
    } by: { found, state in
      let saved = found.saved.union(state.beingSaved)
      return found.members.reduce(0) { count, member in
        count + (state.remove(member, isSaved: saved.contains(member)) ? 1 : 0)
      }
    }
  }

  /// Reads the bag, and changes it by what was found. Reads again if a save or deletion of the bag
  /// began, committed or was rolled back in between, which moves members between what a reader and
  /// what the state contains.
  func changing<Found, Result: Sendable>(
    _ find: (BagReader, BagState) throws -> Found, by apply: (Found, inout BagState) -> Result
  ) throws -> Result {
    while true {
      if let result = try changingOnce(find, by: apply) { return result }
    }
  }

  /// Does so unless a save or deletion began or ended in between; then returns nil.
  func changingOnce<Found, Result: Sendable>(
    _ find: (BagReader, BagState) throws -> Found, by apply: (Found, inout BagState) -> Result
  ) throws -> Result? {
    let (found, generation) = try reading { reader, state in
      (try find(reader, state), state.generation)
    }
    return change { state in
      state.generation == generation ? apply(found, &state) : nil
    }
  }

  /// Removes all members from the bag. Unsaved members also count as removed.
  public func removeAll() throws {
    try changing { reader, _ in
      try !reader.isEmpty
    } by: { hasSaved, state in
      state.removeAll(hasSaved: hasSaved)
    }
  }
  /// The asynchronous form of `removeAll()`, which does not block the calling thread.
  public func removeAll() async throws { try await onReader { try self.removeAll() } }

  /// Reverts all unsaved changes, including a change of name.
  ///
  /// A new bag becomes empty and has no unsaved changes: saving it writes nothing until it is
  /// changed again. An unsaved copy reverts to the members of the bag that it is a copy of, and
  /// remains unsaved.
  public func undo() { change { $0.undo() } }
}

extension Document {
  /// The document as a member of a bag; nil if it has no identity yet.
  var member: BagMember? {
    guard let collection else { return nil }
    if let key = header.key { return BagMember(collection, .key(key)) }
    return rowID.map { BagMember(collection, .rowID($0)) }
  }

  fileprivate func members(among state: BagState, _ reader: BagReader) throws -> [BagMember] {
    if let member { return [member] }
    return try header.key.map { try state.members($0, in: nil, reader) } ?? []
  }
}

extension BagState {
  /// Returns the members that a key may denote: in one collection, or in all existing ones, sorted
  /// by the bytes of their folded names.
  func members(
    _ key: DocumentKey, in collection: String?, _ reader: BagReader
  ) throws -> [BagMember] {
    if let collection { return [BagMember(collection, .key(key))] }
    let pendingMembers = pending.filter { $0.identity == .key(key) }
    let storedMembers = try reader.names().values.map { BagMember($0, .key(key)) }
    return Set(pendingMembers).union(storedMembers).sorted { $0.exact < $1.exact }
  }
}
