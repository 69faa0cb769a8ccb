// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoQuery

/// A collection as the engine describes it.
public struct CollectionDescription: Sendable, Hashable {
  /// The name of the collection.
  public var name: String {
    get { exactName.text }
    set { exactName = ExactName(newValue) }
  }
  private var exactName: ExactName
  /// What identifies the collection's documents.
  public var identity: CollectionIdentity
  /// Whether the collection is internal to the store; see ``InternalCollection``.
  ///
  /// An engine creates a collection with a reserved name only if this is set, and sets it in the collections
  /// that it lists.
  public var isInternal: Bool
  /// Creates a description of a collection.
  package init(name: String, identity: CollectionIdentity = .key, isInternal: Bool = false) {
    exactName = ExactName(name)
    self.identity = identity
    self.isInternal = isInternal
  }

  /// Describes a collection that an engine has stored; its name tells whether it is internal.
  package init(storedName name: String, identity: CollectionIdentity?) {
    self.init(
      name: name, identity: identity ?? .key, isInternal: InternalCollection(named: name) != nil)
  }
}

/// What identifies the documents of a collection.
public enum CollectionIdentity: String, Sendable, Hashable, CaseIterable {
  /// A text key, generated if none is given.
  case key
  /// The row ID alone. A document may still have a key, which costs space only where it is given.
  case rowID
}

/// A database index on one or more fields.
public struct IndexDefinition: Sendable, Hashable {
  /// A field of an index and its direction.
  public struct Column: Sendable, Hashable {
    /// The path of the field.
    public var path: FieldPath
    /// Whether the index sorts the field in descending order.
    public var descending: Bool
    /// Creates an index column from a path and a direction.
    public init(_ path: FieldPath, descending: Bool = false) {
      self.path = path
      self.descending = descending
    }

    /// Creates a column from a path, descending if a hyphen precedes it.
    package init(signed path: String) {
      descending = path.utf8.first == UInt8(ascii: "-")
      self.path = FieldPath(descending ? String(path.unicodeScalars.dropFirst()) : path)
    }
  }
  /// What an index has entries for.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// One entry per document, with the stored value of each field.
    case fields
    /// One entry per element of the array in the index's only field.
    case elements

    /// The end of the default name of an index.
    fileprivate var suffix: String {
      switch self {
      case .fields: ""
      case .elements: "_elements"
      }
    }

    /// Whether an index can contain more than one field.
    fileprivate var allowsSeveralFields: Bool {
      switch self {
      case .fields: true
      case .elements: false
      }
    }

    /// The capability of an engine that supports indexes of this kind; empty for one that every engine
    /// supports.
    package func capability(isUnique: Bool) -> Capabilities {
      switch self {
      case .fields: isUnique ? .uniqueIndexes : []
      case .elements: isUnique ? .uniqueElementIndexes : .elementIndexes
      }
    }
  }

  /// The name of the index, unique within its collection.
  public var name: String {
    get { exactName.text }
    set { exactName = ExactName(newValue) }
  }
  private var exactName: ExactName
  /// The fields, most important first.
  public var columns: [Column]
  /// Whether two documents with the same values are rejected.
  public var isUnique: Bool
  /// What the index has entries for.
  public var kind: Kind
  /// Who created the index.
  public var origin: Origin
  /// Why the store created the index, as a sentence; `nil` if it was declared.
  public var reason: String?

  /// Who created an index.
  public enum Origin: String, Sendable, Hashable, CaseIterable {
    /// Created explicitly, and dropped only explicitly.
    case declared
    /// Created by the store for the queries that it observed, and dropped when those queries are no longer
    /// executed.
    case adaptive
  }

  /// Creates an index definition.
  ///
  /// - Parameter name: Derived from the columns if `nil`.
  package init(
    name: String? = nil, columns: [Column], isUnique: Bool = false, kind: Kind = .fields,
    origin: Origin = .declared, reason: String? = nil
  ) {
    self.columns = columns
    self.isUnique = isUnique
    self.kind = kind
    self.origin = origin
    self.reason = reason
    exactName = ExactName(name ?? Self.defaultName(columns, isUnique, kind))
  }

  private static func defaultName(_ columns: [Column], _ isUnique: Bool, _ kind: Kind) -> String {
    let parts = columns.map { $0.path.description + ($0.descending ? "_desc" : "") }
    let suffix = kind.suffix + (isUnique ? "_unique" : "")
    return parts.joined(separator: "_") + suffix
  }

  /// Returns whether both indexes have the same entries, regardless of name, origin, and reason.
  package func hasSameEntries(as other: IndexDefinition) -> Bool {
    columns == other.columns && isUnique == other.isUnique && kind == other.kind
  }

  /// Checks that the index has columns, that their paths are valid, and that no path occurs twice.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument``, also for an index on elements with more than one field; or
  ///   the error of an invalid path.
  package func validate() throws(StoreError) {
    guard !columns.isEmpty else {
      throw StoreError(.invalidArgument, "An index needs at least one field", [.index: name])
    }
    for column in columns { try column.path.validate() }
    guard Set(columns.map(\.path)).count == columns.count else {
      throw StoreError(
        .invalidArgument, "An index cannot contain the same field twice", [.index: name])
    }
    guard kind.allowsSeveralFields || columns.count == 1 else {
      throw StoreError(
        .invalidArgument, "An index on elements must have exactly one field", [.index: name])
    }
  }
}

