// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQLite

/// The definitions of an NTJsonStore file: indexes and columns from the schema, defaults, aliases
/// and metadata.
struct NTJsonDefinitions {
  /// The indexes of each table, by folded name.
  private let indexes: [ExactName: [SQLiteTables.Index]]
  /// The highest row ID of each table, by folded name.
  private var sequence: [ExactName: Int64] = [:]
  private var defaults: [ExactName: DocumentObject] = [:]
  private var aliases: [ExactName: [String: String]] = [:]
  /// The entries of the application.
  private(set) var metadata: [(name: String, value: DocumentValue)] = []
  /// Entries that cannot be read.
  private(set) var failures: [(position: String, failure: LegacyFailure)] = []

  init(_ file: SQLiteSource) {
    indexes = Dictionary(grouping: file.tables.indexes) { $0.table.folded }
    if let table = file.tables.table("sqlite_sequence"), table.columns.count >= 2 {
      file.each(in: table) { row in
        guard let name = row.values[0].text, case .int(let highest) = row.values[1] else { return }
        sequence[name.folded] = max(highest, sequence[name.folded] ?? 0)
      }
    }
    readMetadata(file)
  }

  private static let defaultsSuffix = "/defaultJson"
  private static let aliasesSuffix = "/aliases"

  private mutating func readMetadata(_ file: SQLiteSource) {
    guard let table = file.tables.table(NTJsonSource.metadataTable), let key = table.column("key"),
      let value = table.column("value")
    else { return }
    let tables = Set(file.tables.tables.map(\.name.folded))
    // Nothing makes keys unique; the last row counts.
    var last: [ExactName: (id: Int64, bytes: [UInt8]?)] = [:]
    file.each(in: table) { row in
      guard let name = row.values[key].name else { return }
      last[ExactName(name)] = (row.id, row.values[value].bytes)
    }
    for (name, entry) in last.sorted(by: { $0.key < $1.key }) {
      do throws(LegacyFailure) {
        try add(name.text, entry.bytes, tables)
      } catch {
        failures.append(("row \(entry.id)", LegacyFailure(error.reason, key: name.text)))
      }
    }
  }

  private mutating func add(
    _ name: String, _ bytes: [UInt8]?, _ tables: Set<ExactName>
  ) throws(LegacyFailure) {
    guard let bytes else { throw LegacyFailure("the entry has no value") }
    var notes = ConversionNotes()
    let value = try LegacyJSON.value(bytes, &notes)
    for (suffix, isDefaults) in [(Self.defaultsSuffix, true), (Self.aliasesSuffix, false)]
    where name.hasExactSuffix(suffix) {
      let collection = String(decoding: name.utf8.dropLast(suffix.utf8.count), as: UTF8.self).folded
      guard tables.contains(collection), let object = value.object else { continue }
      if isDefaults {
        defaults[collection] = object
      } else {
        aliases[collection] = Dictionary(
          object.compactMap { field in field.value.string.map { (field.name, $0) } },
          uniquingKeysWith: { $1 })
      }
      return
    }
    try LegacyFailure.checkMetadata(name, value)
    metadata.append((name, value))
  }
}

extension NTJsonDefinitions {
  /// Returns the collection for a table.
  ///
  /// - Parameters:
  ///   - number: Distinguishes collections whose names are not permitted.
  ///   - names: Provides names for them.
  func collection(
    _ table: SQLiteTables.Table, number: Int, _ names: inout UnusedNames
  ) -> LegacyCollection {
    var collection = LegacyCollection(
      name: table.name, identity: .rowID, className: table.name)
    let name = table.name.folded
    if name.text.hasExactPrefix("nano_") || table.name.isEmpty || table.name.utf8.contains(0)
      || table.name.utf8.count > Self.maximumNameLength
    {
      collection.name = names.next("collection", number: number)
      collection.notes.add(.renamedCollection)
    }
    collection.settings.defaults = defaults[name] ?? [:]
    collection.settings.aliases = aliases[name] ?? [:]
    collection.highestRowID = sequence[name]
    let derived = table.columns.filter {
      ![NTJsonSource.rowIDColumn, NTJsonSource.jsonColumn].contains($0.foldingASCII)
    }
    for column in derived {
      if let path = Self.path(column) {
        collection.settings.queryableFields.append(path)
      } else {
        collection.notes.add(.droppedDefinition)
      }
    }
    for index in indexes[name] ?? [] { add(index, to: &collection) }
    return collection
  }

  /// The maximum length of a collection's name in bytes; see docs/SCHEMA.md.
  private static let maximumNameLength = 500

  /// The path that a column's name denotes: a period always separates levels.
  private static func path(_ column: String) -> FieldPath? {
    let names = column.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    let path = FieldPath(components: names)
    return path.isValid ? path : nil
  }

  private func add(_ index: SQLiteTables.Index, to collection: inout LegacyCollection) {
    let (columns, isUnique) = Self.columns(index.sql)
    var keys: [IndexDefinition.Column] = []
    for (name, isDescending) in columns {
      let isOwn = [NTJsonSource.rowIDColumn, NTJsonSource.jsonColumn].contains(name.foldingASCII)
      guard !isOwn, let path = Self.path(name) else {
        collection.notes.add(.droppedDefinition)
        return
      }
      keys.append(IndexDefinition.Column(path, descending: isDescending))
    }
    guard !keys.isEmpty else { return collection.notes.add(.droppedDefinition) }
    collection.indexes.append(
      LegacyCollection.Index(keys: keys, isUnique: isUnique || index.name.hasExactPrefix("UX_")))
  }

  /// Returns the columns of a `CREATE INDEX` statement.
  private static func columns(_ sql: String) -> ([(name: String, isDescending: Bool)], Bool) {
    var tokens = SQLTokens(sql)
    var isUnique = false
    while let token = tokens.next(), token != .symbol("(") {
      if case .word(let word) = token, word.foldingASCII == "unique" { isUnique = true }
    }
    var columns: [(name: String, isDescending: Bool)] = []
    var isFirst = true
    while let token = tokens.next(), token != .symbol(")") {
      switch token {
      case .symbol(","): isFirst = true
      case .symbol: return ([], isUnique)
      case .quoted(let name) where isFirst, .word(let name) where isFirst:
        columns.append((name, false))
        isFirst = false
      case .word(let word):
        if word.foldingASCII == "desc" { columns[columns.count - 1].isDescending = true }
      case .quoted: break
      }
    }
    return (columns, isUnique)
  }
}

/// Names of collections that no table of a file has.
struct UnusedNames {
  // Names of collections ignore the case of ASCII letters.
  private var taken: Set<ExactName>

  init(_ tables: [SQLiteTables.Table]) { taken = Set(tables.map(\.name.folded)) }

  /// Returns the first unused name of `base`, `base_2`, `base_3` and so on. With a number, the names begin with
  /// `base_number`.
  mutating func next(_ base: String, number: Int? = nil) -> String {
    var number = number
    while true {
      let name = number.map { "\(base)_\($0)" } ?? base
      if taken.insert(name.folded).inserted { return name }
      number = (number ?? 1) + 1
    }
  }
}
