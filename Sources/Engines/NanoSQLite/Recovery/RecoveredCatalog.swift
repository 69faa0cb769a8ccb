// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// The collections, indexes, paths, and metadata that can still be read from a damaged file.
struct RecoveredCatalog {
  /// The root pages of tables, by name as written.
  private(set) var tables: [(name: String, root: Int)] = []
  /// The root pages of the tables with the expirations of documents, by the name of the collection.
  private(set) var expirations: [(collection: String, root: Int)] = []
  private(set) var collections: [CollectionRow] = []
  private(set) var indexes: [IndexRow] = []
  private(set) var metadata: [MetadataRow] = []
  /// The top-level names of a collection's documents, by its folded name.
  private(set) var names: [ExactName: Set<ExactName>] = [:]
  /// Whether definitions of tables may be lost.
  private(set) var isSchemaDamaged = false
  /// Descriptions of what could not be read.
  private(set) var losses: [VerificationProblem] = []
  let encoding: StoredTextEncoding

  private let reader: TreeReader
  /// The root pages of the store's internal tables.
  private var roots: [ExactName: Int] = [:]

  init(_ reader: TreeReader, _ encoding: StoredTextEncoding) {
    self.reader = reader
    self.encoding = encoding
    readSchema()
    for row in rows(of: CollectionRow.table, like: Self.isCollection) {
      do { collections.append(try CollectionRow(row)) } catch {
        recordLoss(CollectionRow.table, error)
      }
    }
    for row in rows(of: IndexRow.table, like: Self.isIndex) {
      do { indexes.append(try IndexRow(row)) } catch { recordLoss(IndexRow.table, error) }
    }
    for row in rows(of: PathRow.table, like: Self.isPath) {
      // Paths that cannot be read are rebuilt from the documents.
      guard let row = try? PathRow(row), case .name(let name)? = row.path.steps.first else {
        continue
      }
      names[row.collection.folded, default: []].insert(ExactName(name))
    }
    for row in rows(of: MetadataRow.table, like: Self.isMetadata) {
      do { metadata.append(try MetadataRow(row)) } catch { recordLoss(MetadataRow.table, error) }
    }
  }

  /// Returns the root page of one of the store's internal tables.
  func root(of table: String) -> Int? { roots[ExactName(table)] }

  private mutating func recordLoss(_ subject: String, _ message: String) {
    losses.append(VerificationProblem(subject: subject, message: message))
  }

  private mutating func recordLoss(_ subject: String, _ error: StoreError) {
    recordLoss(subject, error.debugDescription)
  }

  /// Reads `sqlite_schema`, whose root is the first page of the file.
  private mutating func readSchema() {
    var rows: [[DocumentValue]] = []
    let damaged = reader.each(from: 1, isIndex: false) { rows.append(values($0.record)) }
    if damaged > 0 {
      isSchemaDamaged = true
      recordLoss("file", "\(damaged) pages of the schema table cannot be read")
      rows += lostRows(ofIndexes: false, like: Self.isDefinition)
    }
    for row in rows where row.count == 5 && row[0].string == "table" {
      guard let name = row[1].string, let root = row[3].int, let sql = row[4].string else {
        isSchemaDamaged = true
        recordLoss("file", "a row of the schema table cannot be read")
        continue
      }
      // Virtual tables have no root page.
      guard root > 0 else { continue }
      if name.foldingASCII.hasExactPrefix("nano_"), InternalCollection(named: name) == nil {
        roots[ExactName(name)] = Int(clamping: root)
        if name.hasExactPrefix(ExpirySchema.prefix) {
          let collection = String(name.unicodeScalars.dropFirst(ExpirySchema.prefix.utf8.count))
          expirations.append((collection, Int(clamping: root)))
        }
      } else if Self.isDocumentTable(sql) {
        tables.append((name, Int(clamping: root)))
      } else if !name.hasExactPrefix("sqlite_") {
        recordLoss(name, "the table is not a collection and is not copied")
      }
    }
  }

  /// Checks for the columns that `Schema.collection` writes.
  private static func isDocumentTable(_ sql: String) -> Bool {
    ["id INTEGER PRIMARY KEY", "revision INTEGER", "body TEXT NOT NULL"].allSatisfy(sql.contains)
  }

  /// Returns the rows of an internal table: from its B-tree if it can be read, and otherwise from all pages with
  /// rows that resemble them.
  private mutating func rows(
    of table: String, like isLikely: ([DocumentValue]) -> Bool
  ) -> [[DocumentValue]] {
    var found: [[DocumentValue]] = []
    guard let root = roots[ExactName(table)] else {
      recordLoss(table, "the table is missing from the schema table")
      return lostRows(ofIndexes: true, like: isLikely)
    }
    let damaged = reader.each(from: root, isIndex: true) { found.append(values($0.record)) }
    guard damaged > 0 else { return found }
    recordLoss(table, "\(damaged) pages cannot be read")
    return found + lostRows(ofIndexes: true, like: isLikely)
  }

  /// Returns rows on pages that no B-tree has referenced so far.
  private func lostRows(
    ofIndexes isIndex: Bool, like isLikely: ([DocumentValue]) -> Bool
  ) -> [[DocumentValue]] {
    var found: [[DocumentValue]] = []
    for number in reader.lostPages {
      guard let bytes = reader.pages.page(number),
        let page = TreePage(bytes, number: number, pageSize: reader.pages.pageSize),
        page.kind.isIndex == isIndex
      else { continue }
      _ = reader.visitRows(page) { row in
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

/// Recognition of rows of the store's internal tables.
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

  /// Whether a row resembles one of `sqlite_schema`.
  private static func isDefinition(_ row: [DocumentValue]) -> Bool {
    guard row.count == 5, let sql = row[4].string else { return false }
    return row[0].string != nil && row[3].int != nil && sql.hasPrefix("CREATE ")
  }
}
