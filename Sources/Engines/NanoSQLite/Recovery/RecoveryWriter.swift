// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Writes the recovered documents to a new store and builds the report.
final class RecoveryWriter {
  private let engine: SQLiteEngine
  private let encoding: StoredTextEncoding
  private var pending: [RecoveredDocument] = []
  private var pendingBytes = 0
  private var pendingCollection = ""
  /// Documents whose row IDs are already taken.
  private var displaced: [(RecoveredDocument, collection: String)] = []
  /// The row IDs that they got, by collection.
  private var newRowIDs: [ExactName: [Int64]] = [:]
  private var counts: [ExactName: RecoveryReport.Collection] = [:]
  private(set) var report = RecoveryReport()

  /// The number of document bytes per transaction. Arbitrary: its cost far exceeds that of a commit, and it is
  /// small in memory.
  private static let bytesPerTransaction = 8 << 20

  init(_ engine: SQLiteEngine, _ encoding: StoredTextEncoding) {
    self.engine = engine
    self.encoding = encoding
  }

  func note(_ subject: String, _ message: String) { report.note(subject, message) }

  /// Creates a collection, unless one with an equivalent name exists.
  func begin(_ name: String, _ identity: CollectionIdentity) -> Bool {
    do {
      try engine.write(nil) {
        try $0.createCollection(CollectionDescription(storedName: name, identity: identity))
      }
      counts[ExactName(name)] = RecoveryReport.Collection(name: name)
      return true
    } catch {
      note(name, "the collection cannot be created: \(Self.text(error))")
      return false
    }
  }

  func add(_ row: TreeReader.Row, to collection: String) throws {
    if !pendingCollection.hasSameBytes(as: collection) { try flush() }
    pendingCollection = collection
    do {
      let document = try RecoveredDocument(row, encoding)
      pending.append(document)
      pendingBytes += document.body.count + 64
    } catch {
      skip(row.id, error.key, in: collection, error.reason)
    }
    if pendingBytes >= Self.bytesPerTransaction { try flush() }
  }

  private func flush() throws {
    let (documents, collection) = (pending, pendingCollection)
    pending.removeAll()
    pendingBytes = 0
    guard !documents.isEmpty else { return }
    try engine.write(nil) { writer in
      guard let writer = writer as? SQLiteWriter else { throw SQLiteEngine.closed }
      for document in documents {
        try write(try validated(document, collection, writer), to: collection, writer)
      }
    }
  }

  /// Returns the document in a form that SQLite's functions, which are stricter than the store, can read too.
  private func validated(
    _ document: RecoveredDocument, _ collection: String, _ writer: SQLiteWriter
  ) throws -> RecoveredDocument {
    var document = document
    if let number = document.numericKey {
      // The text under which the document is found in the damaged file, and with which a writer adopts it.
      let text =
        try writer.connection.first(
          SQLFragment("SELECT CAST(? AS TEXT)", [.double(number)])
        ) { $0.text(0) } ?? nil
      document.key = text.flatMap { try? DocumentKey($0) }
    }
    let isValid = try document.body.withUnsafeBytes { body in
      try writer.connection.with("SELECT json_valid(?)") { statement in
        defer { sqlite3_clear_bindings(statement.handle) }
        try statement.bind(borrowedText: body, at: 1)
        return try statement.step() && statement.int(0) != 0
      }
    }
    guard isValid else { return document.rewritten() ?? document }
    return document.inStoredForm()
  }

  private func write(
    _ document: RecoveredDocument, to collection: String, _ writer: SQLiteWriter
  ) throws {
    do {
      try insert(document, rowID: document.rowID, to: collection, writer)
    } catch let error as StoreError where error.code == .duplicateKey {
      try writeBeside(document, to: collection, writer)
    } catch let error as StoreError where Self.concernsDocument(error) {
      return skip(document, in: collection, Self.text(error))
    }
  }

  /// Handles a row ID or key that is already taken, by a second copy of the document or by a different document.
  private func writeBeside(
    _ document: RecoveredDocument, to collection: String, _ writer: SQLiteWriter
  ) throws {
    if let key = document.key, try writer.get(.key(key), in: collection, { _ in }) {
      return try noteCopy(document, .key(key), in: collection, writer)
    }
    var isSame = false
    try writer.get(.rowID(document.rowID), in: collection) { stored in
      isSame = stored.key == document.key && stored.body.elementsEqual(document.body)
    }
    if !isSame { displaced.append((document, collection)) }
  }

  /// Inserts the documents whose row IDs were taken, after all others have theirs.
  private func writeDisplaced() throws {
    let documents = displaced
    displaced.removeAll()
    guard !documents.isEmpty else { return }
    try engine.write(nil) { writer in
      guard let writer = writer as? SQLiteWriter else { throw SQLiteEngine.closed }
      for (document, collection) in documents {
        do {
          try insert(document, rowID: nil, to: collection, writer)
          note(
            collection, "document \(document.rowID) has a new row ID, because its own is taken")
        } catch let error as StoreError where Self.concernsDocument(error) {
          skip(document, in: collection, Self.text(error))
        }
      }
    }
  }

