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

extension SQLiteConnection {
  /// Runs a block with one of a table's statements.
  @inline(__always)
  func with<Result>(
    _ table: CollectionTable, _ kind: CollectionTable.Statement,
    _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    try use(
      try table.prepared(kind, on: self), needsTriggers: needsTriggers(table, kind), work)
  }

  private func needsTriggers(_ table: CollectionTable, _ kind: CollectionTable.Statement) -> Bool {
    if kind.readsOne { return false }
    guard let known = table.isAlone, known.transaction == transactions else { return true }
    return !known.isAlone || kind.deletes
  }

  /// Returns the table of a collection in the current snapshot; `nil` if there is no such collection.
  func table(_ name: String) throws -> CollectionTable? {
    currentCollection = name
    // SQLite would look for a different name.
    guard isUTF8 || TextEncoding.preserves(name) else { return nil }
    let state = try first(
      SQLFragment(
        "SELECT name, identity, generation, indexing, parts FROM nano_collections WHERE name = ?",
        [.text(name)]),
      // A get calls this for its first document after triggers were switched.
      needsTriggers: false
    ) { row in
      guard let identity = CollectionIdentity(rawValue: row.text(1) ?? ""),
        let indexing = IndexingPolicy(rawValue: row.text(3) ?? ""),
        row.isInt(2), CollectionRow.generations.contains(row.int(2)),
        row.isInt(4), CollectionRow.allParts.contains(row.int(4))
      else { throw try damage(toCollection: name) }
      return (
        CollectionDescription(name: row.text(0) ?? name, identity: identity), row.int(2),
        indexing, AttributeUsage(rawValue: row.int(4))
      )
    }
    guard let (description, generation, indexing, parts) = state else {
      tables[ExactName(name)] = nil
      return nil
    }
    // Cached under the name with which the collection was created: other spellings share the metadata.
    if let cached = tables[ExactName(description.name)], cached.generation == generation,
      cached.description == description
    {
      if !name.hasSameBytes(as: description.name) { tables[ExactName(name)] = cached }
      return cached
    }
    let table = try load(description, generation, indexing, parts)
    tables[ExactName(name)] = table
    tables[ExactName(description.name)] = table
    return table
  }

  /// Like ``table(_:)``, and determines whether there are foreign rows, which the path catalog does not cover.
  func tableForQuery(_ name: String) throws -> CollectionTable? {
    guard let table = try table(name) else { return nil }
    table.hasForeignRows = try hasForeignRows(table.description.name)
    return table
  }

  func hasForeignRows(_ table: String) throws -> Bool {
    try first(
      SQLFragment("SELECT 1 FROM \(SQLName.quoted(table)) WHERE revision IS NULL LIMIT 1")
    ) { _ in true } ?? false
  }

  private func load(
    _ description: CollectionDescription, _ generation: Int64, _ indexing: IndexingPolicy,
    _ parts: AttributeUsage
  ) throws -> CollectionTable {
    var indexes: [IndexDefinition] = []
    var sqlNames: [ExactName: String] = [:]
    var unfinished: [IndexSchema] = []
    var textSchemas: [FullTextIndexSchema] = []
    for row in try indexRows(of: description.name) {
      switch row.definition {
      case .text(let index):
        textSchemas.append(
          FullTextIndexSchema(collection: description.name, index: index, sqlName: row.sqlName))
      case .index(let index) where row.isUnfinished:
        unfinished.append(
          IndexSchema(collection: description.name, index: index, sqlName: row.sqlName))
      case .index(let index):
        indexes.append(index)
        sqlNames[ExactName(index.name)] = row.sqlName
      }
    }
    if parts.contains(.expiration) { hasExpirations.set() }
    try noteCollection(description.name)
    // The plans of cached statements may have changed.
    forgetPlans()
    let paths = PathTrie()
    try addStoredPaths(of: description.name, to: paths)
    return CollectionTable(
      description, generation: generation, indexes: indexes, sqlNames: sqlNames,
      unfinished: unfinished, paths: paths, indexing: indexing, parts: parts,
      settings: try storedSettings(of: description.name), ordersText: try encoding() == "UTF-8",
      text: FullTextIndexes(textSchemas), feed: try storedFeed(of: description.name))
  }

