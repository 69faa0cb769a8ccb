// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// A folder of BNRPersistence: a hash database for each class, and one for named buffers.
final class BNRSource: LegacySource {
  private let folder: URL
  private let options: LegacyImportOptions
  private let classes: [BNRClass]
  private let names: BNRClassNames
  private let buffers: BNRNamedValues?
  private var found: [String] = []
  private var done = 0.0
  private(set) var fraction = 0.0

  let kind = LegacyStore.Kind.bnrPersistence
  var collections: [LegacyCollection] { classes.map(\.collection) }
  var metadata: [(name: String, value: DocumentValue)] { buffers?.values ?? [] }
  var notes: [String] { found }

  /// - Throws: The error of reading the folder, or of reading a file if no other file is a database.
  static func isLikely(_ folder: URL) throws(StoreError) -> Bool {
    var failure: StoreError?
    for url in try files(of: folder) {
      do throws(StoreError) {
        if try isDatabase(url) { return true }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return false
  }

  private static func isDatabase(_ url: URL) throws(StoreError) -> Bool {
    // A link may lead to a file that is missing.
    guard FileManager.default.fileExists(atPath: url.path) else { return false }
    return try HashDatabase.isDatabase(url)
  }

  /// The regular files of a folder, and links to files, sorted by name.
  private static func files(of folder: URL) throws(StoreError) -> [URL] {
    do {
      return try FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: nil
      ).filter { url in
        guard url.pathExtension != "wal" else { return false }
        let type = try attributes(url)[.type] as? FileAttributeType
        return type == .typeRegular || type == .typeSymbolicLink
      }.sorted { $0.lastPathComponent.isBefore($1.lastPathComponent) }
    } catch {
      throw StoreError(
        .cannotOpen, "The folder cannot be read",
        [.path: folder.path, .engineMessage: error.localizedDescription])
    }
  }

  /// The attributes of a file, or of the file that a link leads to, if there is one.
  private static func attributes(_ url: URL) throws -> [FileAttributeKey: Any] {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    guard attributes[.type] as? FileAttributeType == .typeSymbolicLink else { return attributes }
    let target = url.resolvingSymlinksInPath().path
    return (try? FileManager.default.attributesOfItem(atPath: target)) ?? attributes
  }

  init(_ folder: URL, _ options: LegacyImportOptions) throws {
    self.folder = folder
    self.options = options
    var files: [BNRClassFile] = []
    var named: BNRNamedBuffers?
    for url in try Self.files(of: folder) {
      guard try Self.isDatabase(url) else {
        let name = url.lastPathComponent
        if name.utf8.first != UInt8(ascii: ".") {
          found.append("the file \(name) is not a readable database and is not imported")
        }
        continue
      }
      do throws(StoreError) {
        if url.lastPathComponent.hasSameBytes(as: BNRNamedBuffers.fileName) {
          named = try BNRNamedBuffers(url)
        } else {
          files.append(try BNRClassFile(url))
        }
      } catch {
        guard [.corruptFile, .notADatabase, .unsupported].contains(error.code) else { throw error }
        found.append("the file \(url.lastPathComponent) cannot be read: \(error.reason)")
      }
    }
    let names = BNRClassNames(files)
    self.names = names
    classes = try BNRClass.survey(files, names, options)
    buffers = try named.map { try BNRNamedValues($0, names, options.schema) }
    noteFiles()
    if let sentence = named?.database.recovery.note {
      found.append("\(BNRNamedBuffers.fileName): \(sentence)")
    }
    if let count = buffers?.unindexedCount, count > 0 {
      found.append(
        "\(BNRNamedBuffers.fileName): \(count) records were found only by a scan of the damaged file"
      )
    }
  }

  private func noteFiles() {
    for one in classes {
      if let sentence = one.file.database.recovery.note { found.append("\(one.name): \(sentence)") }
      if case .failure(let error) = one.file.metadata {
        found.append("\(one.name): \(error.reason)")
      }
      found += one.damageNotes
      if one.mayBeEncrypted { found.append("\(one.name): the records may be encrypted") }
    }
    for (id, classes) in names.ambiguous {
      found.append(
        "\(classes.joined(separator: " and ")) have the same class ID \(id), so references with it "
          + "are stored as numbers")
    }
    for description in options.schema?.classes ?? []
    where !classes.contains(where: { $0.name.hasSameBytes(as: description.name) }) {
      found.append("\(description.name): the schema describes it, but the store has no such class")
    }
  }

  var fingerprint: String {
    let files = ((try? Self.files(of: folder)) ?? []) + [folder]
    let states = files.map { url in
      let attributes = try? Self.attributes(url)
      let date = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
      return "\(url.lastPathComponent) \(attributes?[.size] as? Int ?? 0) \(Int64(date * 1_000))"
    }
    // Several passphrases may each decrypt a part of the records.
    let decrypted = classes.map { "\($0.survey.decryptedCount) \($0.survey.decryptedRows)" }
    return (states + decrypted).joined(separator: " ")
  }

  func check() throws {
    let hasPassphrase = options.passphrase?.isEmpty == false
    let isAnyDecrypted = classes.contains { $0.survey.decryptedCount > 0 }
    let described = classes.filter { $0.description != nil && $0.survey.recordCount > 0 }
    let areAllLocked = described.allSatisfy(\.survey.isLocked)
    for one in classes {
      // A few locked records beside readable classes are more likely damaged.
      if one.description != nil, areAllLocked || one.survey.isSurelyLocked {
        try one.survey.checkPassphrase(className: one.name, hasPassphrase: hasPassphrase)
      }
      guard hasPassphrase, !isAnyDecrypted else { continue }
      // Encrypted and plain records may be mixed. A passphrase that decrypts none of them is wrong.
      guard one.survey.lockedCount > 0 else { continue }
      throw StoreError(
        .wrongKey, "The passphrase decrypts no record",
        [
          .collection: one.name,
          .hint: "if the store is not encrypted, import it without a passphrase",
        ])
    }
  }

  func summary() throws -> LegacySummary {
    var result = LegacySummary(kind: kind, version: "all")
    result.classes = classes.map {
      LegacySummary.Class(
        name: $0.name, records: $0.survey.recordCount, collection: $0.collection.name)
    }
    if let buffers {
      result.classes.append(
        LegacySummary.Class(name: BNRNamedBuffers.fileName, records: buffers.count, collection: nil)
      )
    }
    result.classes.sort { $0.name.isBefore($1.name) }
    result.notes = notes
    let undescribed = classes.filter { $0.description == nil }.map(\.name)
    if !undescribed.isEmpty {
      result.notes.append(
        "no schema describes \(undescribed.joined(separator: ", ")); the records are imported as data"
      )
    }
    return result
  }

  /// The classes, then what cannot be stored of the named buffers.
  var sectionCount: Int { classes.count + 1 }

  func read(_ section: Int, _ visit: (LegacyRecord) throws -> Void) throws {
    guard section < classes.count else {
      for record in buffers?.records ?? [] { try visit(record) }
      fraction = 1
      return
    }
    let total = Double(max(1, classes.reduce(0) { $0 + $1.survey.recordCount }))
    done = Double(classes.prefix(section).reduce(0) { $0 + $1.survey.recordCount })
    try classes[section].read { record in
      done += 1
      fraction = min(1, done / total)
      try visit(record)
    }
  }
}

extension HashDatabaseRecovery {
  /// What happened to the write-ahead file, as a sentence.
  var note: String? {
    switch self {
    case .none: nil
    case .rolledBack: "an unfinished transaction was rolled back in a copy"
    case .damaged: "the write-ahead file of an unfinished transaction is damaged"
    }
  }
}
