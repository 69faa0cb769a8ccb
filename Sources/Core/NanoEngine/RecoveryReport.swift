// SPDX-License-Identifier: MIT

import NanoDocument

/// A report of what was recovered from a damaged database and what was lost.
public struct RecoveryReport: Sendable, Hashable {
  /// The result for one collection.
  public struct Collection: Sendable, Hashable {
    /// The name of the collection.
    public var name: String
    /// The number of documents in the new database.
    public var saved: Int
    /// The number of documents that were found but could not be recovered. Documents that left no trace are not
    /// counted.
    public var skipped: Int
    /// Creates the result for one collection.
    package init(name: String, saved: Int = 0, skipped: Int = 0) {
      self.name = name
      self.saved = saved
      self.skipped = skipped
    }
  }

  /// A document that was found but could not be recovered.
  public struct SkippedDocument: Sendable, Hashable {
    /// The name of the collection.
    public var collection: String
    /// The row ID of the document.
    public var rowID: Int64
    /// The key of the document; `nil` if it had none or if the key could not be read.
    public var key: String?
    /// Why the document could not be recovered, as a sentence.
    public var reason: String
    /// Creates an entry for a document that could not be recovered.
    package init(collection: String, rowID: Int64, key: String?, reason: String) {
      self.collection = collection
      self.rowID = rowID
      self.key = key
      self.reason = reason
    }
  }

  /// The collections of the new database, sorted by name.
  public var collections: [Collection] = []
  /// The documents that were found but could not be recovered, at most ``maximumListed``. ``Collection/skipped``
  /// counts all of them.
  public var skipped: [SkippedDocument] = []
  /// Everything else that was damaged, lost, or changed: pages, settings, indexes, metadata, and keys that could
  /// not be kept. At most ``maximumListed``.
  public var losses: [VerificationProblem] = []

  /// The maximum length of each list. Arbitrary: more than anyone reads, and small in memory.
  package static let maximumListed = 10_000

  /// Creates an empty report.
  package init() {}

  /// The number of documents in the new database.
  public var saved: Int { collections.reduce(0) { $0 + $1.saved } }
  /// The number of documents that were found but could not be recovered.
  public var skippedCount: Int { collections.reduce(0) { $0 + $1.skipped } }
  /// Whether no damage was found.
  public var isComplete: Bool { skipped.isEmpty && losses.isEmpty }

  /// Records a loss, unless the list is full.
  package mutating func note(_ subject: String, _ message: String) {
    guard losses.count < Self.maximumListed else { return }
    losses.append(VerificationProblem(subject: subject, message: message))
  }
}
