// SPDX-License-Identifier: MIT

import NanoDocument

/// What was saved out of a damaged database, and what was not.
public struct RecoveryReport: Sendable, Hashable {
  /// What became of one collection.
  public struct Collection: Sendable, Hashable {
    public var name: String
    /// Documents that are in the new database.
    public var saved: Int
    /// Documents that were found and could not be saved. Those of which nothing was left to be found are
    /// not counted.
    public var skipped: Int
    package init(name: String, saved: Int = 0, skipped: Int = 0) {
      self.name = name
      self.saved = saved
      self.skipped = skipped
    }
  }

  /// A document that was found and could not be saved.
  public struct SkippedDocument: Sendable, Hashable {
    public var collection: String
    public var rowID: Int64
    /// Nil if it had none, or it could not be read.
    public var key: String?
    /// Why, as a sentence.
    public var reason: String
    package init(collection: String, rowID: Int64, key: String?, reason: String) {
      self.collection = collection
      self.rowID = rowID
      self.key = key
      self.reason = reason
    }
  }

  /// The collections of the new database, by name.
  public var collections: [Collection] = []
  /// The first ``maximumListed`` of them; ``Collection/skipped`` counts all.
  public var skipped: [SkippedDocument] = []
  /// What else was damaged, lost or changed: pages, settings, indexes, metadata, keys that could not be
  /// kept. At most ``maximumListed``.
  public var losses: [VerificationProblem] = []

  /// Arbitrary: more than anybody reads, and no matter for memory.
  package static let maximumListed = 10_000

  package init() {}

  /// Documents that are in the new database.
  public var saved: Int { collections.reduce(0) { $0 + $1.saved } }
  /// Documents that were found and could not be saved.
  public var skippedCount: Int { collections.reduce(0) { $0 + $1.skipped } }
  /// Whether nothing was found to be damaged.
  public var isComplete: Bool { skipped.isEmpty && losses.isEmpty }

  /// Notes something that was lost, unless the list is full.
  package mutating func note(_ subject: String, _ message: String) {
    guard losses.count < Self.maximumListed else { return }
    losses.append(VerificationProblem(subject: subject, message: message))
  }
}
