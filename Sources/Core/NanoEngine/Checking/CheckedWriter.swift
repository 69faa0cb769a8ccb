// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// Forwards the calls of a transaction and checks them.
class CheckedWriter: CheckedReader, EngineWriter {
  let writer: any EngineWriter
  /// The largest row ID that this transaction assigned, per collection. Later ones are greater.
  private var lastRowIDs: [ExactName: Int64] = [:]
  /// The collection that was written to last, whose name is valid.
  private var validName: String?

  init(_ writer: any EngineWriter, _ scope: BlockScope, _ reporter: ContractReporter) {
    self.writer = writer
    super.init(writer, scope, reporter)
  }

  /// Wraps a writer, which supports SQL if the original does.
  static func wrapping(
    _ writer: any EngineWriter, _ scope: BlockScope, _ reporter: ContractReporter
  ) -> any EngineWriter {
    guard let sql = writer as? any EngineWriter & SQLReader else {
      return CheckedWriter(writer, scope, reporter)
    }
    return CheckedSQLWriter(sql, scope, reporter)
  }

  override func committedState() throws -> CommittedState? {
    try checked { check in
      let state = try writer.committedState()
      check.require(state == nil, .stateInTransaction)
      return state
    }
  }

  func prepare(_ use: [TransactionUse]) throws {
    try checked { _ in try writer.prepare(use) }
  }

  var preferredBatchSize: Int {
    let count = writer.preferredBatchSize
    if count < 1 { reporter.report(.negativeCount, #function) }
    return count
  }

  func insert(_ document: NewDocument, into collection: String) throws -> Int64 {
    try checked { check in
      let rowID = try writer.insert(document, into: collection)
      noteWritten(to: collection, check)
      noteNew(rowID, of: document, in: collection, check)
      return rowID
    }
  }

  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    try checked { check in
      let before = rowIDs.count
      defer {
        for (document, rowID) in zip(documents, rowIDs.dropFirst(before)) {
          noteNew(rowID, of: document, in: collection, check)
        }
        check.require(rowIDs.count - before <= documents.count, .wrongRowIDCount)
      }
      try writer.insert(documents, into: collection, &rowIDs)
      check.require(rowIDs.count - before == documents.count, .wrongRowIDCount)
      if !documents.isEmpty { noteWritten(to: collection, check) }
    }
  }

  func save(_ document: NewDocument, into collection: String) throws -> Int64 {
    try checked { check in
      let rowID = try writer.save(document, into: collection)
      noteWritten(to: collection, check)
      return rowID
    }
  }

  func save(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    try checked { check in
      let before = rowIDs.count
      defer { check.require(rowIDs.count - before <= documents.count, .wrongRowIDCount) }
      try writer.save(documents, into: collection, &rowIDs)
      check.require(rowIDs.count - before == documents.count, .wrongRowIDCount)
      if !documents.isEmpty { noteWritten(to: collection, check) }
    }
  }

  func nextRowID(in collection: String) throws -> Int64 {
    try checked { check in
      let rowID = try writer.nextRowID(in: collection)
      check.require(rowID > 0, .rowIDNotPositive)
      check.require(rowID > lastRowIDs[collection.folded] ?? 0, .rowIDNotNew)
      return rowID
    }
  }

  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool {
    try checked { _ in try writer.replace(identity, with: document, in: collection) }
  }

  func delete(_ identity: Identity, from collection: String) throws -> Bool {
    try checked { _ in try writer.delete(identity, from: collection) }
  }

  func delete(_ query: Query, from collection: String) throws -> Int {
    try checked { check in
      check.requireCount(try writer.delete(query, from: collection), limit: query.limit)
    }
  }

  func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    try checked { check in
      try forgettingRowIDs(check) { try writer.savepoint { try check.callerClosure(work) } }
    }
  }

  func insertAtomically<Result>(
    _ count: Int, into collection: String, _ work: () throws -> Result
  ) throws -> Result {
    try checked { check in
      try forgettingRowIDs(check) {
        try writer.insertAtomically(count, into: collection) { try check.callerClosure(work) }
      }
    }
  }

  func prepareForOtherUse() throws { try checked { _ in try writer.prepareForOtherUse() } }

  private func forgettingRowIDs<Result>(
    _ check: ContractCheck, _ block: () throws -> Result
  ) throws -> Result {
    do {
      let result = try block()
      check.require(check.count == 1, .blockNotRunOnce)
      return result
    } catch {
      // Row IDs of documents that were rolled back may be assigned again.
      lastRowIDs = [:]
      throw error
    }
  }

  /// Forgets the row IDs of a dropped collection.
  func noteDropped(_ collection: String) { lastRowIDs[collection.folded] = nil }

  func noteWritten(to collection: String, _ check: ContractCheck) {
    if let validName, validName.hasSameBytes(as: collection) { return }
    check.require(StoredNames.isAcceptable(collection), .acceptedInvalidName)
    validName = collection
  }

  private func noteNew(
    _ rowID: Int64, of document: NewDocument, in collection: String, _ check: ContractCheck
  ) {
    let name = collection.folded
    let last = lastRowIDs[name] ?? 0
    if let requested = document.rowID {
      check.require(rowID == requested, .rowIDNotRequested)
    } else {
      check.require(rowID > 0, .rowIDNotPositive)
      check.require(rowID > last, .rowIDNotNew)
    }
    lastRowIDs[name] = max(rowID, last)
  }
}
