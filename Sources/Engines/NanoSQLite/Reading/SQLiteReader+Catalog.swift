// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// What the file knows about collections: indexes, settings, field paths, and metadata.
extension SQLiteReader {
  func indexes(in collection: String) throws -> [IndexDefinition] {
    try connection.table(collection)?.indexes ?? []
  }

  func unfinishedIndexes() throws -> [PendingIndex] {
    let names = try connection.all(
      SQLFragment("SELECT DISTINCT collection FROM nano_indexes WHERE filled IS NOT NULL")
    ) { $0.text(0) ?? "" }
    return try names.flatMap { name in
      do {
        return try (connection.table(name)?.unfinished ?? []).map {
          PendingIndex(collection: name, index: $0.index)
        }
      } catch let error as StoreError where error.code == .corruptFile {
        // A damaged collection must not hide the unfinished indexes of the others.
        return []
      }
    }
  }

  func indexCostRecords() throws -> [IndexCostRecord] {
    try connection.all(
      SQLFragment(
        "SELECT collection, subject, state FROM nano_index_ledger ORDER BY collection, subject")
    ) {
      IndexCostRecord(
        collection: $0.text(0) ?? "", subject: $0.text(1) ?? "", state: $0.text(2) ?? "")
    }
  }

  func indexing(in collection: String) throws -> IndexingPolicy {
    try connection.table(collection)?.wildcardIndex == nil ? .declared : .everything
  }

  func types(in collection: String) throws -> [String] {
    try connection.consistently {
      guard let table = try connection.table(collection) else { return [] }
      if try !table.parts.contains(.type) && !connection.hasForeignRows(table.description.name) {
        return []
      }
      // The column precedes the body, so the overflow pages of long bodies are not read.
      let name = SQLName.quoted(table.description.name)
      var sql = SQLFragment("SELECT DISTINCT type FROM \(name) WHERE type IS NOT NULL")
      if let expiry = table.expiry {
        sql.append(SQLFragment(" AND " + expiry.isVisible("?"), [.int(time)]))
      }
      return try connection.all(sql) { $0.text(0) ?? "" }.sorted { $0.isBefore($1) }
    }
  }

  func highestRowID(in collection: String) throws -> Int64? {
    guard let table = try connection.table(collection) else { return 0 }
    let name = table.description.name
    return try connection.first(
      SQLFragment(
        "SELECT max(high_water, (SELECT coalesce(max(id), 0) FROM \(SQLName.quoted(name)))) "
          + "FROM nano_collections WHERE name = ?", [.text(name)])
    ) { $0.int(0) }
  }

  func settings(of collection: String) throws -> CollectionSettings {
    try connection.table(collection)?.settings ?? CollectionSettings()
  }

  func allPaths(in collection: String) throws -> [ObservedPath] {
    guard let table = try connection.table(collection) else { return [] }
    var types: [CatalogPath: ObservedTypes] = [:]
    let catalogRows = SQLFragment(
      "SELECT path, types FROM nano_paths WHERE collection = ?", [.text(table.description.name)])
    for (path, seen) in try connection.all(
      catalogRows, { (CatalogPath($0.text(0) ?? ""), ObservedTypes(rawValue: Int($0.int(1)))) })
    {
      types[path] = seen
    }
    for (path, seen) in try foreignPaths(table) { types[path, default: []].formUnion(seen) }
    return types.map { ObservedPath(path: $0.key.unescaped.text, types: $0.value) }
      .sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// Returns the paths of rows that another program wrote and that are not in the path catalog yet.
  private func foreignPaths(
    _ table: CollectionTable
  ) throws -> [(CatalogPath, ObservedTypes)] {
    guard try connection.hasForeignRows(table.description.name) else { return [] }
    let paths = PathTrie()
    let name = SQLName.quoted(table.description.name)
    try connection.with(
      SQLFragment("SELECT \(ForeignRow.columns) FROM \(name) WHERE revision IS NULL")
    ) { row in
      while try row.step() {
        // A row that does not decode has no paths to report.
        try? ForeignRow(row).body.withUnsafeBytes { try paths.observe($0) }
      }
    }
    return paths.takeChanged().map {
      (paths.path(of: $0), ObservedTypes(rawValue: Int(paths.nodes[Int($0)].types)))
    }
  }

  func metadata(_ name: String) throws -> DocumentValue? {
    guard connection.isUTF8 || TextEncoding.preserves(name) else { return nil }
    return try RowDamage.naming(MetadataRow.table) {
      try connection.first(
        SQLFragment("SELECT value FROM nano_metadata WHERE name = ?", [.text(name)])
      ) { row in
        var reader = JSONReader(row.bytes(0))
        guard let value = try? reader.value(), reader.isAtEnd else {
          return try MetadataRow([.string(name), row.value(0)]).value
        }
        return value
      }
    }
  }

  func metadataNames() throws -> [String] {
    try RowDamage.naming(MetadataRow.table) {
      try connection.all("SELECT name FROM nano_metadata") { $0.text(0) ?? "" }
        .sorted { $0.isBefore($1) }
    }
  }
}
