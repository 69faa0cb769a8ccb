// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// What all records of a class together show: whether they have version bytes, and whether they are
/// encrypted.
///
/// The file says neither. Both are decided by which assumption decodes the records exactly to their ends.
struct BNRClassSurvey: Equatable {
  /// How well records decode under one assumption.
  struct Fit: Equatable {
    var records = 0
    /// Dates and class IDs that decode, but are improbable.
    var oddities = 0

    mutating func add(_ record: BNRDecodedRecord) {
      records += 1
      oddities += record.datesOutOfRange + record.unknownClasses
    }
  }

  /// The records, without the metadata.
  var recordCount = 0
  /// The records that the passphrase decrypted.
  private(set) var decryptedCount = 0
  /// A hash (FNV-1a) of the row IDs of these records. It reveals nothing else about the passphrase.
  private(set) var decryptedRows: UInt64 = 14_695_981_039_346_656_037
  /// The records that neither the passphrase nor the schema can read, and whose lengths are those of
  /// encrypted records.
  var lockedCount = 0
  /// All records that neither the passphrase nor the schema can read.
  private(set) var unreadableCount = 0
  var withVersion = Fit()
  var withoutVersion = Fit()
  /// Whether the class has no salt words, because its file is from before April 7, 2010.
  var isOldForm = false
  /// What was found in the file.
  var report = HashDatabaseReport()
  /// The records whose keys are not row IDs, at most ``HashDatabaseReport/maximumDamages``.
  var foreignCount = 0

  /// - Parameters:
  ///   - description: The class in the schema; without it, the version bytes remain unknown.
  ///   - cipher: The cipher of the class; `nil` without a passphrase.
  init(
    _ file: BNRClassFile, _ description: BNRSchema.ClassDescription?, cipher: BNRCipher?,
    classNames: [UInt8: String]
  ) throws(StoreError) {
    if case .success(let metadata) = file.metadata { isOldForm = metadata.salt == nil }
    let decoder = description.map { BNRRecordDecoder($0.fields, classNames: classNames) }
    var survey = self
    let (report, foreign) = try file.forEach { row in survey.add(row, decoder, cipher) }
    self = survey
    self.report = report
    foreignCount = foreign.count
  }

  init() {}

  private mutating func add(
    _ row: BNRClassFile.Row, _ decoder: BNRRecordDecoder?, _ cipher: BNRCipher?
  ) {
    recordCount += 1
    let decrypted = Result { () throws(StoreError) in
      try cipher?.decrypt(row.bytes, rowID: row.rowID)
    }
    guard case .success(let plain) = decrypted else { return countDecrypted(row.rowID) }
    if plain != nil { countDecrypted(row.rowID) }
    var isReadable = plain != nil
    for hasVersion in [true, false] {
      let record = try? decoder?.decode(plain ?? row.bytes, hasVersion: hasVersion)
      guard let record else { continue }
      isReadable = true
      if hasVersion { withVersion.add(record) } else { withoutVersion.add(record) }
    }
    guard !isReadable else { return }
    unreadableCount += 1
    if BNRCipher.canBeEncrypted(row.bytes) { lockedCount += 1 }
  }

  private mutating func countDecrypted(_ rowID: UInt32) {
    decryptedCount += 1
    decryptedRows = (decryptedRows ^ UInt64(rowID)) &* 1_099_511_628_211
  }

  /// Returns whether the class's records have version bytes, or `nil` if they do not show it.
  var hasVersionByte: Bool? {
    let (yes, no) = (withVersion, withoutVersion)
    if yes.records != no.records { return yes.records > no.records }
    guard yes.records > 0, yes.oddities != no.oddities else { return nil }
    return yes.oddities < no.oddities
  }

  /// Returns whether the records of a class have version bytes.
  ///
  /// Versioning was a setting of the store, not of a class: a class whose own records do not show it follows the
  /// others, and a store that does not show it has the default of the library's version.
  static func hasVersionByte(
    _ description: BNRSchema.ClassDescription, _ survey: BNRClassSurvey,
    others: [BNRClassSurvey]
  ) -> Bool {
    switch description.versionByte {
    case .yes: return true
    case .no: return false
    case .detect: break
    }
    if let own = survey.hasVersionByte { return own }
    let verdicts = others.compactMap(\.hasVersionByte)
    let yes = verdicts.count { $0 }
    if 2 * yes != verdicts.count { return 2 * yes > verdicts.count }
    return !survey.isOldForm
  }

  /// Whether the class appears to be encrypted, and nothing in it was decrypted: the passphrase is missing
  /// or wrong.
  var isLocked: Bool {
    decryptedCount == 0 && lockedCount > 0 && lockedCount == recordCount
  }

  /// Whether the unreadable records are encrypted, and not damaged: if all of four or more have fitting lengths, that is
  /// hardly a coincidence. Other records may be plain.
  var isSurelyLocked: Bool {
    decryptedCount == 0 && lockedCount >= 4 && lockedCount == unreadableCount
  }

  /// - Throws: ``StoreError/Code/wrongKey`` if ``isLocked`` or ``isSurelyLocked``.
  func checkPassphrase(className: String, hasPassphrase: Bool) throws(StoreError) {
    guard isLocked || isSurelyLocked else { return }
    throw StoreError(
      .wrongKey,
      hasPassphrase
        ? "The passphrase does not decrypt the class"
        : "Records of the class appear to be encrypted, and there is no passphrase",
      [
        .collection: className, .actual: "\(lockedCount) unreadable records",
        .hint:
          "if the class is not encrypted, compare its fields in the schema with its code, or leave it out to import data",
      ])
  }
}
