// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

extension PostgresWriter {
  func setExpirations(_ times: [(rowID: Int64, time: Int64?)], in collection: String) throws {
    guard times.contains(where: { $0.time != nil }) else {
      guard let table = try table(collection), table.collection.hasExpirations else { return }
      noteWrite()
      return enqueueExpirations(times, table, locks: true, unlessExpired: !isSerializable)
    }
    let table = try tableForWriting(collection)
    try enableExpirations(table)
    // A serializable transaction that needs the documents has locked them.
    enqueueExpirations(times, table, locks: true, unlessExpired: !isSerializable)
  }

  /// Sets expirations with the next statement.
  ///
  /// - Parameters:
  ///   - locks: Whether the transaction may not have locked the documents. Another one that has locked one relies on it
  ///     not to expire, or may let it expire.
  ///   - unlessExpired: Whether those that have expired stay so.
  private func enqueueExpirations(
    _ times: [(rowID: Int64, time: Int64?)], _ table: WriterTable, locks: Bool = false,
    unlessExpired: Bool = false
  ) {
    guard let definition = table.collection.expiry else { return }
    if locks, !table.isWhole {
      session.enqueue(definition.lock(.hasRowID(in: times.map(\.rowID)), at: nil))
    }
    let expiredAt = unlessExpired ? time : nil
    let set = times.compactMap { row in row.time.map { (rowID: row.rowID, time: $0) } }
    let cleared = times.filter { $0.time == nil }.map(\.rowID)
    if !cleared.isEmpty { session.enqueue(definition.clear(cleared, unlessExpiredAt: expiredAt)) }
    guard !set.isEmpty else { return }
    session.enqueue(definition.set(set, unlessExpiredAt: expiredAt))
    // The timers of other stores may have to be set earlier.
    table.noteUnlistedChange()
    for (_, time) in set {
      expiry.note(time)
      if time <= self.time {
        table.hasExpiredRows = true
        table.known.removeAll()
      }
    }
  }

  /// Applies the collection's rule to documents that were written.
  func noteExpirations(
    _ documents: [(rowID: Int64, document: NewDocument)], _ table: WriterTable
  ) throws {
    guard table.collection.hasExpirations, let rule = table.collection.settings.expiration else {
      return
    }
    enqueueExpirations(
      try documents.map { ($0.rowID, try rule.expiration(of: $0.document.body, at: time)) }, table)
  }

  /// Creates the table of expirations, unless it exists.
  private func enableExpirations(_ table: WriterTable) throws {
    guard !table.collection.hasExpirations else { return }
    try lockWhole(table)
    // Another transaction may have done so in the meantime.
    try reload(table)
    guard !table.collection.hasExpirations else { return }
    guard table.collection.layout != .distributed else {
      throw StoreError(
        .unsupported, "Documents of a distributed collection do not expire",
        [.capability: "expiration", .collection: table.collection.description.name])
    }
    let definition = table.collection.expiryObjects
    _ = try session.run(
      definition.removal + definition.creation + [
        // Earlier versions of the library would show documents that have expired.
        PostgresSchema(names: names).raisingFormat,
        // The new incarnation invalidates metadata that other connections have cached.
        PostgresStatement(
          """
          UPDATE \(names.qualified("nano_collections")) SET settings = $2, incarnation = $3 WHERE folded = $1
          """,
          [
            .exact(table.collection.folded),
            .text(table.collection.settings.storedText(hasExpirations: true)),
            .int(.random(in: 1..<(1 << 62))),
          ]),
      ])
    noteWrite()
    try redefine(table)
    table.known.removeAll()
    core.noteExpirations()
  }