  private func noteCopy(
    _ document: RecoveredDocument, _ identity: Identity, in collection: String,
    _ writer: SQLiteWriter
  ) throws {
    var isSame = false
    try writer.get(identity, in: collection) { stored in
      isSame = stored.body.elementsEqual(document.body)
    }
    if !isSame { skip(document, in: collection, "another document with this key was found first") }
  }

  private func insert(
    _ document: RecoveredDocument, rowID: Int64?, to collection: String, _ writer: SQLiteWriter
  ) throws {
    let id = try document.body.withUnsafeBytes { body in
      try writer.insert(
        NewDocument(
          key: document.key, type: document.type, version: document.version,
          added: document.added ?? 0, rowID: rowID, body: body), into: collection)
    }
    if document.isForeign {
      // A row without a stored form is marked as foreign, so that queries read the body as it is.
      try writer.connection.run(
        SQLFragment(
          "UPDATE \(SQLName.quoted(collection)) SET added = ?, revision = NULL WHERE id = ?",
          [document.added.map { .int($0) } ?? .null, .int(id)]))
    } else if document.added == nil {
      // A row of another program may have no creation date; updating the revision too keeps the row from being
      // marked as foreign.
      try writer.connection.run(
        SQLFragment(
          "UPDATE \(SQLName.quoted(collection)) SET added = NULL, revision = revision + 1 "
            + "WHERE id = ?", [.int(id)]))
    }
    if rowID == nil { newRowIDs[ExactName(collection), default: []].append(id) }
    counts[ExactName(collection)]?.saved += 1
    for loss in document.losses { note(collection, loss) }
  }

  private func skip(_ document: RecoveredDocument, in collection: String, _ reason: String) {
    skip(document.rowID, document.key?.description, in: collection, reason)
  }

  private func skip(_ rowID: Int64, _ key: String?, in collection: String, _ reason: String) {
    counts[ExactName(collection)]?.skipped += 1
    guard report.skipped.count < RecoveryReport.maximumListed else { return }
    report.skipped.append(
      RecoveryReport.SkippedDocument(
        collection: collection, rowID: rowID, key: key, reason: reason))
  }

  /// Whether an error concerns a single document, so that others can still be written.
  private static func concernsDocument(_ error: StoreError) -> Bool {
    [.duplicateKey, .uniqueViolation, .valueNotStorable, .documentTooLarge, .corruptDocument]
      .contains(error.code)
  }

  private static func text(_ error: any Error) -> String {
    (error as? StoreError)?.debugDescription ?? "\(error)"
  }

  /// Writes the remaining documents, before indexes and other definitions are created.
  func endDocuments() throws {
    try flush()
    try writeDisplaced()
  }

  func finish() -> RecoveryReport {
    report.collections = counts.values.sorted { $0.name.isBefore($1.name) }
    return report
  }
}

/// Recovery of settings, indexes, and metadata.
extension RecoveryWriter {
  /// Restores a collection's settings, indexing policy, and highest row ID.
  func configure(_ row: CollectionRow) {
    attempt(row.name, "the settings could not be restored") {
      if !row.settings.isEmpty { try $0.setSettings(row.settings, of: row.name) }
    }
    attempt(row.name, "the highest used row ID could not be restored") { writer in
      guard let writer = writer as? SQLiteWriter else { return }
      try writer.connection.run(
        SQLFragment(
          "UPDATE nano_collections SET high_water = max(high_water, ?) WHERE name = ?",
          [.int(row.highWater), .text(row.name)]))
    }
    attempt(row.name, "the indexing policy could not be restored") {
      if row.indexing != .declared { try $0.setIndexing(row.indexing, in: row.name, nil) }
    }
  }

  /// Restores when documents expire. Those that have expired are deleted when the store is next used.
  ///
  /// - Parameter areAll: Whether no other document with its own row ID expires, although the collection's rule, when it
  ///   was restored, has set a time for each.
  func restoreExpirations(
    _ times: [(rowID: Int64, time: Int64?)], of collection: String, areAll: Bool
  ) {
    guard counts[ExactName(collection)] != nil, areAll || !times.isEmpty else { return }
    attempt(collection, "the expirations could not be restored") { writer in
      if areAll, let writer = writer as? SQLiteWriter {
        let others = newRowIDs[ExactName(collection)] ?? []
        try writer.removeExpirations(from: collection, except: others)
      }
      try writer.setExpirations(times, in: collection)
    }
  }

  func restoreIndex(_ row: IndexRow) {
    guard !row.isUnfinished else { return }
    attempt(row.collection, "the index \(row.name) could not be created") {
      switch row.definition {
      case .index(let index): try $0.createIndex(index, in: row.collection)
      case .text(let index): try $0.createFullTextIndex(index, in: row.collection)
      }
    }
  }

  func restoreMetadata(_ row: MetadataRow) {
    attempt("metadata", "a value could not be restored") { try $0.setMetadata(row.value, row.name) }
  }

  private func attempt(
    _ subject: String, _ loss: String, _ work: (any EngineWriter) throws -> Void
  ) {
    do {
      try engine.write(nil) { writer in
        // No store is open that would remove the references to documents that have expired.
        writer.expiry.keepsExpired = true
        try work(writer)
      }
    } catch {
      note(subject, "\(loss): \(Self.text(error))")
    }
  }
}
