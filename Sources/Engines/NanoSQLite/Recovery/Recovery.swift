// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The recovery of a damaged file into a new store.
struct Recovery {
  private let pages: PageFile
  private let reader: TreeReader
  private let catalog: RecoveredCatalog

  init(_ damaged: DamagedCopy) throws {
    pages = PageFile(
      try MappedFile(damaged.path), log: try damaged.log.map { path in try MappedFile(path) })
    reader = TreeReader(pages)
    catalog = RecoveredCatalog(reader, Self.encoding(pages))
  }

  func run(
    into path: String, _ progress: ((Double) throws -> Void)?
  ) throws -> RecoveryReport {
    let names = collections()
    let groups = names.isEmpty ? LostDocuments(reader).groups() : []
    guard !names.isEmpty || !groups.isEmpty || !catalog.metadata.isEmpty || isEmptyStore else {
      throw StoreError(.notADatabase, "Nothing in the file looks like a store")
    }
    var configuration = SQLiteConfiguration()
    configuration.pageSize = pages.pageSize
    // The new file is written once, and mapped pages count toward the process's memory.
    configuration.mappedSize = 0
    configuration.encoding = catalog.encoding == .utf8 ? .utf8 : .utf16
    let engine = try SQLiteEngine(.file(path), configuration)
    do {
      let report = try fill(engine, names, progress)
      try engine.close()
      return report
    } catch {
      try? engine.close()
      throw error
    }
  }

  private var isEmptyStore: Bool { pages.header(68) == Int(Schema.applicationID) }

  private func fill(
    _ engine: SQLiteEngine, _ names: [CollectionRoot], _ progress: ((Double) throws -> Void)?
  ) throws -> RecoveryReport {
    let writer = RecoveryWriter(engine, catalog.encoding)
    noteFile(writer)
    var damaged: Set<ExactName> = []
    for entry in names {
      guard writer.begin(entry.name, entry.identity) else { continue }
      guard let root = entry.root else {
        writer.note(entry.name, "the collection has no table")
        damaged.insert(entry.folded)
        continue
      }
      var rows = 0
      let lost = try reader.each(from: root, isIndex: false) { row in
        try writer.add(row, to: entry.name)
        rows += 1
        if rows & 1_023 == 0 { try progress?(reader.progress) }
      }
      if lost > 0 {
        damaged.insert(entry.folded)
        writer.note(entry.name, "\(lost) pages of documents cannot be read")
      }
    }
    // Before the search for lost documents, in which pages of attachments would have no owner.
    try RecoveredBlobs(reader, catalog, engine, writer).run { try progress?(reader.progress) }
    try addLost(writer, names, damaged)
    try writer.endDocuments()
    for row in catalog.collections { writer.configure(row) }
    for (collection, root) in catalog.expirations {
      var times: [(rowID: Int64, time: Int64?)] = []
      var isComplete = !catalog.isSchemaDamaged
      let lost = reader.each(from: root, isIndex: false) { row in
        if row.record.values.count == 2, let time = row.record.values[1].int {
          times.append((row.id, time))
        } else {
          isComplete = false
        }
      }
      if lost > 0 { writer.note(collection, "\(lost) pages of expirations cannot be read") }
      writer.restoreExpirations(times, of: collection, areAll: isComplete && lost == 0)
    }
    for row in catalog.indexes { writer.restoreIndex(row) }
    for row in catalog.metadata { writer.restoreMetadata(row) }
    try progress?(1)
    return writer.finish()
  }

  private func noteFile(_ writer: RecoveryWriter) {
    if !pages.isHeaderSound { writer.note("file", "the header is damaged") }
    let version = pages.header(60)
    if version > Schema.newestFormatVersion {
      writer.note("file", "the header specifies the unknown format \(version)")
    }
    for loss in catalog.losses { writer.note(loss.subject, loss.message) }
  }

  /// A collection and the root page of its table.
  private struct CollectionRoot {
    let name: String
    let identity: CollectionIdentity
    let root: Int?

    var folded: ExactName { name.folded }
  }

