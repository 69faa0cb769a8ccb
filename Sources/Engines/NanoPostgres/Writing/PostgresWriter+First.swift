// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// What a transaction does first in a collection.
struct FirstUse {
  let collection: PostgresCollection
  var isWhole = false
  /// The keys to lock.
  var keys: [DocumentKey] = []
  /// What it reads then.
  var statements: [PostgresStatement] = []
  /// Whether the second statement reserves row IDs, for the documents of ``keys`` that do not exist, and for others.
  var reservesRowIDs = false
}

extension PostgresWriter {
  /// Begins the transaction with the locks and reads of several collections, in one round trip, on the assumption that
  /// the cached metadata is valid. Returns `nil` if it is not, or if the transaction has begun already.
  ///
  /// - Parameters:
  ///   - uses: Sorted by the names of the collections.
  ///   - missing: The collections that are expected not to exist.
  /// - Returns: The results of the statements of each use.
  func begin(_ uses: [FirstUse], missing: [ExactName] = []) throws -> [[PostgresResult]]? {
    guard !session.hasBegun, tables.isEmpty, absent.isEmpty, !uses.isEmpty else { return nil }
    // All transactions acquire locks in the same order.
    let names = uses.map { ($0.collection.folded, $0.isWhole) } + missing.map { ($0, false) }
    var locked = PostgresSQL()
    for (name, isWhole) in names.sorted(by: { $0.0.text.isBefore($1.0.text) }) {
      locked += ", pg_advisory_xact_lock\(isWhole ? "" : "_shared")("
      locked += .value(.int(core.locks.collection(name))) + ")"
    }
    session.settings = core.writeSettings(locked)
    var statements: [PostgresStatement] = []
    let keys = uses.flatMap { use in
      use.isWhole ? [] : use.keys.map { core.locks.key($0, of: use.collection.folded) }
    }
    if !keys.isEmpty { statements.append(PostgresLocks.acquire(Set(keys).sorted())) }
    let locks = statements.count
    statements += missing.map(core.loader.row) + uses.map { core.loader.row($0.collection.folded) }
    statements += uses.flatMap(\.statements)
    let results: ArraySlice<PostgresResult>
    do {
      let all = try session.run(statements)[locks...]
      guard all.prefix(missing.count).allSatisfy({ $0.count == 0 }) else {
        restart(uses, missing)
        return nil
      }
      results = all.dropFirst(missing.count)
    } catch  where session.failure?.isMissingObject == true {
      restart(uses, missing)
      return nil
    }
    guard zip(uses, results).allSatisfy({ $0.collection.isCurrent($1) }) else {
      restart(uses, missing)
      return nil
    }
    absent = Set(missing)
    for use in uses {
      let table = WriterTable(
        use.collection, isWhole: use.isWhole, core.cache.checkOutPaths(of: use.collection))
      if !use.isWhole { table.lockedKeys = Set(use.keys) }
      tables[use.collection.folded] = table
    }
    for table in tables.values { try sweep(table) }
    var rest = results.dropFirst(uses.count)
    return uses.map { use in
      defer { rest = rest.dropFirst(use.statements.count) }
      return Array(rest.prefix(use.statements.count))
    }
  }

  /// Ends the transaction, which has done nothing yet, so that it begins again with valid metadata.
  private func restart(_ uses: [FirstUse], _ missing: [ExactName]) {
    session.end()
    session.settings = core.writeSettings
    for name in uses.map(\.collection.folded) + missing { core.cache.invalidate(name) }
  }

  func prepare(_ use: [TransactionUse]) throws {
    var uses: [FirstUse] = []
    var missing: [ExactName] = []
    for use in use where !use.collection.utf8.contains(0) {
      let folded = use.collection.folded
      if let collection = core.cache[folded] {
        uses.append(
          FirstUse(use, collection, isWhole: locksWhole(use), at: time(collection)))
      } else if use.newDocuments == 0, core.cache.isMissing(folded) {
        missing.append(folded)
      }
    }
    uses.sort { $0.collection.folded.text.isBefore($1.collection.folded.text) }
    if uses.count + missing.count == use.count, let results = try begin(uses, missing: missing) {
      for (use, results) in zip(uses, results) { note(use, results) }
      return
    }
    let sorted = use.sorted { $0.collection.foldingASCII.isBefore($1.collection.foldingASCII) }
    lockFirst(
      sorted.filter { locksWhole($0) && !$0.collection.utf8.contains(0) }
        .map { core.locks.collection($0.collection.folded) })
    for use in sorted {
      guard let table = try table(use.collection, isWhole: locksWhole(use)) else { continue }
      let first = FirstUse(
        use, table.collection, isWhole: table.isWhole, at: time(table.collection))
      if first.statements.isEmpty { continue }
      let locks = try lock(first.keys, table)
      note(first, Array(try session.run(locks + first.statements).dropFirst(locks.count)))
    }
  }