  /// Changes the rule of a collection, and applies it to the existing documents.
  func setExpirationRule(_ rule: ExpirationRule?, _ table: WriterTable) throws {
    try enableExpirations(table)
    guard let definition = table.collection.expiry else { return }
    try delete("true", keys: [], table)
    // Documents that have expired and that a trigger keeps would become visible again.
    _ = try session.run(
      PostgresStatement(
        "DELETE FROM \(definition.expirations) WHERE expires > $1", [.int(time)]))
    guard let rule else { return }
    guard case .field = rule else {
      let empty = UnsafeRawBufferPointer(start: nil, count: 0)
      guard let time = try rule.expiration(of: empty, at: time) else { return }
      expiry.note(time)
      _ = try session.run(
        PostgresStatement(
          """
          INSERT INTO \(definition.expirations) (id, expires) SELECT id, $1 FROM \(definition.table) \
          ON CONFLICT (id) DO NOTHING
          """, [.int(time)]))
      return
    }
    var last: Int64?
    while true {
      let page: PostgresSQL =
        "SELECT \(PostgresQueryCompiler.columns) FROM \(definition.table) "
        + .page(after: last) + " ORDER BY id LIMIT \(Self.rowsPerStep)"
      let rows = try session.run(page.statement)
      guard rows.count > 0 else { return }
      var times: [(rowID: Int64, time: Int64?)] = []
      for row in 0..<rows.count {
        try rows.withDocument(row, nil) { document in
          if let time = try rule.expiration(of: document.body, at: 0) {
            times.append((document.rowID, time))
          }
        }
      }
      enqueueExpirations(times, table, unlessExpired: true)
      last = rows.int(rows.count - 1, 0)
    }
  }

  /// The maximum number of rows in memory. Arbitrary.
  private static let rowsPerStep = 1_000
}

/// Expired documents in a transaction.
extension PostgresWriter {
  /// Deletes a few expired documents when a collection is locked, unless other transactions have locked them.
  func sweep(_ table: WriterTable) throws {
    guard let definition = table.collection.expiry else { return }
    table.hasExpiredRows = true
    guard expiry.sweeps else { return }
    let results = try session.run([
      definition.sweep(at: time, limit: ExpiryLog.step), definition.hasExpired(at: time),
    ])
    note(results[0], table)
    table.hasExpiredRows = results[1].bool(0, 0)
  }

  func sweepExpired(limit: Int, from collection: String) throws -> Int {
    guard let table = try table(collection), let definition = table.collection.expiry else {
      return 0
    }
    return note(try session.run(definition.sweep(at: time, limit: limit)), table)
  }

  /// Records deleted documents, and returns their number.
  @discardableResult
  private func note(_ rows: PostgresResult, _ table: WriterTable) -> Int {
    guard rows.count > 0 else { return 0 }
    noteWrite()
    var documents: [Identity] = []
    for row in 0..<rows.count {
      table.note(rows.int(row, 0), .deleted)
      let key = rows.isNull(row, 1) ? nil : try? DocumentKey(rows.text(row, 1))
      documents.append(key.map { .key($0) } ?? .rowID(rows.int(row, 0)))
    }
    table.known.removeAll()
    expiry.swept.append(
      ExpiryLog.Swept(collection: table.collection.description.name, documents: documents))
    return rows.count
  }

  /// Deletes all expired documents, before a unique index is built. Waits for transactions that have locked them.
  func sweepAll(_ table: WriterTable) throws {
    if table.hasExpiredRows { try delete("true", keys: [], table) }
  }

