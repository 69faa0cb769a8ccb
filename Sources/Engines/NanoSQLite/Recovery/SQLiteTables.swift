// SPDX-License-Identifier: MIT

import NanoDocument

/// The tables of another program's database file, read page by page, without SQLite.
///
/// The file and the files next to it are only read: no lock, log or journal is created, and nothing is recovered in
/// place. If a log or journal is present, a private copy is read. Damaged pages are skipped and reported, so that the
/// rest remains readable.
///
/// Confined to one call at a time.
package final class SQLiteTables {
  /// A value of a row.
  package enum Value: Sendable, Hashable {
    case null
    case int(Int64)
    case double(Double)
    case text(String)
    /// Text that is not valid in the file's encoding, as stored.
    case invalidText([UInt8])
    case blob([UInt8])
  }

  /// A table of the file.
  package struct Table: Sendable, Hashable {
    package let name: String
    package let columns: [String]
    fileprivate let rowIDColumn: Int?
    fileprivate let root: Int

    /// Returns the position of a column, ignoring the case of ASCII letters.
    package func column(_ name: String) -> Int? {
      columns.firstIndex { $0.foldingASCII.hasSameBytes(as: name.foldingASCII) }
    }
  }

  /// A declared index of the file.
  package struct Index: Sendable, Hashable {
    package let name: String
    package let table: String
    package let sql: String
  }

  /// A row, with a value for each column of its table.
  package struct Row {
    package let id: Int64
    package let values: [Value]
  }

  package private(set) var tables: [Table] = []
  private var names: Set<ExactName> = []
  package private(set) var indexes: [Index] = []
  /// Damage found while opening, one sentence each.
  package private(set) var damage: [String] = []
  /// Whether tables may be missing from ``tables``.
  package private(set) var isSchemaDamaged = false
  /// The text encoding, as `PRAGMA encoding` names it.
  package var encodingName: String {
    switch encoding {
    case .utf8: "UTF-8"
    case .utf16le: "UTF-16le"
    case .utf16be: "UTF-16be"
    }
  }

  private let pages: PageFile
  private let encoding: StoredTextEncoding
  private let copy: PrivateCopy?
  /// The root pages of all B-trees, with whether each is an index.
  private var roots: [(page: Int, isIndex: Bool)] = [(1, false)]

  /// Opens a file.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no file, ``StoreError/Code/notADatabase`` if nothing in it
  ///   resembles a database, errors of reading and of copying.
  package init(_ path: String) throws {
    let source = DatabaseFile.resolved(try DatabaseFile.absolute(path))
    switch try FileStatus(source) {
    case .missing: throw StoreError(.cannotOpen, "The file does not exist", [.path: source])
    case .folder: throw StoreError(.cannotOpen, "The path is a folder", [.path: source])
    case .file: break
    }
    copy = try PrivateCopy(ifNeededOf: source)
    let log = try copy?.log.map { path in try MappedFile(path) }
    pages = PageFile(try MappedFile(copy?.path ?? source), log: log)
    guard pages.count > 0 else {
      throw StoreError(.notADatabase, "The file is not a SQLite database", [.path: source])
    }
    let declared = StoredTextEncoding(rawValue: pages.header(56))
    encoding = pages.isHeaderSound ? declared ?? Recovery.encoding(pages) : Recovery.encoding(pages)
    if !pages.isHeaderSound {
      damage.append("the header is damaged")
      isSchemaDamaged = true
    }
    readSchema()
    guard pages.isHeaderSound || !tables.isEmpty || hasTreePage else {
      throw StoreError(.notADatabase, "The file is not a SQLite database", [.path: source])
    }
  }

  /// Whether any page of a file without a header resembles a page of rows.
  private var hasTreePage: Bool {
    let reader = TreeReader(pages)
    return (1...min(pages.count, 10_000)).contains { number in
      guard let bytes = pages.page(number),
        let page = TreePage(bytes, number: number, pageSize: pages.pageSize),
        page.kind == .tableLeaf, !page.cells.isEmpty, !page.isDamaged
      else { return false }
      return !reader.visitRows(page) { _ in }
    }
  }

  private func readSchema() {
    let reader = TreeReader(pages)
    let lost = reader.each(from: 1, isIndex: false) { row in addDefinition(row.record) }
    guard lost > 0 else { return }
    isSchemaDamaged = true
    damage.append("\(lost) pages of the schema table cannot be read")
    for number in reader.lostPages {
      guard let bytes = pages.page(number),
        let page = TreePage(bytes, number: number, pageSize: pages.pageSize),
        page.kind == .tableLeaf
      else { continue }
      _ = reader.visitRows(page) { addDefinition($0.record) }
    }
  }

  /// Adds a row of `sqlite_schema`: type, name, table, root page and statement.
  private func addDefinition(_ record: StoredRecord) {
    let values = record.values
    guard values.count == 5, let type = encoding.text(values[0]),
      let name = encoding.text(values[1]),
      let table = encoding.text(values[2]), let root = values[3].int
    else { return }
    let sql = encoding.text(values[4])
    guard root > 1, root <= pages.count else {
      if type == "table", let sql, !sql.foldingASCII.hasExactPrefix("create virtual") {
        damage.append("a table has an invalid root page")
        isSchemaDamaged = true
      }
      return
    }
    let definition = type == "table" ? TableDefinition(sql ?? "") : nil
    if let definition, !definition.isSound {
      // Its rows are found like those of a table that is missing.
      damage.append("the definition of a table is damaged")
      isSchemaDamaged = true
      return
    }
    roots.append((Int(root), type == "index"))
    switch type {
    case "table":
      guard let columns = definition?.columns, names.insert(ExactName(name)).inserted else {
        return
      }
      tables.append(
        Table(
          name: name, columns: columns.map(\.name),
          rowIDColumn: columns.firstIndex(where: \.isRowID),
          root: Int(root)))
    case "index":
      if let sql { indexes.append(Index(name: name, table: table, sql: sql)) }
    default: break
    }
  }

  /// Returns the table with this name, ignoring the case of ASCII letters.
  package func table(_ name: String) -> Table? {
    tables.first { $0.name.foldingASCII.hasSameBytes(as: name.foldingASCII) }
  }
}

