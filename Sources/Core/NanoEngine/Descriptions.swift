// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoQuery

/// A collection as the engine keeps it.
public struct CollectionDescription: Sendable, Hashable {
  public var name: String {
    get { exactName.text }
    set { exactName = ExactName(newValue) }
  }
  private var exactName: ExactName
  /// What its documents are known by.
  public var identity: CollectionIdentity
  /// Whether it is one of the store's own, see ``InternalCollection``. Engines make a collection of
  /// such a name only if this is set, and set it in what they list.
  public var isInternal: Bool
  package init(name: String, identity: CollectionIdentity = .key, isInternal: Bool = false) {
    exactName = ExactName(name)
    self.identity = identity
    self.isInternal = isInternal
  }
}

/// What a collection's documents are known by.
public enum CollectionIdentity: String, Sendable, Hashable, CaseIterable {
  /// A text key, made when none is given.
  case key
  /// The row id alone; a key may still be given, and costs only where it is.
  case rowID
}

/// An index by fields, kept by the database itself.
public struct IndexDefinition: Sendable, Hashable {
  /// A field of an index, and its direction.
  public struct Column: Sendable, Hashable {
    public var path: FieldPath
    public var descending: Bool
    public init(_ path: FieldPath, descending: Bool = false) {
      self.path = path
      self.descending = descending
    }

    /// A path, descending if a hyphen stands before it.
    package init(signed path: String) {
      descending = path.utf8.first == UInt8(ascii: "-")
      self.path = FieldPath(descending ? String(path.unicodeScalars.dropFirst()) : path)
    }
  }
  /// What an index has an entry for.
  public enum Kind: String, Sendable, Hashable {
    /// One entry for each document, under the value of each field as it stands.
    case fields
    /// One entry for each element of the array that the one field holds.
    case elements
  }

  public var name: String {
    get { exactName.text }
    set { exactName = ExactName(newValue) }
  }
  private var exactName: ExactName
  /// The fields, most important first.
  public var columns: [Column]
  /// Whether no two documents may have the same values.
  public var isUnique: Bool
  public var kind: Kind
  /// Who wanted it.
  public var origin: Origin
  /// Why the store made it, as a sentence; nil if it was declared.
  public var reason: String?

  /// Who wanted an index.
  public enum Origin: String, Sendable, Hashable, CaseIterable {
    /// Somebody made it; only somebody drops it.
    case declared
    /// The store made it for the queries that it saw, and drops it when they are no longer asked.
    case adaptive
  }

  /// - Parameter name: made from the columns if nil.
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
    let suffix = (kind == .elements ? "_elements" : "") + (isUnique ? "_unique" : "")
    return parts.joined(separator: "_") + suffix
  }

  /// Whether both have the same entries, whatever they are called and whoever wanted them.
  package func isSame(as other: IndexDefinition) -> Bool {
    columns == other.columns && isUnique == other.isUnique && kind == other.kind
  }

  /// Throws if there is no column, a path is not one, or a path stands twice.
  package func validate() throws(StoreError) {
    guard !columns.isEmpty else {
      throw StoreError(.invalidArgument, "An index needs a field", [.index: name])
    }
    for column in columns { try column.path.validate() }
    guard Set(columns.map(\.path)).count == columns.count else {
      throw StoreError(.invalidArgument, "An index names a field twice", [.index: name])
    }
    guard kind == .fields || columns.count == 1 else {
      throw StoreError(.invalidArgument, "An index on elements takes one field", [.index: name])
    }
  }
}

/// A path that documents hold, with every type that was ever seen there.
public struct ObservedPath: Sendable, Hashable {
  /// Names joined by dots, `[]` behind each array that is entered: `friends[].name`.
  public var path: String {
    get { exactPath.text }
    set { exactPath = ExactName(newValue) }
  }
  private var exactPath: ExactName
  /// Every type ever seen there.
  public var types: ObservedTypes
  package init(path: String, types: ObservedTypes) {
    exactPath = ExactName(path)
    self.types = types
  }
}