  /// Deletes documents that have expired, before others are written with their keys or row IDs. Waits for transactions
  /// that have locked them, which may delete them or extend their expirations.
  ///
  /// - Parameters:
  ///   - locksKeys: Whether the keys are locked, whether or not the documents have expired.
  ///   - locksOthers: Whether documents that have not expired are locked. Waits for transactions that have locked them,
  ///     which may let them expire.
  /// - Throws: ``StoreError/Code/database`` if a trigger or a policy of another program keeps one.
  @discardableResult
  func removeExpired(
    _ identities: [Identity], _ table: WriterTable, locksKeys: Bool = false,
    locksOthers: Bool = false
  ) throws -> ExpiredDocuments {
    guard table.mayHaveExpiredRows, let definition = table.collection.expiry else {
      return .unknown
    }
    // The transaction has locked the documents and keys that it knows.
    let unknown = identities.filter { if case .unknown = table.known[$0] { true } else { false } }
    let (keys, rowIDs) = unknown.reduce(into: ([DocumentKey](), [Int64]())) { found, identity in
      switch identity {
      case .key(let key): found.0.append(key)
      case .rowID(let id): found.1.append(id)
      }
    }
    var conditions: [PostgresSQL] = []
    if !keys.isEmpty { conditions.append(.hasKey(in: keys)) }
    if !rowIDs.isEmpty { conditions.append(.hasRowID(in: rowIDs)) }
    guard !conditions.isEmpty else { return .unknown }
    // Keys are locked before rows. Those of documents that have not expired must not be locked for this alone: the
    // transaction may have locked their rows, for which the one that holds the key would wait.
    var first = locksKeys ? try lock(keys, table) : []
    let keyLocks = first.count
    if locksOthers, !table.isWhole {
      first += conditions.map { definition.lock($0, at: time) }
    }
    // Only of a document that is locked it is certain that it does not expire.
    let results = try session.run(first + conditions.map { definition.states($0, at: time) })
    let rows = results.dropFirst(first.count).flatMap { rows in
      (0..<rows.count).map {
        (id: rows.int($0, 0), key: rows.optionalText($0, 1), hasExpired: rows.bool($0, 2))
      }
    }
    let expired = rows.filter(\.hasExpired)
    guard !expired.isEmpty else { return rows.isEmpty ? .unknown : .none }
    // Until this transaction ends, a row that it has locked keeps others from inserting the key. The one that holds the
    // key waits for the row.
    let locked = Set(
      results[keyLocks..<first.count].flatMap { rows in (0..<rows.count).map { rows.int($0, 0) } })
    let unlocked = Set(
      expired.filter { !locked.contains($0.id) }.compactMap(\.key).map { ExactName($0) })
    let hasExpired = PostgresSQL.hasRowID(in: expired.map(\.id))
    let deleted = try delete(
      "t." + hasExpired, keys: keys.filter { unlocked.contains(ExactName($0.description)) }, table)
    if deleted < expired.count {
      let rest = try session.run(definition.states(hasExpired, at: time))
      guard !(0..<rest.count).contains(where: { rest.bool($0, 2) }) else {
        throw StoreError(
          .database, "A trigger or policy keeps an expired document",
          [.collection: table.collection.description.name])
      }
    }
    return deleted > 0 ? .deleted : .unknown
  }

  /// Deletes documents that have expired, unless another transaction has extended their expirations.
  ///
  /// - Parameters:
  ///   - condition: Names the columns of a document with the prefix `t`.
  ///   - keys: Those of rows that the transaction has not locked.
  /// - Returns: The number of deleted documents.
  @discardableResult
  func delete(_ condition: PostgresSQL, keys: [DocumentKey], _ table: WriterTable) throws -> Int {
    guard let definition = table.collection.expiry else { return 0 }
    let locks = try lock(keys, table)
    let results = try session.run(
      locks + [definition.remove(condition, at: time), definition.hasExpired(at: time)])
    table.hasExpiredRows = results[locks.count + 1].bool(0, 0)
    return note(results[locks.count], table)
  }
}

/// What a transaction knows of documents that may have expired.
enum ExpiredDocuments {
  /// At least one was deleted.
  case deleted
  /// There are documents, and none has expired.
  case none
  /// There is no document, or others have changed it.
  case unknown
}

extension CollectionSettings {
  /// The settings as the catalog stores them.
  func storedText(hasExpirations: Bool) -> String {
    var object = object
    if hasExpirations { object[PostgresCollection.expirationsField] = true }
    return object.storedText
  }
}