extension SQLiteTables {
  /// Passes the rows of a table to a closure, in the order of row IDs unless the file is damaged.
  ///
  /// - Returns: The number of pages that cannot be read, with all pages below them, or only in part.
  package func each(in table: Table, _ visit: (Row) throws -> Void) rethrows -> Int {
    try TreeReader(pages).each(from: table.root, isIndex: false) { row in
      try visit(self.row(row, in: table))
    }
  }

  /// Returns the number of rows of a table, whether or not they can be read.
  package func count(in table: Table) -> Int { TreeReader(pages).count(from: table.root) }

  /// Passes rows on pages that no table references to a closure, because a page above them is damaged.
  ///
  /// Deleted rows may be among them if the list of free pages is damaged.
  package func eachLost(_ visit: (Row) throws -> Void) rethrows {
    let reader = TreeReader(pages)
    for root in roots { _ = reader.each(from: root.page, isIndex: root.isIndex) { _ in } }
    for number in reader.lostPages {
      guard let bytes = pages.page(number) else { continue }
      let page =
        TreePage(bytes, number: number, pageSize: pages.pageSize)
        ?? TreePage(bytes, number: number, pageSize: pages.pageSize, as: .tableLeaf)
      guard let page, page.kind == .tableLeaf else { continue }
      _ = try reader.visitRows(page) { row in
        try visit(Row(id: row.id, values: row.record.values.map(value)))
      }
    }
  }

  private func row(_ row: TreeReader.Row, in table: Table) -> Row {
    var values = row.record.values.map(value)
    // A column that was added later is missing from older records.
    while values.count < table.columns.count { values.append(.null) }
    if let column = table.rowIDColumn, values[column] == .null { values[column] = .int(row.id) }
    return Row(id: row.id, values: values)
  }

  private func value(_ value: StoredRecord.Value) -> Value {
    switch value {
    case .null: .null
    case .int(let number): .int(number)
    case .double(let number): .double(number)
    case .text(let bytes): encoding.text(bytes).map(Value.text) ?? .invalidText(bytes)
    case .blob(let bytes): .blob(bytes)
    }
  }
}
