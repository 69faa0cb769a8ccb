// SPDX-License-Identifier: MIT

/// A table or view of the database, as listed by ``SQLReader/tables()``.
public struct SQLTable: Sendable, Hashable {
  /// What a table is used for.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The documents of a collection.
    case collection
    /// Internal data of the store or the database.
    case `internal`
    /// A user-defined table.
    case table
    /// A user-defined view.
    case view
  }

  /// A column of a table.
  public struct Column: Sendable, Hashable {
    /// The name of the column.
    public var name: String
    /// The declared type, as written; empty if none was declared.
    public var type: String
    /// Whether the column is declared `NOT NULL`.
    public var isRequired: Bool
    /// The expression of the default value; `nil` if there is none.
    public var defaultValue: String?
    /// The column's position in the primary key, starting at 1; `nil` if it is not part of the key.
    public var primaryKeyPosition: Int?

    /// Creates a column.
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

  /// An index of a table, created explicitly or as part of the table's declaration.
  public struct Index: Sendable, Hashable {
    /// The name of the index.
    public var name: String
    /// Whether the index rejects duplicates.
    public var isUnique: Bool
    /// Whether the index covers only some rows.
    public var isPartial: Bool
    /// The names of the indexed columns, in order; `nil` for an expression, which ``definition`` contains.
    public var columns: [String?]
    /// The statement that created the index; `nil` for one that belongs to the table's declaration.
    public var definition: String?

    /// Creates an index.
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

  /// The name of the table or view.
  public var name: String
  /// What the table is used for.
  public var kind: Kind
  /// The columns, in order.
  public var columns: [Column]
  /// The indexes, sorted by name.
  public var indexes: [Index]
  /// The statement that created the table or view.
  public var definition: String

  /// Creates a table or view.
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