  /// Returns the collections that have a table, those with a wrong root last, followed by those with only a row in
  /// `nano_collections`.
  private func collections() -> [CollectionRoot] {
    var roots: [CollectionRoot] = []
    var seen: Set<ExactName> = []
    for (name, root) in catalog.tables where seen.insert(name.folded).inserted {
      let row = catalog.collections.first {
        $0.name.foldingASCII.hasSameBytes(as: name.foldingASCII)
      }
      // That of an internal collection is always the same; the row may be damaged.
      let identity = InternalCollection(named: name)?.identity ?? row?.identity ?? .key
      roots.append(CollectionRoot(name: name, identity: identity, root: root))
    }
    // A damaged root may be a page of another collection, which is to find it first.
    let wrong = reader.pagesBelowOthers(Set(roots.compactMap(\.root)))
    roots =
      roots.filter { !wrong.contains($0.root ?? 0) } + roots.filter { wrong.contains($0.root ?? 0) }
    for row in catalog.collections where seen.insert(row.name.folded).inserted {
      roots.append(CollectionRoot(name: row.name, identity: row.identity, root: nil))
    }
    return roots
  }

  /// Adds the documents on pages that no table references.
  private func addLost(
    _ writer: RecoveryWriter, _ names: [CollectionRoot], _ damaged: Set<ExactName>
  ) throws {
    let lost = LostDocuments(reader)
    let groups = lost.groups()
    if !groups.isEmpty, !reader.knowsFreePages {
      writer.note(
        "file", "the list of free pages is damaged: deleted documents may reappear")
    }
    var spare: String?
    var noted: Set<ExactName> = []
    for group in groups {
      let owner = owner(of: group, damaged).flatMap { folded in
        names.first { $0.folded == folded }?.name
      }
      if owner == nil, spare == nil {
        spare = freeName(names)
        guard let spare, writer.begin(spare, .key) else { continue }
        writer.note(spare, "contains documents whose collection is unknown")
      }
      guard let collection = owner ?? spare else { continue }
      if owner != nil, noted.insert(ExactName(collection)).inserted {
        writer.note(
          collection, "documents on unreferenced pages were assigned to it by their fields")
      }
      let broken = try lost.each(group) { try writer.add($0, to: collection) }
      if broken > 0 { writer.note(collection, "\(broken) pages can be read only in part") }
    }
  }

  private func owner(of group: LostDocuments.Group, _ damaged: Set<ExactName>) -> ExactName? {
    let fitting = group.candidates(catalog.names, catalog.encoding)
    let both = fitting.filter(damaged.contains)
    if both.count == 1 { return both[0] }
    if fitting.count == 1 { return fitting[0] }
    guard fitting.isEmpty, damaged.count == 1, let only = damaged.first else { return nil }
    // None, or not all, of its names are known.
    return only
  }

  private func freeName(_ names: [CollectionRoot]) -> String {
    let taken = Set(names.map(\.folded))
    return sequence(first: 1) { $0 + 1 }.lazy.map { $0 == 1 ? "recovered" : "recovered_\($0)" }
      .first { !taken.contains(ExactName($0)) } ?? "recovered"
  }

  /// Returns the likely encoding of the file's text, from a sample of rows; the header's encoding if they do not
  /// indicate one.
  static func encoding(_ pages: PageFile) -> StoredTextEncoding {
    let reader = TreeReader(pages)
    var votes: [StoredTextEncoding: Int] = [:]
    for number in stride(from: 1, through: pages.count, by: 1) {
      guard let bytes = pages.page(number),
        let page = TreePage(bytes, number: number, pageSize: pages.pageSize)
      else {
        continue
      }
      _ = reader.visitRows(page) { row in
        if let inferred = StoredTextEncoding.inferred(from: row.record) {
          votes[inferred, default: 0] += 1
        }
      }
      // Arbitrary; sufficient for an estimate.
      if votes.values.reduce(0, +) > 200 { break }
    }
    return votes.max { $0.value < $1.value }?.key
      ?? StoredTextEncoding(rawValue: pages.header(56)) ?? .utf8
  }
}