/// A path in a collection's documents, with every type ever observed there.
public struct ObservedPath: Sendable, Hashable {
  /// The path: names joined by dots, with `[]` after each array that is entered, such as `friends[].name`.
  public var path: String {
    get { exactPath.text }
    set { exactPath = ExactName(newValue) }
  }
  private var exactPath: ExactName
  /// Every type ever observed at the path.
  public var types: ObservedTypes
  /// Creates an observed path.
  package init(path: String, types: ObservedTypes) {
    exactPath = ExactName(path)
    self.types = types
  }
}

/// A set of value types observed at a path.
public struct ObservedTypes: OptionSet, Sendable, Hashable {
  /// The bits of the set.
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
  /// A null.
  public static let null = ObservedTypes(rawValue: 1)
  /// A Boolean.
  public static let bool = ObservedTypes(rawValue: 2)
  /// An integer.
  public static let int = ObservedTypes(rawValue: 4)
  /// A floating-point number.
  public static let double = ObservedTypes(rawValue: 8)
  /// A string.
  public static let string = ObservedTypes(rawValue: 16)
  /// A date.
  public static let date = ObservedTypes(rawValue: 32)
  /// Binary data.
  public static let data = ObservedTypes(rawValue: 64)
  /// A URL.
  public static let url = ObservedTypes(rawValue: 128)
  /// An array.
  public static let array = ObservedTypes(rawValue: 256)
  /// An object.
  public static let object = ObservedTypes(rawValue: 512)
  /// A value whose stored form does not sort in value order: NaN, an infinity, a date between two nanoseconds,
  /// or a string that contains a NUL.
  public static let irregular = ObservedTypes(rawValue: 1024)
  /// An object with too many distinct names to track.
  public static let open = ObservedTypes(rawValue: 2048)

  /// A decimal number.
  public static let decimal = ObservedTypes(rawValue: 4096)

  /// The names of the types, in the sort order of values.
  public var names: [String] {
    let all: [(ObservedTypes, String)] = [
      (.null, "null"), (.bool, "boolean"), (.int, "integer"), (.double, "real"),
      (.decimal, "decimal"), (.date, "date"),
      (.string, "text"), (.url, "url"), (.data, "data"), (.array, "array"), (.object, "object"),
      (.irregular, "irregular"), (.open, "open"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}

/// A description of how a query is executed.
public struct Explanation: Sendable, Hashable {
  /// The statement that the database executes.
  public var statement: String
  /// The database's query plan, one line per step.
  public var plan: [String]
  /// The names of the store's indexes that the plan uses.
  public var indexes: [String]
  /// The part of the condition that is checked on each document that the indexes return; `nil` if there is none.
  public var checkedPerDocument: String?
  /// The fields that the query uses but no document has, each with the most similar existing field; empty for an
  /// empty collection.
  public var unknownFields: [UnknownField] = []
  /// Creates an explanation without unknown fields.
  package init(
    statement: String, plan: [String], indexes: [String], checkedPerDocument: String?
  ) {
    self.statement = statement
    self.plan = plan
    self.indexes = indexes
    self.checkedPerDocument = checkedPerDocument
  }
}

/// A problem found when a database was verified.
public struct VerificationProblem: Sendable, Hashable {
  /// The affected item: a collection, an index, or `file`.
  public var subject: String {
    get { exactSubject.text }
    set { exactSubject = ExactName(newValue) }
  }
  private var exactSubject: ExactName
  /// A description of the problem, as a sentence.
  public var message: String {
    get { exactMessage.text }
    set { exactMessage = ExactName(newValue) }
  }
  private var exactMessage: ExactName
  /// Creates a problem report.
  package init(subject: String, message: String) {
    exactSubject = ExactName(subject)
    exactMessage = ExactName(message)
  }
}

/// Statistics about a database.
public struct EngineStatistics: Sendable, Hashable {
  /// Statistics about one collection.
  public struct Collection: Sendable, Hashable {
    /// The name of the collection.
    public var name: String
    /// The number of documents.
    public var documents: Int
    /// The number of indexes.
    public var indexes: Int
    /// Creates the statistics of one collection.
    package init(name: String, documents: Int, indexes: Int) {
      self.name = name
      self.documents = documents
      self.indexes = indexes
    }
  }
  /// The collections, sorted by name.
  public var collections: [Collection]
  /// The size of the database in bytes, without content that has not been checkpointed yet.
  public var size: Int
  /// The number of those bytes that are unused and that compacting reclaims.
  public var unused: Int
  /// The engine's name and version, such as `SQLite 3.40.1`.
  public var engine: String
  /// The settings in effect, by name.
  public var settings: [String: String]
  /// Creates statistics.
  package init(
    collections: [Collection], size: Int, unused: Int, engine: String, settings: [String: String]
  ) {
    self.collections = collections
    self.size = size
    self.unused = unused
    self.engine = engine
    self.settings = settings
  }
}

/// The destination of a backup.
public struct BackupDestination: Sendable, Hashable {
  /// A file, or a folder in which a file with the source's name is created.
  public var path: String
  /// Whether an existing file is replaced once the backup is complete.
  public var replacing: Bool
  /// Creates a backup destination.
  public init(path: String, replacing: Bool = false) {
    self.path = path
    self.replacing = replacing
  }
}
