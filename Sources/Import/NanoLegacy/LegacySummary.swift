// SPDX-License-Identifier: MIT

/// What an old store contains.
public struct LegacySummary: Sendable, Hashable, Codable {
  /// A class of objects, or a collection.
  public struct Class: Sendable, Hashable, Codable {
    /// The name of the class or collection in the old store.
    public var name: String
    /// The number of its records, whether or not their content can be read.
    public var records: Int
    /// The collection that an import stores it in; nil for bags, which are stored as bags, and for
    /// named values, which are stored as metadata.
    public var collection: String?

    /// Creates a description of a class.
    package init(name: String, records: Int, collection: String?) {
      self.name = name
      self.records = records
      self.collection = collection
    }
  }

  /// The library that wrote the store.
  public var kind: LegacyStore.Kind
  /// The versions of the library that write this format, such as `2.5 or later`.
  public var version: String
  /// The classes or collections, sorted by name.
  public var classes: [Class]
  /// Damage and other facts about the store that affect an import, one sentence each.
  public var notes: [String]

  /// The number of records of all classes.
  public var records: Int { classes.reduce(0) { $0 + $1.records } }

  /// Creates a summary.
  package init(kind: LegacyStore.Kind, version: String, classes: [Class] = [], notes: [String] = [])
  {
    self.kind = kind
    self.version = version
    self.classes = classes
    self.notes = notes
  }
}
