// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoSQLite

/// A file of NanoStore for Objective-C, 2.0 and later: a row of `NSFKeys` for each document, with
/// its content as a keyed archive or a property list.
final class NanoStoreSource: LegacySource {
  static let plainClass = "NSFNanoObject"
  static let bagClass = "NSFNanoBag"

  private let file: SQLiteSource
  private let options: LegacyImportOptions
  private let rows: NanoStoreRows
  private let calendar: Calendar
  private let now = Date()
  private var rebuilder: NanoStoreRebuilder?
  private var hasCollectedValues = false
  /// The row IDs of the current versions on unreferenced pages, by key; nil until a row is found there.
  private var currentLostRows: [ExactName: Int64]?
  private(set) var fraction = 0.0

  let kind = LegacyStore.Kind.nanoStore
  let collections: [LegacyCollection]
  let metadata: [(name: String, value: DocumentValue)] = []
  var notes: [String] { file.damage }
  var fingerprint: String { file.fingerprint }

  static func isLikely(_ file: SQLiteSource) -> Bool {
    if let keys = file.tables.table("NSFKeys") { return keys.column("NSFKey") != nil }
    return file.tables.isSchemaDamaged && NanoStoreRows(lostIn: file).isLikely
  }

  init(_ file: SQLiteSource, _ options: LegacyImportOptions) throws {
    self.file = file
    self.options = options
    rows =
      file.tables.table("NSFKeys").map { NanoStoreRows(file, $0) } ?? NanoStoreRows(lostIn: file)
    calendar = options.saveCalendar
    collections = [
      LegacyCollection(name: options.collection, identity: .key, className: Self.plainClass)
    ]
    if options.rebuildsFromIndex { rebuilder = NanoStoreRebuilder(file) }
  }

  func check() throws {}

  /// Documents and empty bags, then the members of bags.
  let sectionCount = 2

  func read(_ section: Int, _ visit: (LegacyRecord) throws -> Void) throws {
    collectValues()
    let total = Double(max(1, rows.count))
    var done = 0.0
    try rows.each { [self] row in
      done += 1
      fraction = (Double(section) + min(1, done / total)) / 2
      try visit(section == 0 ? record(row) : members(row))
    }
    fraction = Double(section + 1) / 2
  }

  func summary() throws -> LegacySummary {
    var counts: [ExactName: Int] = [:]
    rows.each { counts[ExactName($0.className ?? Self.plainClass), default: 0] += 1 }
    return LegacySummary(
      kind: kind, version: rows.hasPropertyLists ? "2.0 to 2.2" : "2.5 or later",
      classes: counts.sorted { $0.key < $1.key }.map { name, count in
        LegacySummary.Class(
          name: name.text, records: count,
          collection: name.text.hasSameBytes(as: Self.bagClass) ? nil : options.collection)
      }, notes: notes)
  }
}

extension NanoStoreSource {
  private func record(_ row: NanoStoreRow) -> LegacyRecord {
    let name = row.className ?? Self.plainClass
    return LegacyRecord(
      className: name, collection: name.hasSameBytes(as: Self.bagClass) ? nil : options.collection,
      position: row.position
    ) { () throws(LegacyFailure) in try self.content(row) }
  }

  private func content(_ row: NanoStoreRow) throws(LegacyFailure) -> LegacyContent {
    var content = LegacyContent()
    let decoded = try decoded(row, &content.notes)
    guard !isEarlierVersion(row) else {
      content = LegacyContent()
      content.notes.add(.duplicateKey)
      return content
    }
    if row.isLost { content.notes.add(.recoveredRecord) }
    if let bag = StoredBag(row, decoded.object) {
      content.bag = .bag(key: bag.key, name: bag.name)
      guard bag.isCustom else { return content }
      content.notes.add(.customBag)
    }
    content.notes.merge(decoded.notes)
    let key = key(of: row, &content.notes)
    let added = row.saved.flatMap { CivilDate.microseconds(ofSave: $0, calendar, now: now) }
    if added == nil { content.notes.add(.unknownDate) }
    let isPlain = row.className.map { $0.hasSameBytes(as: Self.plainClass) } ?? true
    content.document = LegacyDocument(
      key: key, type: isPlain ? nil : row.className, added: added, object: decoded.object)
    return content
  }

  /// Returns nil for a key that must be generated.
  private func key(of row: NanoStoreRow, _ notes: inout ConversionNotes) -> DocumentKey? {
    if let key = row.key.flatMap({ try? DocumentKey($0) }) { return key }
    notes.add(.generatedKey)
    return nil
  }

