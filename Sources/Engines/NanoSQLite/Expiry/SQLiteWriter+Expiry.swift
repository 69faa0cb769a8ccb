// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

extension SQLiteWriter {
  func setExpirations(_ times: [(rowID: Int64, time: Int64?)], in collection: String) throws {
    guard times.contains(where: { $0.time != nil }) else {
      guard let table = try existing(collection), let expiry = table.expiry else { return }
      for (rowID, _) in times { try setExpiration(nil, ofRow: rowID, table, expiry) }
      return
    }
    let expiry = try expirySchema(try tableForWriting(collection))
    let table = try tableForWriting(collection)
    for (rowID, time) in times { try setExpiration(time, ofRow: rowID, table, expiry) }
  }

  /// Removes the expirations of all documents of a collection, except some.
  func removeExpirations(from collection: String, except rowIDs: [Int64]) throws {
    guard let table = try existing(collection), let expiry = table.expiry else { return }
    let list = "[\(rowIDs.map(String.init).joined(separator: ","))]"
    try connection.run(
      SQLFragment(
        "DELETE FROM \(expiry.expirations) WHERE id NOT IN (SELECT value FROM json_each(?))",
        [.text(list)]))
  }

  private func setExpiration(
    _ newTime: Int64?, ofRow rowID: Int64, _ table: CollectionTable, _ expiry: ExpirySchema
  ) throws {
    try connection.with(newTime == nil ? expiry.clear : expiry.set) { statement in
      statement.bind(rowID, at: 1)
      if let newTime { statement.bind(newTime, at: 2) }
      try statement.finish()
    }
    self.expiry.note(newTime)
    if let newTime, newTime <= time { table.hasExpiredRows = true }
  }

  /// Applies the collection's rule to a document that was written.
  @inline(__always)
  func noteExpiration(
    _ body: UnsafeRawBufferPointer, ofRow rowID: Int64, _ table: CollectionTable
  ) throws {
    guard let expiry = table.expiry else { return }
    try applyRule(body, rowID, table, expiry)
  }

  @inline(never)
  private func applyRule(
    _ body: UnsafeRawBufferPointer, _ rowID: Int64, _ table: CollectionTable, _ expiry: ExpirySchema
  ) throws {
    guard let rule = table.settings.expiration else { return }
    // The document is already stored, and would keep an expiration that its fields do not have.
    try connection.completely {
      try setExpiration(try rule.expiration(of: body, at: time), ofRow: rowID, table, expiry)
    }
  }

  /// The same for a document whose row ID is not known.
  func noteExpiration(
    _ body: UnsafeRawBufferPointer, of identity: Identity, _ table: CollectionTable
  ) throws {
    guard table.expiry != nil, table.settings.expiration != nil else { return }
    switch identity {
    case .rowID(let id): try noteExpiration(body, ofRow: id, table)
    case .key(let key):
      try connection.completely {
        let rowID = try connection.with(table, .rowIDOfKey) { statement in
          try statement.bind(key, at: 1)
          return try statement.step() ? statement.int(0) : nil
        }
        if let rowID { try noteExpiration(body, ofRow: rowID, table) }
      }
    }
  }

  /// Returns the definitions of a collection's expirations, creating them if necessary.
  private func expirySchema(_ table: CollectionTable) throws -> ExpirySchema {
    if let expiry = table.expiry { return expiry }
    let name = table.description.name
    let expiry = ExpirySchema(name)
    // Definitions that another program left behind would make the creation fail.
    try connection.execute(expiry.drop)
    // Earlier versions of the library would show documents that have expired.
    try connection.raiseFormat(to: Schema.newestFormatVersion)
    try connection.execute(expiry.create)
    try connection.run(
      SQLFragment(
        "UPDATE nano_collections SET parts = parts | ? WHERE name = ?",
        [.int(AttributeUsage.expiration.rawValue), .text(name)]))
    try nextGeneration(name)
    connection.hasExpirations.set()
    return expiry
  }

  /// Changes the rule of a collection, and applies it to the existing documents that have not expired.
  func setExpirationRule(_ rule: ExpirationRule?, of collection: String) throws {
    let expiry = try expirySchema(try tableForWriting(collection))
    try sweepAll(try tableForWriting(collection))
    try connection.execute(expiry.dropTriggers)
    // Documents that have expired and are not deleted would become visible again.
    try connection.run(
      SQLFragment("DELETE FROM \(expiry.expirations) WHERE expires > ?", [.int(time)]))
    guard let rule else { return }
    try connection.execute(expiry.createTriggers(rule))
    let table = try tableForWriting(collection)
    let name = SQLName.quoted(table.description.name)
    guard case .field = rule else {
      guard
        let time = try rule.expiration(of: UnsafeRawBufferPointer(start: nil, count: 0), at: time)
      else { return }
      try connection.run(
        SQLFragment(
          "INSERT INTO \(expiry.expirations)(id, expires) SELECT id, ? FROM \(name) "
            + "WHERE id NOT IN (SELECT id FROM \(expiry.expirations))", [.int(time)]))
      return self.expiry.note(time)
    }
    try applyToAll(rule, table, expiry)
  }

