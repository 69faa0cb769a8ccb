// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Writes what is recovered into a new store, and the report about it.
final class RecoveryWriter {
  private let engine: SQLiteEngine
  private let encoding: StoredTextEncoding
  private var waiting: [RecoveredDocument] = []
  private var waitingBytes = 0
  private var waitingFor = ""
  /// Those whose row ids another document has.
  private var displaced: [(RecoveredDocument, collection: String)] = []
  private var counts: [ExactName: RecoveryReport.Collection] = [:]
  private(set) var report = RecoveryReport()

  /// Bytes of documents that one transaction takes. Arbitrary: many times what a commit costs, and no matter
  /// for memory.
  private static let bytesPerTransaction = 8 << 20

  init(_ engine: SQLiteEngine, _ encoding: StoredTextEncoding) {
    self.engine = engine
    self.encoding = encoding
  }

  func note(_ subject: String, _ message: String) { report.note(subject, message) }

  /// Makes a collection; one that is there, under whatever spelling, stays as it is.
  func begin(_ name: String, _ identity: CollectionIdentity) -> Bool {
    do {
      let isInternal = InternalCollection(named: name) != nil
      try engine.write(nil) {
        try $0.createCollection(
          CollectionDescription(name: name, identity: identity, isInternal: isInternal))
      }
      counts[ExactName(name)] = RecoveryReport.Collection(name: name)
      return true
    } catch {
      note(name, "the collection cannot be made: \(Self.text(error))")
      return false
    }
  }

  func add(_ row: TreeReader.Row, to collection: String) throws {
    if !waitingFor.isSame(as: collection) { try flush() }
    waitingFor = collection
    do {
      let document = try RecoveredDocument(row, encoding)
      waiting.append(document)
      waitingBytes += document.body.count + 64
    } catch {
      skip(row.id, error.key, in: collection, error.reason)
    }
    if waitingBytes >= Self.bytesPerTransaction { try flush() }
  }

  private func flush() throws {
    let (documents, collection) = (waiting, waitingFor)
    waiting.removeAll()
    waitingBytes = 0
    guard !documents.isEmpty else { return }
    try engine.write(nil) { writer in
      guard let writer = writer as? SQLiteWriter else { throw SQLiteEngine.closed }
      for document in documents {
        try write(try sound(document, collection, writer), to: collection, writer)
      }
    }
  }

  /// The document in a form that SQLite's functions read too, which are stricter than we are.
  private func sound(
    _ document: RecoveredDocument, _ collection: String, _ writer: SQLiteWriter
  ) throws -> RecoveredDocument {
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

  /// The row id or the key is taken: by another copy of the document, or by another document.
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

  /// Writes documents whose row ids were taken, once all others have theirs.
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
            collection, "document \(document.rowID) has got another row id, since its own is taken")
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
    if !isSame { skip(document, in: collection, "a document with this key was found before it") }
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
      // Nothing is concluded from a body without a stored form: queries read it as it is.
      try writer.connection.run(
        SQLFragment(
          "UPDATE \(SQLName.quoted(collection)) SET added = ?, revision = NULL WHERE id = ?",
          [document.added.map { .int($0) } ?? .null, .int(id)]))
    } else if document.added == nil {
      // A row of another program may have no moment; setting the revision too keeps the row ours.
      try writer.connection.run(
        SQLFragment(
          "UPDATE \(SQLName.quoted(collection)) SET added = NULL, revision = revision + 1 "
            + "WHERE id = ?", [.int(id)]))
    }
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

  /// Errors of one document, after which others can be written.
  private static func concernsDocument(_ error: StoreError) -> Bool {
    [.duplicateKey, .uniqueViolation, .valueNotStorable, .documentTooLarge, .corruptDocument]
      .contains(error.code)
  }

  private static func text(_ error: any Error) -> String {
    (error as? StoreError)?.debugDescription ?? "\(error)"
  }

  /// Writes what is left; indexes and the like come afterwards.
  func endDocuments() throws {
    try flush()
    try writeDisplaced()
  }

  func finish() -> RecoveryReport {
    report.collections = counts.values.sorted { $0.name.isBefore($1.name) }
    return report
  }
}

/// What is kept beside documents.
extension RecoveryWriter {
  /// Settings, the indexing policy, and the row ids that were in use.
  func configure(_ row: CollectionRow) {
    attempt(row.name, "the settings are lost") {
      if !row.settings.isEmpty { try $0.setSettings(row.settings, of: row.name) }
    }
    attempt(row.name, "the row ids that were used before are not known") { writer in
      guard let writer = writer as? SQLiteWriter else { return }
      try writer.connection.run(
        SQLFragment(
          "UPDATE nano_collections SET high_water = max(high_water, ?) WHERE name = ?",
          [.int(row.highWater), .text(row.name)]))
    }
    attempt(row.name, "not everything is indexed any more") {
      if row.indexing != .declared { try $0.setIndexing(row.indexing, in: row.name, nil) }
    }
  }

  func make(_ row: IndexRow) {
    guard !row.isUnfinished else { return }
    attempt(row.collection, "the index \(row.name) cannot be made") {
      switch row.definition {
      case .index(let index): try $0.createIndex(index, in: row.collection)
      case .text(let index): try $0.createTextIndex(index, in: row.collection)
      }
    }
  }

  func keep(_ row: MetadataRow) {
    attempt("metadata", "a value is lost") { try $0.setMetadata(row.value, row.name) }
  }

  private func attempt(
    _ subject: String, _ loss: String, _ work: (any EngineWriter) throws -> Void
  ) {
    do { try engine.write(nil, work) } catch { note(subject, "\(loss): \(Self.text(error))") }
  }
}
