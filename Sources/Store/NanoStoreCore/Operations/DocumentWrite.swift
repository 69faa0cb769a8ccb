// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// One write of a batch that ``DocumentCollection/apply(_:operation:)-([DocumentWrite],_)`` applies.
public enum DocumentWrite: Sendable, Hashable {
  /// A new document, under its key or one that is made for it.
  case insert(DocumentObject, key: String? = nil)
  /// A document in place of the one that has its key, if there is one.
  case save(DocumentObject, key: String)
  /// A document in place of one of this revision.
  case replace(DocumentObject, key: String, revision: Int64)
  /// Removes the document with this key, if there is one; of this revision only, if that is given.
  case delete(key: String, revision: Int64? = nil)
}

/// What became of a batch.
public struct BatchOutcome: Sendable, Hashable {
  /// What became of one write.
  public struct Write: Sendable, Hashable {
    /// The row id; nil where there was nothing to be removed.
    public var rowID: Int64?
    /// The document's revision now; nil if it was removed.
    public var revision: Int64?
  }
  /// One for each write, in order.
  public var writes: [Write]
  /// Whether the batch had been applied before, under the same operation id, and was not applied again.
  public var wasApplied: Bool
  /// The id under which it is remembered.
  public var operation: UUID
}

extension BatchOutcome {
  /// As it is remembered.
  var object: DocumentObject {
    [
      "writes": .array(
        writes.map {
          .array([$0.rowID.map { .int($0) } ?? nil, $0.revision.map { .int($0) } ?? nil])
        })
    ]
  }

  /// What is remembered of a batch.
  init(_ object: DocumentObject, _ operation: UUID) {
    writes = (object["writes"]?.array ?? []).map { write in
      Write(rowID: write.array?.first?.int64, revision: write.array?.last?.int64)
    }
    wasApplied = true
    self.operation = operation
  }
}