  private func applyToAll(
    _ rule: ExpirationRule, _ table: CollectionTable, _ expiry: ExpirySchema
  ) throws {
    let name = SQLName.quoted(table.description.name)
    var last: Int64?
    while true {
      let start = last.map { " AND id > \($0)" } ?? ""
      let times = try connection.all(
        SQLFragment(
          "SELECT id, body FROM \(name) WHERE \(expiry.isVisible("?"))\(start) "
            + "ORDER BY id LIMIT \(Self.rowsPerStep)", [.int(time)])
      ) { row in
        // A document that does not decode does not expire.
        (rowID: row.int(0), time: (try? rule.expiration(of: row.bytes(1), at: 0)) ?? nil)
      }
      for (rowID, time) in times where time != nil {
        try setExpiration(time, ofRow: rowID, table, expiry)
      }
      guard times.count == Self.rowsPerStep, let end = times.last?.rowID else { return }
      last = end
      try connection.interruption?.check()
    }
  }

  /// The maximum number of rows in memory. Arbitrary.
  private static let rowsPerStep = 1_000
}

/// Expired documents in a transaction.
extension SQLiteWriter {
  /// Deletes a few expired documents at the first use of a collection.
  func sweep(_ table: CollectionTable) throws {
    guard let expiry = table.expiry else { return }
    table.hasExpiredRows = try hasExpired(expiry)
    guard table.hasExpiredRows, self.expiry.sweeps else { return }
    _ = try sweep(table, expiry, limit: ExpiryLog.step)
    table.hasExpiredRows = try hasExpired(expiry)
  }

  /// Deletes all expired documents, since a unique index could reject a document because of any of them, as those that
  /// a trigger keeps do.
  func sweepAll(_ table: CollectionTable) throws {
    guard table.hasExpiredRows, !self.expiry.keepsExpired, let expiry = table.expiry else { return }
    while try sweep(table, expiry, limit: ExpiryLog.step) == ExpiryLog.step {}
    table.hasExpiredRows = try hasExpired(expiry)
  }

  func sweepExpired(limit: Int, from collection: String) throws -> Int {
    guard let table = try existing(collection), let expiry = table.expiry else { return 0 }
    return try sweep(table, expiry, limit: limit)
  }

  /// Deletes expired documents, and returns their number: less than the limit only if no other can be deleted. A
  /// trigger of the user can keep some (`RAISE(IGNORE)`), which do not keep the others from being deleted.
  private func sweep(_ table: CollectionTable, _ expiry: ExpirySchema, limit: Int) throws -> Int {
    let time = time
    var (deleted, kept) = (0, 0)
    var documents: [Identity] = []
    while deleted < limit {
      let expired = try connection.all(
        SQLFragment(
          expiry.expiredDocuments, [.int(time), .int(Int64(limit - deleted)), .int(Int64(kept))])
      ) { (id: $0.int(0), key: $0.key(1), exists: $0.int(2) != 0) }
      if expired.isEmpty { break }
      for row in expired {
        if !row.exists {
          try setExpiration(nil, ofRow: row.id, table, expiry)
        } else if try delete(.rowID(row.id), table) || !hasRow(row.id, table) {
          documents.append(row.key.map { Identity.key($0) } ?? .rowID(row.id))
        } else {
          kept += 1
          continue
        }
        deleted += 1
      }
    }
    try removed(deleted, from: table)
    if !documents.isEmpty {
      self.expiry.swept.append(
        ExpiryLog.Swept(collection: table.description.name, documents: documents))
    }
    return deleted
  }

  /// Whether there is a row with this ID: the deletion of another one may have fired a trigger that deletes it.
  private func hasRow(_ id: Int64, _ table: CollectionTable) throws -> Bool {
    try connection.with(table, .bodyByRowID) { row in
      row.bind(id, at: 1)
      return try row.step()
    }
  }

  /// Deletes a document that has expired, before another one is written with its key or row ID.
  @inline(__always)
  func removeExpired(_ identity: Identity?, _ table: CollectionTable) throws {
    guard table.hasExpiredRows, let identity else { return }
    try removeExpiredRow(identity, table)
  }

  @inline(never)
  private func removeExpiredRow(_ identity: Identity, _ table: CollectionTable) throws {
    guard let expiry = table.expiry else { return }
    if table.allSchemas.contains(where: { $0.index.isUnique }) {
      try sweepAll(table)
      guard table.hasExpiredRows else { return }
    }
    let time = time
    let rowID = try connection.with(expiry.expiredRow(identity)) { row in
      try bind(identity, row)
      row.bind(time, at: 2)
      return try row.step() ? row.int(0) : nil
    }
    guard let rowID else { return }
    guard try delete(.rowID(rowID), table) || !hasRow(rowID, table) else {
      throw StoreError(
        .database, "A trigger keeps an expired document",
        [.collection: table.description.name, .rowID: "\(rowID)"])
    }
    try removed(1, from: table)
    self.expiry.swept.append(
      ExpiryLog.Swept(collection: table.description.name, documents: [identity]))
  }
}
