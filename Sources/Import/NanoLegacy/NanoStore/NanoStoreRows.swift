// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQLite

/// A row of `NSFKeys`.
struct NanoStoreRow {
  let id: Int64
  let key: String?
  let className: String?
  /// The local time of the last save.
  let saved: String?
  /// The archive or property list.
  let value: SQLiteTables.Value
  /// Whether the row was found on a page that the table does not reference.
  let isLost: Bool

  var position: String { "row \(id)" }

  func decoded() throws(LegacyFailure) -> DecodedContent {
    guard let bytes = value.bytes else {
      throw LegacyFailure("the document has no content", key: key)
    }
    do throws(PropertyListError) {
      return try KeyedArchive.document(bytes)
    } catch {
      throw LegacyFailure(error.reason, key: key)
    }
  }

  /// Whether the row may be a bag, without decoding it. The names of fields are stored as plain
  /// text.
  var mayBeBag: Bool {
    if className?.hasSameBytes(as: NanoStoreSource.bagClass) == true { return true }
    return value.bytes?.firstRange(of: Array(StoredBag.membersField.utf8)) != nil
  }
}

/// The rows of `NSFKeys`. If its table is damaged, rows on unreferenced pages are recognized by
/// their values.
final class NanoStoreRows {
  private let file: SQLiteSource
  private let table: SQLiteTables.Table?
  private let columns: Columns
  /// The number of rows, without those on unreferenced pages.
  private(set) lazy var count = table.map { file.tables.count(in: $0) } ?? 0
  let hasPropertyLists: Bool

  private struct Columns {
    var key = 1
    var content = 2
    var saved: Int? = 3
    var className: Int? = 4
  }

  init(_ file: SQLiteSource, _ table: SQLiteTables.Table) {
    self.file = file
    self.table = table
    let archive = table.column("NSFKeyedArchive")
    let list = table.column("NSFPlist")
    hasPropertyLists = archive == nil && list != nil
    columns = Columns(
      key: table.column("NSFKey") ?? 1, content: archive ?? list ?? 2,
      saved: table.column("NSFCalendarDate"), className: table.column("NSFObjectClass"))
  }

  /// The rows of a file whose schema cannot be read.
  init(lostIn file: SQLiteSource) {
    self.file = file
    table = nil
    columns = Columns()
    hasPropertyLists = false
  }

  /// Whether there are rows at all.
  var isLikely: Bool {
    var found = false
    file.tables.eachLost { if Self.isLikely($0) { found = true } }
    return found
  }

  func each(_ visit: (NanoStoreRow) throws -> Void) rethrows {
    var isDamaged = table == nil
    if let table {
      isDamaged = try file.each(in: table) { row in
        try visit(self.row(row, columns, isLost: false))
      }
    }
    if isDamaged || file.tables.isSchemaDamaged {
      try file.tables.eachLost { row in
        guard Self.isLikely(row) else { return }
        try visit(self.row(row, Columns(), isLost: true))
      }
    }
  }

  private func row(_ row: SQLiteTables.Row, _ columns: Columns, isLost: Bool) -> NanoStoreRow {
    func value(_ column: Int?) -> SQLiteTables.Value {
      column.flatMap { row.values.indices.contains($0) ? row.values[$0] : nil } ?? .null
    }
    return NanoStoreRow(
      id: row.id, key: value(columns.key).name, className: value(columns.className).text,
      saved: value(columns.saved).text, value: value(columns.content), isLost: isLost)
  }

  /// Whether a row of an unknown table has the columns of `NSFKeys` in the order in which NanoStore
  /// creates them.
  private static func isLikely(_ row: SQLiteTables.Row) -> Bool {
    guard row.values.count == 5, row.values[0] == .null, row.values[1].text != nil,
      row.values[3].text != nil || row.values[3] == .null, row.values[4].text != nil,
      let content = row.values[2].bytes
    else { return false }
    return BinaryPropertyList.isLikely(content) || XMLPropertyList.isLikely(content)
  }
}
