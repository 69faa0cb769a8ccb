// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension PostgresWriter {
  /// Locks a collection unless it is already locked. Returns `nil` if it does not exist. In a serializable transaction
  /// no other one creates it then.
  ///
  /// - Parameter isWhole: Whether no other transaction may write to the collection.
  func table(_ name: String, isWhole: Bool = false) throws -> WriterTable? {
    let folded = name.folded
    if let table = tables[folded] {
      if isWhole { try lockWhole(table) }
      return table
    }
    // No collection has such a name, and the server rejects it in a text.
    guard !name.utf8.contains(0), isWhole || !absent.contains(folded) else { return nil }
    var isWhole = isWhole
    if core.cache[folded] == nil, dropped[folded] == nil, InternalCollection(named: name) == nil {
      // A collection that is missing is locked as a whole, since it may be created.
      let found = try session.run(core.loader.row(folded))
      guard found.count > 0 || isSerializable || isWhole else { return nil }
      if found.count == 0 { isWhole = true }
    }
    let lock = core.locks.collection(folded)
    let row = try session.run([
      isWhole ? acquire([lock]) : share(lock), core.loader.row(folded),
    ])[1]
    guard row.count > 0 else {
      absent.insert(folded)
      if !redefined.contains(folded) { core.cache.noteMissing(folded) }
      return nil
    }
    let collection = try current(row, folded)
    let table = WriterTable(collection, isWhole: isWhole, core.cache.checkOutPaths(of: collection))
    tables[folded] = table
    try sweep(table)
    return table
  }

  /// Returns the metadata that a catalog row belongs to, from the cache if that is up to date.
  private func current(_ row: PostgresResult, _ folded: ExactName) throws -> PostgresCollection {
    if let cached = core.cache[folded], cached.isCurrent(row) { return cached }
    let definitions = try session.run(core.loader.definitions(folded))
    guard let loaded = try core.loader.collection(row, definitions[...]) else {
      throw StoreError(.database, "A collection could not be read", [.collection: folded.text])
    }
    // Uncommitted definitions must not become visible to other transactions.
    if !redefined.contains(folded) { core.cache.store(loaded) }
    return loaded
  }

  /// Waits until no other transaction writes to the collection, and keeps others from it.
  func lockWhole(_ table: WriterTable) throws {
    guard !table.isWhole else { return }
    let folded = table.collection.folded
    let results = try session.run([
      acquire([core.locks.collection(folded)]), core.loader.row(folded),
    ])
    table.noteWhole()
    if !table.collection.isCurrent(results[1]) { try reloadPaths(table) }
    // Others may have let documents expire since.
    try sweep(table)
  }

  /// Reads the paths that others have added.
  func reloadPaths(_ table: WriterTable) throws {
    let own = pendingPaths(table)
    if !own.isEmpty { _ = try session.run(own) }
    try reload(table)
    table.paths = table.collection.paths.copy()
  }

  /// Locks keys, so that no other transaction inserts a document with one of them.
  func lock(_ keys: [DocumentKey], _ table: WriterTable) throws -> [PostgresStatement] {
    guard !table.isWhole else { return [] }
    let new = keys.filter { !table.lockedKeys.contains($0) }
    guard !new.isEmpty else { return [] }
    guard table.lockedKeys.count + savepoints.count + new.count <= PostgresLocks.maximumKeys else {
      try lockWhole(table)
      return []
    }
    table.lockedKeys.formUnion(new)
    // All transactions acquire them in the same order.
    let numbers = Set(new.map { core.locks.key($0, of: table.collection.folded) })
    return [acquire(numbers.sorted())]
  }

  /// Locks a collection as ``table(_:isWhole:)`` does, and creates it if it does not exist.
  func tableForWriting(_ name: String, isWhole: Bool = false) throws -> WriterTable {
    noteWrite()
    if let table = try table(name, isWhole: isWhole) { return table }
    try createCollection(CollectionDescription(name: name))
    guard let table = try table(name, isWhole: isWhole) else {
      throw StoreError(.database, "A collection could not be created", [.collection: name])
    }
    return table
  }

  /// Reloads definitions after a change.
  func reload(_ table: WriterTable) throws {
    let folded = table.collection.folded
    let results = try session.run([core.loader.row(folded)] + core.loader.definitions(folded))
    if let loaded = try core.loader.collection(results[0], results[1...]) {
      table.collection = loaded
    }
  }

  /// Notes that the transaction changed the definitions, and reloads them.
  func redefine(_ table: WriterTable) throws {
    table.hasNewDefinitions = true
    noteRedefined(table.collection.folded)
    try reload(table)
  }

  /// Returns the next row ID of a collection that is locked as a whole.
  func nextRowID(_ table: WriterTable) throws -> Int64 {
    if let next = table.nextRowID { return next }
    let next = try session.run(table.collection.nextRowID).int(0, 0)
    table.nextRowID = next
    return next
  }

  func nextRowID(in collection: String) throws -> Int64 {
    try nextRowID(try tableForWriting(collection, isWhole: true))
  }

  /// Returns row IDs for new documents.
  func newRowIDs(_ count: Int, _ table: WriterTable) throws -> [Int64] {
    guard !table.isWhole else {
      let next = try nextRowID(table)
      guard next <= Int64.max - Int64(count) else { throw noRowIDs(table, next) }
      return (0..<Int64(count)).map { next + $0 }
    }
    let rows = try session.run(
      PostgresStatement(
        "SELECT nextval($1::text::regclass) FROM generate_series(1, $2)",
        [.text(table.collection.sequence), .int(Int64(count))]))
    return (0..<rows.count).map { rows.int($0, 0) }
  }

  func noRowIDs(_ table: WriterTable, _ id: Int64) -> StoreError {
    StoreError(
      .valueNotStorable, "A row ID leaves no ID for the next document",
      [.collection: table.collection.description.name, .rowID: "\(id)"])
  }
}

extension PostgresCollection {
  /// Whether the metadata belongs to a row of ``CollectionLoader/row(_:)``.
  func isCurrent(_ row: PostgresResult) -> Bool {
    row.count > 0 && row.int(0, 3) == incarnation && row.int(0, 4) == generation
  }
}
