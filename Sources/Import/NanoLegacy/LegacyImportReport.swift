// SPDX-License-Identifier: MIT

/// The result of an import: what was stored, what was converted, and what could not be read and
/// why.
public struct LegacyImportReport: Sendable, Hashable, Codable {
  /// A record that was not imported.
  public struct Skipped: Sendable, Hashable, Codable {
    /// The position in the old store, such as `row 17`.
    public var position: String
    /// The key, if it could be read. May contain user data.
    public var key: String?
    /// The reason, as a sentence without its period.
    public var reason: String

    /// Creates a description of a skipped record.
    package init(position: String, key: String? = nil, reason: String) {
      self.position = position
      self.key = key
      self.reason = reason
    }
  }

  /// The result for one class, or one collection.
  public struct Class: Sendable, Hashable, Codable {
    /// The name of the class or collection in the old store.
    public var name: String
    /// The collection that its documents are in; nil for bags and named values.
    public var collection: String?
    /// The number of stored documents, bags or values.
    public var imported = 0
    /// The number of values and records that are stored differently, by the kind of conversion.
    public var conversions: [LegacyConversion: Int] = [:]
    /// The number of records that were not imported.
    public var skipped = 0
    /// The first 10,000 of them.
    public var skippedRecords: [Skipped] = []

    /// Creates an empty result.
    package init(name: String, collection: String?) {
      self.name = name
      self.collection = collection
    }
  }

  /// The library that wrote the old store.
  public var kind: LegacyStore.Kind
  /// The results by class, in the order in which classes were found.
  public var classes: [Class] = []
  /// The number of metadata values that were stored.
  public var metadata = 0
  /// Damage and other facts about the old store, one sentence each.
  public var notes: [String] = []
  /// Whether this call resumed an earlier import.
  public var isResumed = false

  /// The number of stored documents, bags and values of all classes.
  public var imported: Int { classes.reduce(0) { $0 + $1.imported } }
  /// The number of records that were not imported.
  public var skipped: Int { classes.reduce(0) { $0 + $1.skipped } }

  /// Creates an empty report.
  package init(kind: LegacyStore.Kind) { self.kind = kind }

  /// Returns the result for a class, or nil if the old store has no such class.
  public subscript(name: String) -> Class? {
    classes.first { $0.name.utf8.elementsEqual(name.utf8) }
  }

  /// The maximum number of listed records for each class. Arbitrary, so that a file of unreadable
  /// records does not fill the memory.
  static let maximumListed = 10_000
}

/// The progress of an import.
public struct LegacyImportProgress: Sendable, Hashable {
  /// The class that is being imported; nil between classes.
  public var className: String?
  /// The number of documents, bags and values stored so far.
  public var imported: Int
  /// The number of records skipped so far.
  public var skipped: Int
  /// The fraction of the old store that was read, from 0 to 1.
  public var fraction: Double

  /// Creates a progress value.
  package init(className: String?, imported: Int, skipped: Int, fraction: Double) {
    self.className = className
    self.imported = imported
    self.skipped = skipped
    self.fraction = fraction
  }
}
