// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A connection's metadata for one collection: statement texts, indexes, and paths.
final class CollectionTable {
  let description: CollectionDescription
  var indexes: [IndexDefinition]
  /// The names of SQLite's indexes, and of the side tables of indexes on elements, by index name.
  var sqlNames: [ExactName: String]
  private var elementTables: [ExactName: String]
  /// Indexes whose build has begun: they are maintained like the others but not used.
  private(set) var unfinished: [IndexSchema]
  /// The indexed fields in which a decimal ever occurred, as the indexes in the file have been created for.
  private(set) var decimalFields: Set<FieldPath> = []
  /// Whether queries on the collection are reported to the connection's observer.
  let isObserved: Bool
  /// Whether the collection is large enough for its scans to be timed.
  var isLarge = false
  /// The number of documents written, and of transactions, since the last report to the observer.
  var writes = 0
  var writingCommits = 0
  /// Whether SQLite compares strings by code point, which it does not in UTF-16.
  private let ordersText: Bool
  let paths: PathTrie
  let settings: CollectionSettings
  /// The change feed, if changes are tracked.
  let feed: FeedState?
  /// The number of the next entry of the feed, if changes are tracked.
  var nextNumber: Int64 = 1
  /// The same when the transaction began: readers have seen no number from there on.
  var firstNumber: Int64 = 1
  /// Whether there are row IDs that are not numbers, so that SQLite must not choose the next one.
  var hasLargeRowIDs = false
  private let defaults: FieldDefaults?
  /// The wildcard index, if the collection has one.
  let wildcardIndex: WildcardIndex?
  /// The full-text indexes, if the collection has any.
  let text: FullTextIndexes?
  /// The attributes that documents of the collection have ever used, except those of other programs.
  private(set) var parts: AttributeUsage
  /// Whether some of them are not in the file yet.
  private(set) var hasNewParts = false
  /// Counts changes of indexes and paths; the file's count is higher if another connection changed them.
  var generation: Int64
  /// Distinguishes the collection from a dropped one of the same name; see ``SQLiteWriter/firstGeneration()``.
  var incarnation: Int64 { generation >> 20 }
  /// Whether the table contains rows that another program wrote and that are not in the path catalog.
  var hasForeignRows = false
  /// Whether some of them could not be adopted.
  var hasStuckRows = false
  /// Fields whose first decimals violate a unique index together with rows that are there, as found by the last adoption.
  var rejectedDecimals: [Set<FieldPath>] = []
  /// The collections that the current query joins.
  var related: [ExactName: CollectionMetadata] = [:]
  /// The row ID for the next row, if SQLite must not choose it because the last row was deleted.
  var nextRowID: Int64?
  /// Whether the writing connection determined the two properties above.
  var isPrepared = false
  /// The definitions of the collection's expirations, if documents of it may expire.
  let expiry: ExpirySchema?
  /// Whether the transaction has left expired documents, which it must not mistake for existing ones.
  var hasExpiredRows = false
  /// Whether the bodies that documents had before their next update are kept; `nil` if it was not determined yet.
  var keepsPreviousBodies: Bool?
  /// Results of checks for triggers and indexes of others, with the transaction of the check.
  var isAlone: (transaction: Int, isAlone: Bool)?
  var takesBatches: (transaction: Int, isAllowed: Bool)?
  /// The size of the bodies that were written since the log of previous bodies was moved.
  var loggedBytes = 0

  /// The statements for single documents, prepared on first use.
  private var statements: [SQLiteStatement?]
  private let sqlTexts: [String]

  init(
    _ description: CollectionDescription, generation: Int64, indexes: [IndexDefinition],
    sqlNames: [ExactName: String], unfinished: [IndexSchema] = [], paths: PathTrie,
    indexing: IndexingPolicy, parts: AttributeUsage, settings: CollectionSettings, ordersText: Bool,
    text: FullTextIndexes? = nil, feed: FeedState? = nil
  ) {
    self.text = text
    self.feed = feed
    self.parts = parts
    self.unfinished = unfinished
    isObserved = InternalCollection(named: description.name) == nil
    self.description = description
    self.generation = generation
    self.indexes = indexes
    self.sqlNames = sqlNames
    self.ordersText = ordersText
    let elements = Set(indexes.filter { $0.kind == .elements }.map { ExactName($0.name) })
    elementTables = sqlNames.filter { name, _ in elements.contains(name) }
    self.paths = paths
    self.settings = settings
    defaults = FieldDefaults(settings.defaults)
    wildcardIndex = indexing == .everything ? WildcardIndex(collection: description.name) : nil
    let expiry = parts.contains(.expiration) ? ExpirySchema(description.name) : nil
    self.expiry = expiry
    // With the schema: the name could otherwise stand for a temporary table, or, once the collection is dropped, for a
    // table of an attached file.
    let table = "main." + SQLName.quoted(description.name)
    sqlTexts = Statement.allCases.map { $0.sql(table, isTracked: feed != nil, expiry) }
    statements = Array(repeating: nil, count: sqlTexts.count)
    decimalFields = fieldsWithDecimals
    noteDecimalFields()
  }