  /// Whether a use locks the collection as a whole, and not its keys.
  private func locksWhole(_ use: TransactionUse) -> Bool {
    guard let keys = use.keys else { return isSerializable || use.isExclusive }
    let maximum = PostgresLocks.maximumKeys
    return keys.count > maximum && Set(keys).count > maximum
  }

  /// Acquires locks before the transaction gets its ID, if it has not begun; otherwise the caller acquires them.
  func lockFirst(_ locks: [Int64]) {
    guard !session.hasBegun, !locks.isEmpty else { return }
    var locked = PostgresSQL()
    for lock in locks { locked += ", pg_advisory_xact_lock(" + .value(.int(lock)) + ")" }
    session.settings = core.writeSettings(locked)
  }

  private func note(_ use: FirstUse, _ results: [PostgresResult]) {
    guard let table = tables[use.collection.folded], let found = results.first else { return }
    table.known.makeRoom(for: found.count)
    var missing = Set(use.keys)
    var expired: Set<Int64> = []
    // Another transaction may have extended the expiration of a document, or let it expire, before it was locked.
    if use.collection.hasExpirations, let states = results.last {
      for row in 0..<states.count {
        if let text = states.optionalText(row, 1), let key = try? DocumentKey(text) {
          missing.remove(key)
        }
        if states.bool(row, 2) { expired.insert(states.int(row, 0)) }
      }
    }
    for row in 0..<found.count {
      let document = found.withDocument(row, use.collection.incarnation) { KnownDocument($0) }
      if let key = document.key { missing.remove(key) }
      guard !expired.contains(document.rowID) else { continue }
      table.known.note(document)
      noteRead(document, table)
    }
    for key in missing { table.known.noteMissing(key) }
    guard use.reservesRowIDs else { return }
    table.known.reserved = (0..<results[1].count).map { results[1].int($0, 0) }.sorted(by: >)
  }
}

extension FirstUse {
  /// - Parameter time: When expired documents are left out; `nil` if they need not be.
  init(_ use: TransactionUse, _ collection: PostgresCollection, isWhole: Bool, at time: Int64?) {
    self.collection = collection
    self.isWhole = isWhole
    keys = Array(Set(use.keys ?? []))
    guard !use.rowIDs.isEmpty || !keys.isEmpty || use.newDocuments > 0 else { return }
    let isByRowID = !use.rowIDs.isEmpty
    let condition: PostgresSQL =
      isByRowID ? .hasRowID(in: use.rowIDs) : .hasKey(in: keys)
    let visible = collection.isVisible(at: time).map { " AND " + $0 } ?? PostgresSQL()
    let select: PostgresSQL =
      "SELECT \(PostgresQueryCompiler.columns) FROM \(collection.table) WHERE "
    let order: PostgresSQL = isByRowID ? " ORDER BY id FOR UPDATE" : " ORDER BY key FOR UPDATE"
    statements = [(select + condition + visible + order).statement]
    // No other transaction takes row IDs of a collection that is locked as a whole.
    if use.newDocuments > 0, !isWhole, !isByRowID {
      reservesRowIDs = true
      let start: PostgresSQL =
        "SELECT nextval(" + .value(.text(collection.sequence))
        + "::text::regclass) FROM generate_series(1, " + .value(.int(Int64(use.newDocuments)))
      let existing: PostgresSQL =
        " - (SELECT count(*) FROM \(collection.table) WHERE " + condition + "))"
      statements.append((start + existing).statement)
    }
    if let time, let expiry = collection.expiry {
      statements.append(expiry.states(condition, at: time))
    }
  }
}
