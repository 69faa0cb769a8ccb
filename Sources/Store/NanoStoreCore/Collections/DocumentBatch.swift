// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

/// Documents that are written one after the other with one buffer, in one transaction.
///
/// Of many, some are gathered and handed to the engine together, which costs it less. Nobody sees the
/// difference: what is gathered is written before code of the caller looks at the store, and an error
/// is that of the first document that has one.
@usableFromInline package final class DocumentBatch {
  // Unchecked here and below: each is changed by one short step after the other, and checking took as long as
  // the steps.
  @exclusivity(unchecked) private(set) var rowIDs: [Int64] = []
  private let engine: any EngineWriter
  private let mode: WriteMode
  private let name: String
  private let keys: KeyGenerator?
  private let maximumSize: Int
  private let store: Store
  private let added = Clock.microseconds()

  /// What the engine does not have yet; the bodies stand one after the other in `bodies`.
  @exclusivity(unchecked) private var gathered: [NewDocument] = []
  @exclusivity(unchecked) private var bodies = JSONWriter(capacity: 64)
  /// The transaction that knows of it, while documents are gathered, and the batch around this one.
  @exclusivity(unchecked) private var context: TransactionContext?
  private var outer: DocumentBatch?
  /// Documents that are handed to the engine together, and those before them that are not gathered.
  private let together: Int
  private let writtenSingly: Int
  /// Why it cannot be finished: documents that were added are missing.
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
    together = engine.documentsTogether
    // Where each call is a round trip, the first documents wait for the others too.
    writtenSingly = together > NewDocument.together ? 0 : Self.writtenSingly
  }

  /// Runs a block that adds documents, and writes what is left of them.
  func all(_ fill: (inout JSONWriter) throws -> Void) throws {
    var writer = JSONWriter()
    do {
      try fill(&writer)
    } catch {
      // A document before the one at fault may be refused; then it is told of that.
      try writeGathered()
      throw error
    }
    try writeGathered()
  }

  /// Writes what the buffer holds as one document, and empties the buffer.
  ///
  /// - Parameters:
  ///   - key: Made where documents have keys, if nil.
  ///   - type: The name of the class; nil for the collection's own.
  ///   - version: The version of the class; nil for its first.
  ///   - given: Microseconds since 1970; the moment at which the batch was begun if nil.
  ///   - rowID: The row id that the document is to have, one of those from
  ///     ``DocumentCollection/nextRowID()`` on or of a removed document; the next one if nil.
  /// - Throws: As inserting or saving a single document does. Where the database refused the document, the
  ///   batch as a whole has failed, also if the error is caught; of documents that are gathered, one may be
  ///   refused by a later call or at the end.
  @usableFromInline package func add(
    _ writer: inout JSONWriter, key: DocumentKey? = nil, type: String? = nil,
    version: Int64? = nil, added given: Int64? = nil, rowID: Int64? = nil
  ) throws {
    if let failure { throw failure }
    // What is refused must not stand before the next document.
    defer { writer.removeAll() }
    try store.checkNames(writer.bytes)
    try writer.checkStorable(limit: maximumSize)
    let document = NewDocument(
      key: key ?? keys?.next(at: UInt64(added) / 1_000), type: type, version: version,
      added: given ?? added, rowID: rowID, body: writer.bytes)
    if rowIDs.count >= writtenSingly, mode == .insert || writtenSingly == 0 {
      try gather(document)
    } else {
      try writeSingly(document)
    }
  }

  /// Replaces the body of a document by what the buffer holds, and empties the buffer.
  ///
  /// - Parameter revision: The revision that the document must have; any if nil.
  /// - Returns: False if there is no document with this row id, or one of another revision. It stays what it is.
  /// - Throws: ``StoreError/Code/uniqueViolation`` and others. Nothing was replaced.
  package func replace(
    _ writer: inout JSONWriter, rowID: Int64, revision: Int64?, version: Int64? = nil
  ) throws -> Bool {
    if let failure { throw failure }
    defer { writer.removeAll() }
    try store.checkNames(writer.bytes)
    try writer.checkStorable(limit: maximumSize)
    return try engine.replace(
      .rowID(rowID),
      with: NewDocument(
        key: nil, version: version, added: added, replacedRevision: revision, body: writer.bytes),
      in: name)
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

  /// Documents that are not gathered, so that small batches pay nothing for it. Arbitrary.
  private static let writtenSingly = 60
}

extension DocumentBatch {
  private func gather(_ document: NewDocument) throws {
    if context == nil { begin() }
    bodies.raw(document.body)
    gathered.append(document)
    let isFull = gathered.count == together || bodies.count > Self.maximumGathered
    if isFull { try writeGathered() }
  }

  /// Bytes that are gathered at most, and one document more. Arbitrary.
  private static let maximumGathered = 1 << 20

  private func begin() {
    context = TransactionContext.current(of: store)
    outer = context?.batch
    context?.batch = self
    gathered.reserveCapacity(together)
  }

  /// Hands out what is gathered.
  private func writeGathered() throws {
    if let failure { throw failure }
    guard !gathered.isEmpty else { return }
    defer {
      gathered.removeAll(keepingCapacity: true)
      bodies.removeAll()
    }
    // Only now do the bodies stay where they are.
    var start = 0
    for index in gathered.indices {
      let end = start + gathered[index].body.count
      gathered[index].body = UnsafeRawBufferPointer(rebasing: bodies.bytes[start..<end])
      start = end
    }
    do {
      switch mode {
      case .insert: try engine.insert(gathered, into: name, &rowIDs)
      case .save: try engine.save(gathered, into: name, &rowIDs)
      }
    } catch {
      failure = error
      throw error
    }
  }

  /// Code of the caller is about to use the store. What is refused fails the batch, not that code.
  func prepareForUse() {
    guard failure == nil else { return }
    try? writeGathered()
  }

  func end() {
    context?.batch = outer
    context = nil
  }
}