  /// Adds an index that was created. Loading the collection again for each would make many indexes take quadratic time.
  func add(_ schema: IndexSchema) {
    let index = schema.index
    let name = ExactName(index.name)
    let position = indexes.firstIndex { index.name.isBefore($0.name) } ?? indexes.count
    indexes.insert(index, at: position)
    sqlNames[name] = schema.sqlName
    if index.kind == .elements { elementTables[name] = schema.sqlName }
    isAlone = nil
    decimalFields.formUnion(schema.decimals)
    noteDecimalFields()
  }

  /// The indexed fields in which a decimal occurred, also in documents that the catalog in the file does not have yet.
  var fieldsWithDecimals: Set<FieldPath> {
    let fields = (indexes + unfinished.map(\.index)).flatMap { $0.columns.map(\.path) }
    return Set(fields.filter { paths.hasDecimals(at: $0) })
  }

  /// Notes that the indexes are about to be created for the decimals of these fields.
  func note(decimalFields fields: Set<FieldPath>) {
    decimalFields = fields
    noteDecimalFields()
  }

  private func noteDecimalFields() {
    for index in unfinished.indices { unfinished[index].decimals = decimalFields }
  }

  /// Returns a statement; if it is in use because the block of an outer call runs it, a new one.
  @inline(__always)
  func prepared(
    _ kind: Statement, on connection: SQLiteConnection
  ) throws(StoreError) -> SQLiteStatement {
    if let cached = statements[kind.rawValue], !cached.isInUse { return cached }
    let newStatement = try SQLiteStatement(sqlTexts[kind.rawValue], on: connection)
    if statements[kind.rawValue] == nil { statements[kind.rawValue] = newStatement }
    return newStatement
  }

  /// The indexes in the file, complete or not.
  var allSchemas: [IndexSchema] { schemas + unfinished }

  /// Records that a row received this ID. An ID below those already assigned, such as that of a restored
  /// document, does not affect the next ID.
  @inline(__always)
  func noteRowID(_ id: Int64) {
    if let next = nextRowID, id >= next { nextRowID = nil }
    if feed != nil { noteNumber(ofRow: id) }
  }

  /// Records the attributes of a document that is about to be written.
  @inline(__always)
  func note(_ document: borrowing NewDocument) {
    var usage: AttributeUsage = document.key == nil ? [] : .key
    if document.type != nil || document.version != nil { usage.insert(.type) }
    if !parts.isSuperset(of: usage) { note(usage) }
  }

  @inline(never)
  func note(_ usage: AttributeUsage) {
    guard !parts.isSuperset(of: usage) else { return }
    parts.formUnion(usage)
    hasNewParts = true
  }

  /// Returns the attributes if the file does not have all of them yet, and marks them as written.
  func takeNewParts() -> AttributeUsage? {
    defer { hasNewParts = false }
    return hasNewParts ? parts : nil
  }

  var schemas: [IndexSchema] {
    indexes.compactMap { index in
      sqlNames[ExactName(index.name)].map {
        IndexSchema(
          collection: description.name, index: index, sqlName: $0, decimals: decimalFields)
      }
    }
  }

  /// The metadata for compiling queries. Paths and indexes do not cover foreign rows.
  var metadata: CollectionMetadata {
    let paths = paths
    let leaves = wildcardIndex.map { index in
      WildcardIndexMetadata(
        table: index.name, attributes: { paths.attributes(at: $0) },
        all: { paths.leafAttributes() })
    }
    var metadata = CollectionMetadata(
      table: description.name, indexes: indexes, elementTables: elementTables,
      ordersText: ordersText, parts: hasForeignRows ? .all : parts, leaves: leaves,
      defaults: defaults,
      fullTextIndexes: text?.metadata ?? [], hasForeignRows: hasForeignRows,
      observed: { paths.summary(at: $0) })
    metadata.related = related
    return metadata
  }
}

/// The columns of an index as JSON: `[["Address.City"],["age","desc"]]`.
enum IndexColumns {
  static func text(_ columns: [IndexDefinition.Column]) -> String {
    var writer = JSONWriter()
    writer.value(
      .array(
        columns.map { column in
          let path = DocumentValue.string(column.path.description)
          return .array(column.descending ? [path, "desc"] : [path])
        }))
    return writer.text
  }
}
