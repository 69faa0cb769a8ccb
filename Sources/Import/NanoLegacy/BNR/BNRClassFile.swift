// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The file of a class in a BNRPersistence store: its metadata, and its records by row ID.
final class BNRClassFile {
  /// The name of the class.
  let name: String
  let database: HashDatabase
  /// The metadata, or the error with which reading it failed. Without it, encrypted records cannot be
  /// decrypted and references to any class cannot be resolved.
  let metadata: Result<BNRClassMetadata, StoreError>

  /// - Throws: The errors of ``HashDatabase/init(_:)``.
  init(_ url: URL) throws(StoreError) {
    name = url.lastPathComponent
    database = try HashDatabase(url)
    metadata = try Self.metadata(database)
  }

  /// A record that is not decoded yet.
  struct Row {
    let rowID: UInt32
    let bytes: [UInt8]
  }

  /// Passes each record, except the metadata, in no particular order.
  ///
  /// - Returns: What was found in the file, and the offsets of records whose keys are not row IDs, at most
  ///   ``HashDatabaseReport/maximumDamages``.
  func forEach(
    _ body: (Row) throws(StoreError) -> Void
  ) throws(StoreError) -> (report: HashDatabaseReport, foreign: [Int64]) {
    var foreign: [Int64] = []
    let report = try database.forEach { (record) throws(StoreError) in
      guard let rowID = Self.rowID(record.key), rowID != 0 else {
        if foreign.count < HashDatabaseReport.maximumDamages { foreign.append(record.offset) }
        return
      }
      guard rowID != BNRClassMetadata.rowID else { return }
      try body(Row(rowID: rowID, bytes: record.value))
    }
    return (report, foreign)
  }

  /// Returns the cipher for the class, or `nil` without a passphrase or without salt words.
  func cipher(passphrase: String?) -> BNRCipher? {
    guard let passphrase, let salt = try? metadata.get().salt else { return nil }
    return BNRCipher(passphrase: passphrase, salt: salt)
  }

  static func rowID(_ key: [UInt8]) -> UInt32? {
    key.count == 4 ? key.reversed().reduce(0) { $0 << 8 | UInt32($1) } : nil
  }

  private static func metadata(
    _ database: HashDatabase
  ) throws(StoreError) -> Result<BNRClassMetadata, StoreError> {
    guard let record = try metadataRecord(database) else {
      return .failure(
        StoreError(
          .notFound, "The file has no metadata of its class",
          [.rowID: "\(BNRClassMetadata.rowID)"]))
    }
    return Result { () throws(StoreError) in try BNRClassMetadata(record) }
  }

  private static func metadataRecord(_ database: HashDatabase) throws(StoreError) -> [UInt8]? {
    let key = [UInt8(BNRClassMetadata.rowID), 0, 0, 0]
    let reader = database.reader
    if case .found(let offset) = try HashDatabaseIndex(reader: reader).find(key),
      case .record(let record) = try reader.block(offset, limit: reader.file.count)
    {
      return try reader.value(record)
    }
    var found: [UInt8]?
    _ = try database.forEach { record in
      if record.key == key { found = record.value }
    }
    return found
  }
}
