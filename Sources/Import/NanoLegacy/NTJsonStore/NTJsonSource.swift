// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQLite

/// A file of NTJsonStore: a table for each collection, with the JSON and a column for each field
/// that was ever queried. The columns are derived data; only their names are imported.
final class NTJsonSource: LegacySource {
  static let metadataTable = "NTJsonStore_metadata"
  static let rowIDColumn = "__rowid__"
  static let jsonColumn = "__json__"

  private let file: SQLiteSource
  private let tables: [NTJsonTable]
  private let definitions: NTJsonDefinitions
  /// The collection of rows on unreferenced pages; nil if there are none.
  private var lostCollection: LegacyCollection?
  private var lostRows = 0
  /// The row IDs of readable rows of the lost collection's table that unreferenced pages have too.
  private var knownRowIDs: Set<Int64> = []
  private(set) var fraction = 0.0

  let kind = LegacyStore.Kind.ntJsonStore
  var collections: [LegacyCollection] {
    let known = tables.map(\.collection)
    guard let lostCollection,
      !known.contains(where: { $0.name.folded == lostCollection.name.folded })
    else { return known }
    return known + [lostCollection]
  }
  var metadata: [(name: String, value: DocumentValue)] { definitions.metadata }
  var notes: [String] { file.damage }
  var fingerprint: String { file.fingerprint }

  static func isLikely(_ file: SQLiteSource) -> Bool {
    let isKnown = file.tables.tables.contains {
      isCollection($0) || $0.name.folded == metadataTable.folded
    }
    if isKnown { return true }
    var found = false
    if file.tables.isSchemaDamaged { file.tables.eachLost { if isLikely($0) { found = true } } }
    return found
  }

  /// One of the names may be damaged.
  private static func isCollection(_ table: SQLiteTables.Table) -> Bool {
    table.column(rowIDColumn) == 0 || table.column(jsonColumn) == 1
  }

  init(_ file: SQLiteSource, _ options: LegacyImportOptions) throws {
    self.file = file
    let definitions = NTJsonDefinitions(file)
    self.definitions = definitions
    var found: [NTJsonTable] = []
    var damaged: [NTJsonTable] = []
    var names = UnusedNames(file.tables.tables)
    for table in file.tables.tables where !Self.isInternal(table) {
      guard Self.isCollection(table) else {
        file.note("the table \(table.name) is not a collection and is not imported")
        continue
      }
      var rows = 0
      let isDamaged = file.each(in: table) { _ in rows += 1 }
      let next = NTJsonTable(
        table, definitions.collection(table, number: found.count + 1, &names), rows: rows)
      found.append(next)
      if isDamaged { damaged.append(next) }
    }
    tables = found.sorted { $0.collection.name.isBefore($1.collection.name) }
    guard !damaged.isEmpty || file.tables.isSchemaDamaged else { return }
    var lostRowIDs: Set<Int64> = []
    file.tables.eachLost { row in
      guard Self.isLikely(row) else { return }
      lostRows += 1
      lostRowIDs.insert(row.id)
    }
    guard lostRows > 0 else { return }
    guard damaged.count == 1, !file.tables.isSchemaDamaged else {
      // The rows could be of any table, and each table counts from 1.
      let name = names.next("recovered")
      lostCollection = LegacyCollection(
        name: name, identity: .rowID, keepsRowIDs: false, className: name)
      return
    }
    lostCollection = damaged[0].collection
    file.each(in: damaged[0].table) { row in
      guard lostRowIDs.contains(row.id), Self.isReadable(row, damaged[0].json) else { return }
      knownRowIDs.insert(row.id)
    }
  }

  private static func isInternal(_ table: SQLiteTables.Table) -> Bool {
    table.name.foldingASCII.hasExactPrefix("sqlite_") || table.name.folded == metadataTable.folded
  }

  /// Whether a row of an unknown table could be of a collection.
  private static func isLikely(_ row: SQLiteTables.Row) -> Bool {
    row.values.count >= 2 && row.values[0] == .null
      && row.values[1].bytes?.first == UInt8(ascii: "{")
  }

  private static func isReadable(_ row: SQLiteTables.Row, _ column: Int) -> Bool {
    var notes = ConversionNotes()
    return row.values[column].bytes.flatMap { try? LegacyJSON.object($0, &notes) } != nil
  }

  func check() throws {}

  /// The collections, the rows without a table, and metadata that cannot be read.
  var sectionCount: Int { tables.count + 2 }

  func read(_ section: Int, _ visit: (LegacyRecord) throws -> Void) throws {
    let total = Double(max(1, tables.reduce(lostRows) { $0 + $1.rows }))
    var done = Double(tables.prefix(section).reduce(0) { $0 + $1.rows })
    func advance() {
      done += 1
      fraction = min(1, done / total)
    }
    if section < tables.count {
      let table = tables[section]
      try file.each(in: table.table) { row in
        advance()
        try visit(Self.record(row, table.collection, table.json, isLost: false))
      }
    } else if section == tables.count, let lostCollection {
      var known = knownRowIDs
      try file.tables.eachLost { row in
        guard Self.isLikely(row) else { return }
        advance()
        // An unused page may hold an earlier version of a row.
        let isKnown =
          lostCollection.keepsRowIDs && Self.isReadable(row, 1) && !known.insert(row.id).inserted
        try visit(Self.record(row, lostCollection, 1, isLost: true, isKnown: isKnown))
      }
    } else if section > tables.count {
      fraction = 1
      for failure in definitions.failures {
        try visit(
          LegacyRecord(className: Self.metadataTable, collection: nil, position: failure.position) {
            () throws(LegacyFailure) in throw failure.failure
          })
      }
    }
  }

  private static func record(
    _ row: SQLiteTables.Row, _ collection: LegacyCollection, _ column: Int, isLost: Bool,
    isKnown: Bool = false
  ) -> LegacyRecord {
    LegacyRecord(
      className: collection.className, collection: collection.name, position: "row \(row.id)"
    ) { () throws(LegacyFailure) in
      if isKnown { throw LegacyFailure(LegacyImporter.sameRow) }
      var content = LegacyContent()
      if isLost { content.notes.add(.recoveredRecord) }
      guard let bytes = row.values[column].bytes else {
        throw LegacyFailure("the row has no JSON")
      }
      var object = try LegacyJSON.object(bytes, &content.notes)
      // The column counts: the library overwrites the field when it reads the row.
      if let field = object[rowIDColumn] {
        if collection.keepsRowIDs, field != .int(row.id) { content.notes.add(.wrongRowID) }
        object[rowIDColumn] = nil
      }
      content.document = LegacyDocument(
        rowID: collection.keepsRowIDs ? row.id : nil, object: object)
      return content
    }
  }

  func summary() throws -> LegacySummary {
    var classes = tables.map {
      LegacySummary.Class(
        name: $0.collection.className, records: $0.rows, collection: $0.collection.name)
    }
    if let lostCollection {
      classes.append(
        LegacySummary.Class(
          name: lostCollection.className + " (unreferenced pages)", records: lostRows,
          collection: lostCollection.name))
    }
    return LegacySummary(kind: kind, version: "all", classes: classes, notes: notes)
  }
}

/// A collection's table.
struct NTJsonTable {
  let table: SQLiteTables.Table
  let collection: LegacyCollection
  let json: Int
  let rows: Int

  init(_ table: SQLiteTables.Table, _ collection: LegacyCollection, rows: Int) {
    self.table = table
    self.collection = collection
    self.rows = rows
    json = table.column(NTJsonSource.jsonColumn) ?? 1
  }
}
