// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentCollection {
  /// Applies writes atomically and idempotently: repeating a batch with the same operation ID
  /// returns its first outcome.
  ///
  /// A caller who does not know whether a batch was applied, because the connection or the process
  /// itself was lost, can therefore send it again. Lost connections and transactions rolled back by
  /// the server are retried automatically for a few seconds.
  ///
  /// ```swift
  /// let id = UUID()                                              // kept until the outcome is received
  /// let outcome = try accounts.apply([
  ///   .replace(["balance": 90], key: "a", revision: 7),
  ///   .replace(["balance": 110], key: "b", revision: 3),
  /// ], operation: id)
  /// outcome.writes.map(\.revision)                               // [8, 4]
  /// outcome.wasApplied                                           // false; true if it is sent again
  /// ```
  ///
  /// - Parameters:
  ///   - writes: The writes, in the order in which they are applied.
  ///   - operation: An id chosen by the caller, unique for each batch. It is stored until
  ///     ``Store/deleteOperationIDs(before:)-(Date)``.
  /// - Returns: The outcome, with the new row IDs and revisions.
  /// - Throws: ``StoreError/Code/revisionConflict`` with the key and the stored revision,
  ///   ``StoreError/Code/duplicateKey``, ``StoreError/Code/notFound`` for a document to be
  ///   replaced, and others: nothing was applied. ``StoreError/Code/outcomeUnknown``: the batch was
  ///   applied completely or not at all; apply it again with the same id.
  @discardableResult
  public func apply(
    _ writes: [DocumentWrite], operation: UUID = UUID()
  ) throws -> BatchOutcome {
    try InternalCollection.refuse(name)
    var prepared: [PreparedWrite] = []
    for write in writes {
      do {
        prepared.append(try PreparedWrite(write, store))
      } catch let error as StoreError {
        throw error.adding(.position, "write \(prepared.count + 1) of the batch")
      }
    }
    return try applyPrepared(prepared, operation)
  }
  /// The asynchronous form of `apply(_:operation:)`, which does not block the calling thread.
  @discardableResult
  public func apply(
    _ writes: [DocumentWrite], operation: UUID = UUID()
  ) async throws -> BatchOutcome {
    try await onWriter { try self.apply(writes, operation: operation) }
  }

  /// What a batch uses, so that an engine with concurrent writers locks it in two round trips.
  private func use(_ writes: [PreparedWrite], operation: DocumentKey) -> [TransactionUse] {
    let operations = InternalCollection.operations.rawValue
    var use = [
      TransactionUse(
        name, keys: writes.compactMap(\.key), newDocuments: writes.count { $0.mayBeNew }),
      TransactionUse(operations, keys: [operation], newDocuments: 1),
    ]
    if writes.contains(where: \.isDelete) { use.append(store.references.use) }
    return use
  }

  private func applyPrepared(
    _ writes: [PreparedWrite], _ operation: UUID
  ) throws -> BatchOutcome {
    try writing(atomic: true, isIdempotent: true) { writer in
      let operations = InternalCollection.operations
      let key = try DocumentKey(operation.uuidString.lowercased())
      try writer.prepare(use(writes, operation: key))
      try writer.createCollection(operations.description)
      var known: BatchOutcome?
      try writer.get(.key(key), in: operations.rawValue) { stored in
        var reader = JSONReader(stored.body)
        known = BatchOutcome(try reader.object(), operation)
      }
      if let known { return known }
      let outcome = BatchOutcome(
        writes: try BatchWriter(self, writer).apply(writes), wasApplied: false,
        operation: operation)
      var json = JSONWriter()
      json.object(outcome.object)
      _ = try writer.insert(
        NewDocument(key: key, added: Clock.microseconds(), body: json.bytes),
        into: operations.rawValue)
      return outcome
    }
  }
}

extension Store {
  /// Deletes the operation IDs of batches applied before a date, and returns how many there were.
  ///
  /// Such a batch would be applied again if it were repeated. A week is longer than any caller
  /// retries.
  @discardableResult
  public func deleteOperationIDs(before moment: Date) throws -> Int {
    let old = Condition.comparison(.attribute(.added), .less, .value(.date(moment)))
    return try writing { try $0.delete(Query(old), from: InternalCollection.operations.rawValue) }
  }
  /// The asynchronous form of `deleteOperationIDs(before:)`, which does not block the calling thread.
  @discardableResult
  public func deleteOperationIDs(before moment: Date) async throws -> Int {
    try await onWriter { try self.deleteOperationIDs(before: moment) }
  }
}

/// A write whose key and fields have been validated.
struct PreparedWrite {
  enum Kind {
    case insert, save
    case replace(Int64)
    case remove(Int64?)
  }
  var kind: Kind
  var mayBeNew: Bool {
    switch kind {
    case .insert, .save: true
    case .replace, .remove: false
    }
  }
  var isDelete: Bool { if case .remove = kind { true } else { false } }
  var key: DocumentKey?
  var body: [UInt8] = []

  init(_ write: DocumentWrite, _ store: Store) throws {
    let object: DocumentObject?
    switch write {
    case .insert(let fields, let key):
      (kind, object) = (.insert, fields)
      self.key = try key.map { try DocumentKey($0) }
    case .save(let fields, let key):
      (kind, object) = (.save, fields)
      self.key = try DocumentKey(key)
    case .replace(let fields, let key, let revision):
      (kind, object) = (.replace(revision), fields)
      self.key = try DocumentKey(key)
    case .delete(let key, let revision):
      (kind, object) = (.remove(revision), nil)
      self.key = try DocumentKey(key)
    }
    guard let object else { return }
    var writer = JSONWriter()
    writer.object(object.withoutRowID)
    try store.checkNames(writer.bytes, key: key)
    try writer.checkStorable(limit: store.maximumDocumentSize)
    body = Array(writer.bytes)
  }
}