/// A set of the types that values can have.
public struct ObservedTypes: OptionSet, Sendable, Hashable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
  public static let null = ObservedTypes(rawValue: 1)
  public static let bool = ObservedTypes(rawValue: 2)
  public static let int = ObservedTypes(rawValue: 4)
  public static let double = ObservedTypes(rawValue: 8)
  public static let string = ObservedTypes(rawValue: 16)
  public static let date = ObservedTypes(rawValue: 32)
  public static let data = ObservedTypes(rawValue: 64)
  public static let url = ObservedTypes(rawValue: 128)
  public static let array = ObservedTypes(rawValue: 256)
  public static let object = ObservedTypes(rawValue: 512)
  /// NaN, an infinity, a date between two nanoseconds or a text with a NUL: values whose stored form
  /// does not sort.
  public static let irregular = ObservedTypes(rawValue: 1024)
  /// So many different names stand below that they are not kept.
  public static let open = ObservedTypes(rawValue: 2048)

  /// The names of the types, in sort order of values.
  public var names: [String] {
    let all: [(ObservedTypes, String)] = [
      (.null, "null"), (.bool, "boolean"), (.int, "integer"), (.double, "real"), (.date, "date"),
      (.string, "text"), (.url, "url"), (.data, "data"), (.array, "array"), (.object, "object"),
      (.irregular, "irregular"), (.open, "open"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}

/// How a query will run.
public struct Explanation: Sendable, Hashable {
  /// The statement that the database runs.
  public var statement: String
  /// The database's plan, a line a step.
  public var plan: [String]
  /// The names of our indexes that the plan uses.
  public var indexes: [String]
  /// What is left to be checked on each document that the indexes give; nil if nothing is.
  public var checkedPerDocument: String?
  /// The fields that the query uses and that no document has, each with the most similar one; empty for an
  /// empty collection.
  public var unknownFields: [UnknownField] = []
  package init(
    statement: String, plan: [String], indexes: [String], checkedPerDocument: String?
  ) {
    self.statement = statement
    self.plan = plan
    self.indexes = indexes
    self.checkedPerDocument = checkedPerDocument
  }
}

/// One thing that is wrong with a database.
public struct VerificationProblem: Sendable, Hashable {
  /// What is concerned: a collection, an index, or `file`.
  public var subject: String {
    get { exactSubject.text }
    set { exactSubject = ExactName(newValue) }
  }
  private var exactSubject: ExactName
  /// What is wrong, as a sentence.
  public var message: String {
    get { exactMessage.text }
    set { exactMessage = ExactName(newValue) }
  }
  private var exactMessage: ExactName
  package init(subject: String, message: String) {
    exactSubject = ExactName(subject)
    exactMessage = ExactName(message)
  }
}

/// What an engine tells of its database.
public struct EngineStatistics: Sendable, Hashable {
  /// What an engine tells of one collection.
  public struct Collection: Sendable, Hashable {
    public var name: String
    /// How many documents it has.
    public var documents: Int
    /// How many indexes it has.
    public var indexes: Int
    package init(name: String, documents: Int, indexes: Int) {
      self.name = name
      self.documents = documents
      self.indexes = indexes
    }
  }
  /// The collections, by name.
  public var collections: [Collection]
  /// Bytes of the database, without what is not yet checkpointed.
  public var size: Int
  /// Bytes of it that hold nothing and that compacting gives back.
  public var unused: Int
  /// What the engine says of itself, such as `SQLite 3.40.1`.
  public var engine: String
  /// Settings in force, by name.
  public var settings: [String: String]
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

/// Where a backup goes.
public struct BackupDestination: Sendable, Hashable {
  /// A file, or a folder for a file with the name of the source.
  public var path: String
  /// Whether a file that is there already may be replaced, once the backup is complete.
  public var replacing: Bool
  public init(path: String, replacing: Bool = false) {
    self.path = path
    self.replacing = replacing
  }
}