  /// Adds a collection to those that user-defined triggers must not damage, with all others at first: a trigger may
  /// write to a different collection than the one that fires it.
  private func noteCollection(_ name: String) throws {
    guard let statementGuard, !isReadOnly else { return }
    statementGuard.note(name)
    guard !statementGuard.knowsCollections else { return }
    do {
      let sql = SQLFragment("SELECT name FROM nano_collections")
      statementGuard.note(all: try all(sql) { $0.text(0) ?? "" })
    } catch let error as StoreError where error.code == .corruptFile {
      // A damaged page must not make the collections on the others unusable.
    }
  }

  /// Returns the rows of `nano_indexes`, sorted by name.
  private func indexRows(of collection: String) throws -> [IndexRow] {
    let columns = IndexRow.columns.joined(separator: ", ")
    let rows = try all(
      SQLFragment(
        "SELECT \(columns) FROM nano_indexes WHERE collection = ?",
        [.text(collection)])
    ) { try IndexRow($0.values(IndexRow.columns.count)) }.sorted { $0.name.isBefore($1.name) }
    // A name can occur twice only if the order of the table is damaged.
    for (row, next) in zip(rows, rows.dropFirst()) where row.name.hasSameBytes(as: next.name) {
      throw RowDamage.error(
        IndexRow.table, column: "name", collection: collection, index: row.name,
        expected: "a unique index name", actual: .string(row.name))
    }
    return rows
  }

  private func storedSettings(of collection: String) throws -> CollectionSettings {
    try first(
      SQLFragment("SELECT settings FROM nano_collections WHERE name = ?", [.text(collection)])
    ) { row in
      // Most collections have no settings.
      if row.bytes(0).elementsEqual("{}".utf8) { return CollectionSettings() }
      return try CollectionRow.settings(
        InternalRow(
          table: CollectionRow.table, columns: ["settings"], values: [row.value(0)],
          collection: collection))
    } ?? CollectionSettings()
  }

  /// Returns the names and identities of all collections, sorted by name.
  ///
  /// - Throws: ``StoreError/Code/corruptFile`` for an invalid name, and for a name that occurs in several rows,
  ///   as in a table with damaged pages.
  func collectionNames() throws -> [(name: String, identity: String?)] {
    let rows = try RowDamage.naming(CollectionRow.table) {
      try all("SELECT name, identity FROM nano_collections") { row in
        guard case .string(let name) = row.value(0) else {
          throw RowDamage.error(
            CollectionRow.table, column: "name", collection: nil, expected: "text",
            actual: row.value(0))
        }
        return (name: name, folded: name.folded, identity: row.text(1))
      }
    }
    // Sorted in Swift: a UTF-16 database sorts text by its UTF-16 bytes.
    let sorted = rows.sorted { $0.folded < $1.folded }
    for (row, next) in zip(sorted, sorted.dropFirst()) where row.folded == next.folded {
      throw RowDamage.error(
        CollectionRow.table, column: "name", collection: row.name,
        expected: "a unique collection name", actual: .string(row.name))
    }
    return sorted.map { ($0.name, $0.identity) }
  }

  /// Returns the error that describes the damage to the row of a collection.
  func damage(toCollection name: String) throws -> any Error {
    let columns = CollectionRow.columns.joined(separator: ", ")
    let values = try first(
      SQLFragment("SELECT \(columns) FROM nano_collections WHERE name = ?", [.text(name)])
    ) { $0.values(CollectionRow.columns.count) }
    do { _ = try CollectionRow(values ?? []) } catch { return error.adding(.collection, name) }
    return StoreError(
      .corruptFile, "A row of the store's internal tables is damaged",
      [.table: CollectionRow.table, .collection: name])
  }
}

extension SQLiteConnection {
  /// Adds the paths of a collection from the file's path catalog.
  func addStoredPaths(of collection: String, to paths: PathTrie) throws {
    try with(
      SQLFragment(
        "SELECT path, types, attribute FROM nano_paths WHERE collection = ?", [.text(collection)])
    ) { row in
      while try row.step() {
        let path = CatalogPath(row.text(0) ?? "")
        guard path.isSound, row.isInt(1), PathRow.allTypes.contains(row.int(1)),
          row.isInt(2), PathRow.attributes.contains(row.int(2))
        else {
          _ = try PathRow([.string(collection)] + row.values(3))
          continue
        }
        paths.add(path, Int32(row.int(1)), attribute: Int32(row.int(2)))
      }
    }
    paths.settle()
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
