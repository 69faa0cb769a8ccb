// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// What a damaged file still tells of its collections, indexes, paths and metadata.
struct RecoveredCatalog {
  /// The first pages of tables, by name as it was written.
  private(set) var tables: [(name: String, root: Int)] = []
  private(set) var collections: [CollectionRow] = []
  private(set) var indexes: [IndexRow] = []
  private(set) var metadata: [MetadataRow] = []
  /// The names at the top of documents of a collection, by its folded name.
  private(set) var names: [ExactName: Set<ExactName>] = [:]
  /// What could not be read.
  private(set) var losses: [VerificationProblem] = []
  let encoding: StoredTextEncoding

  private let reader: TreeReader
  /// The first pages of the store's own tables.
  private var roots: [ExactName: Int] = [:]

  init(_ reader: TreeReader, _ encoding: StoredTextEncoding) {
    self.reader = reader
    self.encoding = encoding
    readSchema()
    for row in rows(of: CollectionRow.table, like: Self.isCollection) {
      do { collections.append(try CollectionRow(row)) } catch { lose(CollectionRow.table, error) }
    }
    for row in rows(of: IndexRow.table, like: Self.isIndex) {
      do { indexes.append(try IndexRow(row)) } catch { lose(IndexRow.table, error) }
    }
    for row in rows(of: PathRow.table, like: Self.isPath) {
      // What cannot be read is found out anew from the documents.
      guard let row = try? PathRow(row), case .name(let name)? = row.path.steps.first else {
        continue
      }
      names[row.collection.folded, default: []].insert(ExactName(name))
    }
    for row in rows(of: MetadataRow.table, like: Self.isMetadata) {
      do { metadata.append(try MetadataRow(row)) } catch { lose(MetadataRow.table, error) }
    }
  }

  private mutating func lose(_ subject: String, _ message: String) {
    losses.append(VerificationProblem(subject: subject, message: message))
  }

  private mutating func lose(_ subject: String, _ error: StoreError) {
    lose(subject, error.debugDescription)
  }

  /// `sqlite_schema`, whose first page is that of the file.
  private mutating func readSchema() {
    var rows: [[DocumentValue]] = []
    let damaged = reader.each(from: 1, isIndex: false) { rows.append(values($0.record)) }
    if damaged > 0 {
      lose("file", "the list of tables cannot be read on \(damaged) pages")
      rows += lostRows(ofIndexes: false, like: Self.isDefinition)
    }
    for row in rows where row.count == 5 && row[0].string == "table" {
      guard let name = row[1].string, let root = row[3].int, let sql = row[4].string else {
        lose("file", "a row of the list of tables cannot be read")
        continue
      }
      // Virtual tables have none.
      guard root > 0 else { continue }
      if name.foldingASCII.hasExactPrefix("nano_"), InternalCollection(named: name) == nil {
        roots[ExactName(name)] = Int(clamping: root)
      } else if Self.isDocumentTable(sql) {
        tables.append((name, Int(clamping: root)))
      } else if !name.hasExactPrefix("sqlite_") {
        lose(name, "a table that is no collection is not copied")
      }
    }
  }

  /// As `Schema.collection` writes it.
  private static func isDocumentTable(_ sql: String) -> Bool {
    ["id INTEGER PRIMARY KEY", "revision INTEGER", "body TEXT NOT NULL"].allSatisfy(sql.contains)
  }

  /// The rows of a table of the store's own, from its tree if that can be read, and else wherever something
  /// stands that looks like one.
  private mutating func rows(
    of table: String, like isLikely: ([DocumentValue]) -> Bool
  ) -> [[DocumentValue]] {
    var found: [[DocumentValue]] = []
    guard let root = roots[ExactName(table)] else {
      lose(table, "the table is not in the list of tables")
      return lostRows(ofIndexes: true, like: isLikely)
    }
    let damaged = reader.each(from: root, isIndex: true) { found.append(values($0.record)) }
    guard damaged > 0 else { return found }
    lose(table, "\(damaged) pages cannot be read")
    return found + lostRows(ofIndexes: true, like: isLikely)
  }

  /// Rows on pages that no tree led to so far.
  private func lostRows(
    ofIndexes isIndex: Bool, like isLikely: ([DocumentValue]) -> Bool
  ) -> [[DocumentValue]] {
    var found: [[DocumentValue]] = []
    for number in reader.lostPages {
      guard let bytes = reader.pages.page(number),
        let page = TreePage(bytes, number: number, pageSize: reader.pages.pageSize),
        page.kind.isIndex == isIndex
      else { continue }
      _ = reader.showRows(page) { row in
        let row = values(row.record)
        if isLikely(row) { found.append(row) }
      }
    }
    return found
  }

  private func values(_ record: StoredRecord) -> [DocumentValue] {
    record.values.map { value in
      switch value {
      case .null: .null
      case .int(let number): .int(number)
      case .double(let number): .double(number)
      case .text(let bytes): encoding.text(bytes).map(DocumentValue.string) ?? .null
      case .blob: .data(.init())
      }
    }
  }
}

/// What rows of the store's own tables look like.
extension RecoveredCatalog {
  private static func isCollection(_ row: [DocumentValue]) -> Bool {
    (try? CollectionRow(row)) != nil && row.count == CollectionRow.columns.count
  }

  private static func isIndex(_ row: [DocumentValue]) -> Bool {
    (try? IndexRow(row)) != nil && row.count == IndexRow.columns.count
  }

  private static func isPath(_ row: [DocumentValue]) -> Bool {
    (try? PathRow(row)) != nil && row.count == PathRow.columns.count
  }

  private static func isMetadata(_ row: [DocumentValue]) -> Bool {
    (try? MetadataRow(row)) != nil && row.count == MetadataRow.columns.count
  }

  /// A row of `sqlite_schema`.
  private static func isDefinition(_ row: [DocumentValue]) -> Bool {
    guard row.count == 5, let sql = row[4].string else { return false }
    return row[0].string != nil && row[3].int != nil && sql.hasPrefix("CREATE ")
  }
}
