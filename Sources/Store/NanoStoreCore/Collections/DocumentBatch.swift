// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

/// A writer for many documents that share one buffer and one transaction.
///
/// Large batches are buffered and passed to the engine in groups, which costs less. This is not
/// observable: buffered documents are written before the caller's code reads the store, and the
/// error thrown is that of the first document that fails.
@usableFromInline package final class DocumentBatch {
  // Unchecked here and below: access is strictly sequential, and the exclusivity checks took as
  // long as the work.
  @exclusivity(unchecked) private(set) var rowIDs: [Int64] = []
  private let engine: any EngineWriter
  private let mode: WriteMode
  private let name: String
  private let keys: KeyGenerator?
  /// Returns whether documents without a key can have a generated one. Called for the first such document.
  @exclusivity(unchecked) @usableFromInline
  package var acceptsGeneratedKeys: @Sendable () -> Bool = { true }
  private let maximumSize: Int
  private let store: Store
  private let added = Clock.microseconds()

  /// Documents that the engine has not received yet. Their bodies are stored contiguously in
  /// `bodies`.
  @exclusivity(unchecked) private var buffered: [NewDocument] = []
  @exclusivity(unchecked) private var bodies = JSONWriter(capacity: 64)
  /// The transaction that refers to this batch, and the enclosing batch.
  @exclusivity(unchecked) private var context: TransactionContext?
  private var outer: DocumentBatch?
  /// The number of documents passed to the engine at once, and how many are first written one by
  /// one.
  private let groupSize: Int
  private let writtenSingly: Int
  /// The error that makes the whole batch fail, because documents that were added are missing.
  @exclusivity(unchecked) private var failure: (any Error)?

  init(
    _ mode: WriteMode, _ collection: DocumentCollection, _ engine: any EngineWriter, capacity: Int
  ) throws {
    self.mode = mode
    self.engine = engine
    name = collection.name
    store = collection.store
    maximumSize = collection.store.maximumDocumentSize
    keys = try engine.identity(of: collection.name) == .key ? collection.store.keys : nil
    rowIDs.reserveCapacity(capacity)
    groupSize = engine.preferredBatchSize
    // Where each call is a round trip, the first documents are buffered too.
    writtenSingly = groupSize > NewDocument.batchSize ? 0 : Self.writtenSingly
  }

  /// Runs a block that adds documents, and writes those that are still buffered.
  func all(_ fill: (inout JSONWriter) throws -> Void) throws {
    begin()
    var writer = JSONWriter()
    do {
      try fill(&writer)
    } catch {
      // If an earlier, buffered document is rejected, its error takes precedence.
      try flushBuffered()
      throw error
    }
    try flushBuffered()
  }

  /// Adds the contents of the buffer as one document, and empties the buffer.
  ///
  /// - Parameters:
  ///   - key: The key; generated if nil and the collection uses keys.
  ///   - type: The name of the class; nil for the collection's default class.
  ///   - version: The version of the class; nil for its first.
  ///   - given: The insertion time in microseconds since 1970; nil for the start of the batch.
  ///   - rowID: The row ID to use: one from ``DocumentCollection/nextRowID()`` upward, or that of a
  ///     deleted document. If nil, the next row ID.
  /// - Throws: The errors of inserting or saving a single document. If the database rejected a
  ///   document, the whole batch has failed, even if the caller catches the error. A buffered
  ///   document may be rejected by a later call or at the end of the batch.
  @usableFromInline package func add(
    _ writer: inout JSONWriter, key: DocumentKey? = nil, type: String? = nil,
    version: Int64? = nil, added given: Int64? = nil, rowID: Int64? = nil
  ) throws {
    if let failure { throw failure }
    // A rejected document must not precede the next one in the buffer.
    defer { writer.removeAll() }
    try store.checkNames(writer.bytes, key: key)
    try writer.checkStorable(limit: maximumSize)
    let document = NewDocument(
      key: try key ?? newKey(), type: type, version: version,
      added: given ?? added, rowID: rowID, body: writer.bytes)
    if rowIDs.count >= writtenSingly, mode == .insert || writtenSingly == 0 {
      try buffer(document)
    } else {
      try writeSingly(document)
    }
  }

  /// Returns a generated key; nil if documents have row IDs only.
  private func newKey() throws -> DocumentKey? {
    guard let keys else { return nil }
    guard acceptsGeneratedKeys() else { throw StoreError.keyNotGenerated }
    acceptsGeneratedKeys = { true }
    return keys.next(at: UInt64(added) / 1_000)
  }

  /// Replaces the body of a document with the contents of the buffer, and empties the buffer.
  ///
  /// - Parameter revision: The revision that the document must have; nil for any.
  /// - Returns: False if no document has this row ID, or if its revision differs. The document is
  ///   then unchanged.
  /// - Throws: ``StoreError/Code/uniqueViolation`` and others. Nothing was replaced.
  package func replace(
    _ writer: inout JSONWriter, rowID: Int64, revision: Int64?, version: Int64? = nil
  ) throws -> Bool {
    if let failure { throw failure }
    defer { writer.removeAll() }
    try store.checkNames(writer.bytes, key: nil)
    try writer.checkStorable(limit: maximumSize)
    var document = NewDocument(
      key: nil, version: version, added: added, replacedRevision: revision, body: writer.bytes)
    // An object of a context knows its class, but not under which name the document was stored.
    document.keepsType = true
    return try engine.replace(.rowID(rowID), with: document, in: name)
  }

  private func writeSingly(_ document: NewDocument) throws {
    do {
      rowIDs.append(
        mode == .insert
          ? try engine.insert(document, into: name) : try engine.save(document, into: name))
    } catch {
      failure = error
      throw error
    }
  }

  /// The number of documents written one by one first, so that small batches do not pay for
  /// buffering. Arbitrary.
  private static let writtenSingly = 60
}

extension DocumentBatch {
  private func buffer(_ document: consuming NewDocument) throws {
    if buffered.isEmpty { buffered.reserveCapacity(groupSize) }
    bodies.raw(document.body)
    buffered.append(document)
    let isFull = buffered.count == groupSize || bodies.count > Self.maximumBufferedBytes
    if isFull { try flushBuffered() }
  }

  /// The number of buffered bytes that triggers a write; the last document may exceed it.
  /// Arbitrary.
  private static let maximumBufferedBytes = 1 << 20

  /// Lets the transaction call ``prepareForUse()``.
  private func begin() {
    context = TransactionContext.current(of: store)
    outer = context?.batch
    context?.batch = self
  }

  /// Passes the buffered documents to the engine.
  private func flushBuffered() throws {
    if let failure { throw failure }
    guard !buffered.isEmpty else { return }
    defer {
      buffered.removeAll(keepingCapacity: true)
      bodies.removeAll()
    }
    // Bodies have stable addresses only from here on.
    var start = 0
    for index in buffered.indices {
      let end = start + buffered[index].body.count
      buffered[index].body = UnsafeRawBufferPointer(rebasing: bodies.bytes[start..<end])
      start = end
    }
    do {
      switch mode {
      case .insert: try engine.insert(buffered, into: name, &rowIDs)
      case .save: try engine.save(buffered, into: name, &rowIDs)
      }
    } catch {
      failure = error
      throw error
    }
  }

  /// Writes the buffered documents before the caller's code uses the store. A rejected document
  /// makes the batch fail, not the caller's code.
  func prepareForUse() {
    try? flushBuffered()
    do {
      try engine.prepareForOtherUse()
    } catch {
      failure = failure ?? error
    }
  }

  func end() {
    context?.batch = outer
    context = nil
  }
}
