// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// The names of the classes of a store, and the collections that their objects go to.
struct BNRClassNames {
  /// The collections by class ID, without IDs of several classes.
  private(set) var byID: [UInt8: String] = [:]
  /// The names of classes by class ID, of IDs of several classes.
  private(set) var ambiguous: [(id: UInt8, classes: [String])] = []
  private var byName: [ExactName: String] = [:]

  init(_ files: [BNRClassFile]) {
    // Names of collections ignore the case of ASCII letters.
    var taken: Set<ExactName> = []
    var classes: [UInt8: [String]] = [:]
    for file in files {
      let permitted = Self.isPermitted(file.name) ? file.name : "class_" + file.name
      var name = permitted
      var number = 1
      while !taken.insert(name.folded).inserted {
        number += 1
        name = "\(permitted)_\(number)"
      }
      byName[ExactName(file.name)] = name
      if case .success(let metadata) = file.metadata {
        byID[metadata.classID] = name
        classes[metadata.classID, default: []].append(file.name)
      }
    }
    for (id, classes) in classes.sorted(by: { $0.key < $1.key }) where classes.count > 1 {
      byID[id] = nil
      ambiguous.append((id, classes))
    }
  }

  private static func isPermitted(_ name: String) -> Bool {
    let folded = name.foldingASCII
    return !folded.hasExactPrefix("nano_") && !folded.hasExactPrefix("sqlite_")
  }

  func collection(of className: String) -> String { byName[ExactName(className)] ?? className }
}

/// A class of a store, with its description and what all of its records together show.
struct BNRClass {
  let file: BNRClassFile
  let description: BNRSchema.ClassDescription?
  let survey: BNRClassSurvey
  let hasVersionByte: Bool
  let collection: LegacyCollection
  private let cipher: BNRCipher?
  private let collectionsByID: [UInt8: String]

  var name: String { file.name }

  /// Whether every record of a class without a description could be encrypted.
  var mayBeEncrypted: Bool { description == nil && survey.isSurelyLocked }

  static func survey(
    _ files: [BNRClassFile], _ names: BNRClassNames, _ options: LegacyImportOptions
  ) throws(StoreError) -> [BNRClass] {
    var surveys: [BNRClassSurvey] = []
    for file in files {
      surveys.append(
        try BNRClassSurvey(
          file, options.schema?.classDescription(file.name),
          cipher: file.cipher(passphrase: options.passphrase), classNames: names.byID))
    }
    return files.indices.map { index in
      BNRClass(files[index], surveys[index], others: surveys, names, options)
    }
  }

  private init(
    _ file: BNRClassFile, _ survey: BNRClassSurvey, others: [BNRClassSurvey],
    _ names: BNRClassNames, _ options: LegacyImportOptions
  ) {
    self.file = file
    self.survey = survey
    description = options.schema?.classDescription(file.name)
    hasVersionByte =
      description.map { BNRClassSurvey.hasVersionByte($0, survey, others: others) } ?? false
    cipher = file.cipher(passphrase: options.passphrase)
    collectionsByID = names.byID
    var collection = LegacyCollection(
      name: names.collection(of: file.name), identity: .rowID, className: file.name)
    if !collection.name.hasSameBytes(as: file.name) { collection.notes.add(.renamedCollection) }
    collection.textIndexes = (description?.textIndexes ?? []).map { FieldPath(components: [$0]) }
    if case .success(let metadata) = file.metadata {
      collection.highestRowID = Int64(metadata.lastRowID)
    }
    self.collection = collection
  }
}

extension BNRClass {
  /// Passes the records to a closure.
  func read(_ visit: (LegacyRecord) throws -> Void) throws {
    // The readers throw store errors only; any other error is passed around them.
    var failure: (any Error)?
    let result = Result { () throws(StoreError) in
      try file.forEach { (row) throws(StoreError) in
        do {
          try visit(record(row))
        } catch {
          failure = error
          throw StoreError(.interrupted, "The import ended")
        }
      }
    }
    if let failure { throw failure }
    _ = try result.get()
  }

  /// The damage of the file.
  var damageNotes: [String] {
    let report = survey.report
    var notes: [String] = []
    if report.damageCount > 0 {
      notes.append("\(name): \(report.damageCount) damaged ranges of the file cannot be read")
    }
    for damage in report.damages.prefix(Self.listedDamages) {
      notes.append(
        "\(name): \(damage.reason.rawValue), \(damage.length) bytes at byte \(damage.offset)")
    }
    if report.unindexedCount > 0 {
      notes.append(
        "\(name): \(report.unindexedCount) records were found only by a scan of the damaged file")
    }
    if survey.foreignCount > 0 {
      notes.append("\(name): \(survey.foreignCount) records have keys that are not row IDs")
    }
    return notes
  }

  /// The number of damaged ranges that are listed. Arbitrary.
  private static let listedDamages = 100

  private func record(_ row: BNRClassFile.Row) -> LegacyRecord {
    LegacyRecord(className: name, collection: collection.name, position: "row \(row.rowID)") {
      () throws(LegacyFailure) in
      do throws(StoreError) {
        return try self.content(row)
      } catch {
        throw LegacyFailure(self.reason(error, row))
      }
    }
  }

  private func reason(_ error: StoreError, _ row: BNRClassFile.Row) -> String {
    var place: [String] = []
    if let field = error[.field] { place.append("field \(field)") }
    if let offset = error[.byteOffset] { place.append("byte \(offset)") }
    let reason = place.isEmpty ? error.reason : "\(error.reason) (\(place.joined(separator: ", ")))"
    let isLocked =
      BNRCipher.canBeEncrypted(row.bytes)
      && cipher?.isEncrypted(row.bytes, rowID: row.rowID) != true
    return isLocked ? reason + ", or the record is encrypted with another passphrase" : reason
  }

  private func content(_ row: BNRClassFile.Row) throws(StoreError) -> LegacyContent {
    let plain = try cipher?.decrypt(row.bytes, rowID: row.rowID) ?? row.bytes
    var content = LegacyContent()
    var document = LegacyDocument(rowID: Int64(row.rowID), object: [:])
    if let description {
      let decoder = BNRDocumentDecoder(description.fields, collectionsByID)
      let (record, notes) = try decoder.decode(plain, hasVersion: hasVersionByte)
      document.object = record.object
      // Version 0 is the first one, as a missing version is.
      document.version = record.version.flatMap { $0 == 0 ? nil : Int64($0) }
      content.notes = notes
    } else {
      document.object = ["data": .data(Data(plain))]
      content.notes.add(.rawData)
    }
    content.document = document
    return content
  }
}
