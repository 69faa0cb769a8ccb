// SPDX-License-Identifier: MIT

/// A table or view of the database, as ``SQLReader/tables()`` lists them.
public struct SQLTable: Sendable, Hashable {
  /// Whose it is.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The documents of a collection.
    case collection
    /// What the store or its database keeps for itself.
    case `internal`
    /// A table of your own.
    case table
    /// A view of your own.
    case view
  }

  /// A column of a table.
  public struct Column: Sendable, Hashable {
    public var name: String
    /// The type it was declared with, as it was written; empty if none was.
    public var type: String
    public var isRequired: Bool
    /// The expression that stands for a missing value; nil if there is none.
    public var defaultValue: String?
    /// The place in the primary key, from 1; nil for a column that is not part of it.
    public var primaryKeyPosition: Int?

    package init(
      name: String, type: String, isRequired: Bool, defaultValue: String?, primaryKeyPosition: Int?
    ) {
      self.name = name
      self.type = type
      self.isRequired = isRequired
      self.defaultValue = defaultValue
      self.primaryKeyPosition = primaryKeyPosition
    }
  }

  /// An index of a table, declared by itself or with the table.
  public struct Index: Sendable, Hashable {
    public var name: String
    public var isUnique: Bool
    /// Whether it has entries for some rows only.
    public var isPartial: Bool
    /// The names of its columns in order; nil stands for an expression, which ``definition`` shows.
    public var columns: [String?]
    /// The statement that made it; nil for one that a table brought.
    public var definition: String?

    package init(
      name: String, isUnique: Bool, isPartial: Bool, columns: [String?], definition: String?
    ) {
      self.name = name
      self.isUnique = isUnique
      self.isPartial = isPartial
      self.columns = columns
      self.definition = definition
    }
  }

  public var name: String
  public var kind: Kind
  public var columns: [Column]
  /// By name.
  public var indexes: [Index]
  /// The statement that made it.
  public var definition: String

  package init(
    name: String, kind: Kind, columns: [Column], indexes: [Index], definition: String
  ) {
    self.name = name
    self.kind = kind
    self.columns = columns
    self.indexes = indexes
    self.definition = definition
  }
}