  private func decoded(
    _ row: NanoStoreRow, _ notes: inout ConversionNotes
  ) throws(LegacyFailure) -> DecodedContent {
    do throws(LegacyFailure) {
      return try row.decoded()
    } catch {
      guard let object = rebuiltObject(row) else { throw error }
      notes.add(.rebuiltFromIndex)
      return DecodedContent(object: object)
    }
  }

  private func members(_ row: NanoStoreRow) -> LegacyRecord {
    LegacyRecord(
      className: row.className ?? Self.plainClass, collection: nil, position: row.position
    ) { () throws(LegacyFailure) in
      // The first section reported rows that do not decode, and conversions.
      var notes = ConversionNotes()
      guard row.mayBeBag || self.rebuiltObject(row) != nil,
        let decoded = try? self.decoded(row, &notes), !self.isEarlierVersion(row),
        let bag = StoredBag(row, decoded.object)
      else { return LegacyContent() }
      return LegacyContent(bag: .members(of: bag.key, bag.members))
    }
  }

  private func rebuiltObject(_ row: NanoStoreRow) -> DocumentObject? {
    row.key.flatMap { rebuilder?.object($0) }
  }

  /// Collects the values of unreadable documents, also if the import resumes after the first section.
  private func collectValues() {
    guard let rebuilder, !hasCollectedValues else { return }
    hasCollectedValues = true
    rebuilder.collect(unreadableKeys())
  }

  /// Whether a row on an unreferenced page is an earlier version of another readable row: unused pages keep rows
  /// that were replaced or deleted.
  private func isEarlierVersion(_ row: NanoStoreRow) -> Bool {
    guard row.isLost, let key = Self.versionedKey(row) else { return false }
    let current = currentLostRows ?? findCurrentLostRows()
    currentLostRows = current
    return current[key] != row.id
  }

  /// Returns the key by which versions of a document are recognized; nil if the document gets a generated key.
  private static func versionedKey(_ row: NanoStoreRow) -> ExactName? {
    guard let key = row.key, (try? DocumentKey(key)) != nil else { return nil }
    return ExactName(key)
  }

  /// Of rows with the same key, one of the table is current, otherwise the one that was added last.
  private func findCurrentLostRows() -> [ExactName: Int64] {
    func isReadable(_ row: NanoStoreRow) -> Bool {
      var notes = ConversionNotes()
      return (try? decoded(row, &notes)) != nil
    }
    var current: [ExactName: Int64] = [:]
    rows.each { row in
      guard row.isLost, let key = Self.versionedKey(row), isReadable(row) else { return }
      current[key] = max(row.id, current[key] ?? row.id)
    }
    rows.each { row in
      guard !row.isLost, let key = Self.versionedKey(row), current[key] != nil, isReadable(row)
      else { return }
      current[key] = nil
    }
    return current
  }

  private func unreadableKeys() -> Set<ExactName> {
    var keys: Set<ExactName> = []
    rows.each { row in
      guard let key = row.key, keys.count < NanoStoreRebuilder.maximumDocuments else { return }
      if (try? row.decoded()) == nil { keys.insert(ExactName(key)) }
    }
    return keys
  }
}

/// A bag as its row stores it.
struct StoredBag {
  let key: DocumentKey
  let name: String?
  let members: [String]
  /// Whether a class of the application wrote it, or it has fields of its own.
  let isCustom: Bool

  static let membersField = "NSF_Private_NSFNanoBag_NSFObjectKeys"
  private static let keyField = "NSF_Private_NSFNanoBag_NSFKey"
  private static let nameField = "NSF_Private_NSFNanoBag_Name"

  /// Returns nil for a document.
  init?(_ row: NanoStoreRow, _ object: DocumentObject) {
    let isBag = row.className?.hasSameBytes(as: NanoStoreSource.bagClass) ?? false
    let field = object[Self.membersField]
    // A single member that was rebuilt from the table of values is not in an array.
    let members: [DocumentValue]? = field?.array ?? field?.string.map { [DocumentValue.string($0)] }
    guard isBag || members != nil else { return nil }
    let keys = [row.key, object[Self.keyField]?.string]
    guard let key = keys.lazy.compactMap({ $0.flatMap { try? DocumentKey($0) } }).first else {
      return nil
    }
    self.key = key
    name = object[Self.nameField]?.string
    self.members = (members ?? []).compactMap(\.string)
    let own: Set<ExactName> = [
      ExactName(Self.membersField), ExactName(Self.keyField), ExactName(Self.nameField),
    ]
    isCustom = !isBag || object.contains { !own.contains(ExactName($0.name)) }
  }
}
