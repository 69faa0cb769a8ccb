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
      return enqueueExpirations(times, table)
    }
    let table = try tableForWriting(collection)
    try enableExpirations(table)
    enqueueExpirations(times, table)
  }

  /// Sets expirations with the next statement.
  private func enqueueExpirations(_ times: [(rowID: Int64, time: Int64?)], _ table: WriterTable) {
    guard let definition = table.collection.expiry else { return }
    let set = times.compactMap { row in row.time.map { (rowID: row.rowID, time: $0) } }
    let cleared = times.filter { $0.time == nil }.map(\.rowID)
    if !cleared.isEmpty { session.enqueue(definition.clear(cleared)) }
    guard !set.isEmpty else { return }
    session.enqueue(definition.set(set))
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
    // Otherwise, documents that have already expired would become visible again.
    _ = note(try session.run(definition.remove("true", at: time)), table)
    _ = try session.run(.once("DELETE FROM \(definition.expirations)"))
    guard let rule else { return }
    guard case .field = rule else {
      let empty = UnsafeRawBufferPointer(start: nil, count: 0)
      guard let time = try rule.expiration(of: empty, at: time) else { return }
      expiry.note(time)
      _ = try session.run(
        PostgresStatement(
          "INSERT INTO \(definition.expirations) (id, expires) SELECT id, $1 FROM \(definition.table)",
          [.int(time)]))
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
      enqueueExpirations(times, table)
      last = rows.int(rows.count - 1, 0)
    }
  }

  /// The maximum number of rows in memory. Arbitrary.
  private static let rowsPerStep = 1_000
}

/// Expired documents in a transaction.
extension PostgresWriter {
  /// Deletes a few expired documents at the first use of a collection. Those that another transaction deletes are left
  /// to it.
  func sweep(_ table: WriterTable) throws {
    guard table.collection.hasExpirations else { return }
    table.hasExpiredRows = true
    guard expiry.sweeps else { return }
    table.hasExpiredRows = try sweep(table, limit: ExpiryLog.step) == ExpiryLog.step
  }

  func sweepExpired(limit: Int, from collection: String) throws -> Int {
    guard let table = try table(collection) else { return 0 }
    return try sweep(table, limit: limit)
  }

  private func sweep(_ table: WriterTable, limit: Int) throws -> Int {
    guard let definition = table.collection.expiry else { return 0 }
    return note(try session.run(definition.sweep(at: time, limit: limit)), table)
  }

  /// Records deleted documents, and returns their number.
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

  /// Deletes all expired documents, since a unique index could reject a document because of any of them.
  func sweepAll(_ table: WriterTable) throws {
    guard table.hasExpiredRows, let definition = table.collection.expiry else { return }
    _ = note(try session.run(definition.remove("true", at: time)), table)
    table.hasExpiredRows = false
  }

  /// Deletes documents that have expired, before others are written with their keys or row IDs.
  func removeExpired(_ identities: [Identity], _ table: WriterTable) throws {
    guard table.hasExpiredRows, let definition = table.collection.expiry else { return }
    if table.collection.hasUniqueIndexes { return try sweepAll(table) }
    let (keys, rowIDs) = identities.reduce(into: ([String](), [Int64]())) { found, identity in
      switch identity {
      case .key(let key): found.0.append(key.description)
      case .rowID(let id): found.1.append(id)
      }
    }
    if !keys.isEmpty {
      let condition = "key = ANY(" + PostgresSQL.value(.texts(keys.map { $0 })) + ")"
      _ = note(try session.run(definition.remove(condition, at: time)), table)
    }
    if !rowIDs.isEmpty {
      let condition = "id = ANY(" + PostgresSQL.value(.ints(rowIDs.map { $0 })) + ")"
      _ = note(try session.run(definition.remove(condition, at: time)), table)
    }
  }
}

extension CollectionSettings {
  /// The settings as the catalog stores them.
  func storedText(hasExpirations: Bool) -> String {
    var object = object
    if hasExpirations { object[PostgresCollection.expirationsField] = true }
    return object.storedText
  }
}
