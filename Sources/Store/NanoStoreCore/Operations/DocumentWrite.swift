// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// One write of a batch; see ``DocumentCollection/apply(_:operation:)-([DocumentWrite],_)``.
public enum DocumentWrite: Sendable, Hashable {
  /// Inserts a new document under its key or a generated one.
  case insert(DocumentObject, key: String? = nil)
  /// Saves a document, replacing the one with the same key, if any.
  case save(DocumentObject, key: String)
  /// Replaces the document with this key if it has this revision.
  case replace(DocumentObject, key: String, revision: Int64)
  /// Deletes the document with this key, if it exists; with a revision, only if it has this
  /// revision.
  case delete(key: String, revision: Int64? = nil)
}

/// The outcome of a batch of writes.
public struct BatchOutcome: Sendable, Hashable {
  /// The outcome of one write.
  public struct Write: Sendable, Hashable {
    /// The row ID of the document; nil if there was nothing to delete.
    public var rowID: Int64?
    /// The current revision of the document; nil if it was deleted.
    public var revision: Int64?
  }
  /// The outcomes of the writes, in order.
  public var writes: [Write]
  /// Whether the batch had already been applied under the same operation ID.
  ///
  /// It was then not applied again.
  public var wasApplied: Bool
  /// The operation ID under which the outcome is stored.
  public var operation: UUID
}

extension BatchOutcome {
  /// The outcome in the form in which it is stored.
  var object: DocumentObject {
    [
      "writes": .array(
        writes.map {
          .array([$0.rowID.map { .int($0) } ?? nil, $0.revision.map { .int($0) } ?? nil])
        })
    ]
  }

  /// Creates the outcome of a batch that was applied before, from its stored form.
  init(_ object: DocumentObject, _ operation: UUID) {
    writes = (object["writes"]?.array ?? []).map { write in
      Write(rowID: write.array?.first?.int64, revision: write.array?.last?.int64)
    }
    wasApplied = true
    self.operation = operation
  }
}
