// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery

extension Store {
  /// The bag of this name, the first one saved if there are several; a new one, in the store when it
  /// is saved, if there is none.
  ///
  /// ```swift
  /// let favourites = try store.bag(named: "favourites")
  /// favourites.hasUnsavedChanges                         // true the first time: it is new
  /// ```
  public func bag(named name: String) throws -> Bag {
    try bags(Field("name") == name, limit: 1).first ?? Bag(name: name, in: self)
  }
  public func bag(named name: String) async throws -> Bag {
    try await onReader { try self.bag(named: name) }
  }

  /// The bag with this key; nil if there is none.
  public func bag(key: String) throws -> Bag? { try bags(keys: [key]).first }
  public func bag(key: String) async throws -> Bag? {
    try await onReader { try self.bag(key: key) }
  }

  /// All bags, in the order in which they were saved first.
  public func bags() throws -> [Bag] { try bags(.constant(true)) }
  public func bags() async throws -> [Bag] { try await onReader { try self.bags() } }

  /// The bags that have exactly this name.
  public func bags(named name: String) throws -> [Bag] { try bags(Field("name") == name) }
  public func bags(named name: String) async throws -> [Bag] {
    try await onReader { try self.bags(named: name) }
  }

  /// The bags with these keys, in the order of the keys; a key that no bag has is left out.
  public func bags(keys: [String]) throws -> [Bag] {
    let keys = try keys.map { Identity.key(try DocumentKey($0)) }
    return try reading(.snapshot) { reader in
      try keys.compactMap { try Bag.stored($0, self, reader) }
    }
  }
  public func bags(keys: [String]) async throws -> [Bag] {
    try await onReader { try self.bags(keys: keys) }
  }

  /// The saved bags that hold a document: one look into an index.
  public func bags(containing document: Document) throws -> [Bag] {
    try document.member.map { try bags(containing: $0) } ?? []
  }
  public func bags(containing document: Document) async throws -> [Bag] {
    try await onReader { try self.bags(containing: document) }
  }

  /// The saved bags that hold another one.
  public func bags(containing bag: Bag) throws -> [Bag] { try bags(containing: bag.member) }
  public func bags(containing bag: Bag) async throws -> [Bag] {
    try await onReader { try self.bags(containing: bag) }
  }

  /// The saved bags that hold a document or a bag with this key.
  ///
  /// - Parameter collection: Nil for documents of every collection.
  public func bags(containingKey key: String, in collection: String? = nil) throws -> [Bag] {
    let key = Identity.key(try DocumentKey(key))
    return try reading(.snapshot) { reader in
      let names = try collection.map { [$0] } ?? reader.collections().map(\.name)
      let bags = try names.reduce(into: Set()) { ids, name in
        ids.formUnion(try Bag.holding(BagMember(name, key), reader))
      }
      return try bags.sorted().compactMap { try Bag.stored(.rowID($0), self, reader) }
    }
  }
  public func bags(
    containingKey key: String, in collection: String? = nil
  ) async throws -> [Bag] {
    try await onReader { try self.bags(containingKey: key, in: collection) }
  }

  /// The saved bags that hold a member.
  public func bags(containing member: BagMember) throws -> [Bag] {
    try reading(.snapshot) { reader in
      try Bag.holding(member, reader).sorted()
        .compactMap { try Bag.stored(.rowID($0), self, reader) }
    }
  }
  public func bags(containing member: BagMember) async throws -> [Bag] {
    try await onReader { try self.bags(containing: member) }
  }

  private func bags(_ condition: Condition, limit: Int? = nil) throws -> [Bag] {
    try reading(.call) { reader in
      var found: [Bag] = []
      try reader.find(
        Query(condition, limit: limit), in: InternalCollection.bags.rawValue
      ) { stored in
        if let bag = try Bag(stored, self) { found.append(bag) }
        return true
      }
      return found
    }
  }
}

extension Store {
  /// Saves a bag, and gives it this store if it has none; see ``Bag/save()-()``.
  ///
  /// - Throws: Also ``StoreError/Code/invalidArgument`` if it belongs to another store.
  public func save(_ bag: Bag) throws {
    guard bag.store == nil || bag.store === self else { throw Bag.otherStore }
    try bag.save(in: self)
  }
  public func save(_ bag: Bag) async throws { try await onWriter { try self.save(bag) } }

  /// Removes the bag with this key, and says whether there was one. Its documents stay.
  @discardableResult
  public func deleteBag(key: String) throws -> Bool { try deleteBags(keys: [key]) > 0 }
  @discardableResult
  public func deleteBag(key: String) async throws -> Bool {
    try await onWriter { try self.deleteBag(key: key) }
  }

  /// Removes a bag, and says whether it was there; see ``Bag/remove()-()``.
  ///
  /// - Throws: Also ``StoreError/Code/invalidArgument`` if it belongs to another store.
  @discardableResult
  public func deleteBag(_ bag: Bag) throws -> Bool {
    guard bag.store == nil || bag.store === self else { throw Bag.otherStore }
    return try bag.delete()
  }
  @discardableResult
  public func deleteBag(_ bag: Bag) async throws -> Bool {
    try await onWriter { try self.deleteBag(bag) }
  }

  /// Removes the bags with these keys in one transaction, and says how many there were.
  @discardableResult
  public func deleteBags(keys: [String]) throws -> Int {
    let keys = try keys.map { try DocumentKey($0) }
    return try writing(atomic: true) { writer in
      try keys.reduce(0) { try $0 + (BagMemberships(writer).deleteBag($1) ? 1 : 0) }
    }
  }
  @discardableResult
  public func deleteBags(keys: [String]) async throws -> Int {
    try await onWriter { try self.deleteBags(keys: keys) }
  }
}

extension Bag {
  convenience init?(_ stored: StoredDocument, _ store: Store) throws {
    // A row that another program wrote without a key is no bag.
    guard let key = stored.key else { return nil }
    self.init(
      key: key, state: BagState(store: store, name: try Self.name(stored), base: .stored))
  }

  static func stored(
    _ identity: Identity, _ store: Store, _ reader: any EngineReader
  ) throws -> Bag? {
    var bag: Bag?
    try reader.get(identity, in: InternalCollection.bags.rawValue) {
      bag = try Bag($0, store)
    }
    return bag
  }

  static func name(_ stored: StoredDocument) throws -> String? {
    var json = JSONReader(stored.body)
    return try json.object()["name"]?.string
  }

  /// The row ids of the bags that hold a member.
  fileprivate static func holding(
    _ member: BagMember, _ reader: any EngineReader
  ) throws -> [Int64] {
    var bags: [Int64] = []
    try BagReader.find(Query(Membership.concerns(member)), reader) { bags.append($0.bag) }
    return bags
  }
}
