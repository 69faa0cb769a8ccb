// SPDX-License-Identifier: MIT

import NanoDocument

/// The metadata of a class, which BNRPersistence stores as row 1 of the class's file.
struct BNRClassMetadata: Equatable {
  static let rowID: UInt32 = 1

  /// The last row ID that was assigned. Row IDs are never reused.
  var lastRowID: UInt32
  /// The version of the class that a bulk upgrade wrote; the versions of records are independent.
  var version: UInt8
  /// The number that stands for the class in references to objects of any class.
  var classID: UInt8
  /// The words from which encryption salts are made; files from before April 7, 2010 have none.
  var salt: BNRSalt?

  /// - Throws: ``StoreError/Code/corruptDocument`` for a record of another length.
  init(_ record: [UInt8]) throws(StoreError) {
    var buffer = BNRDataBuffer(record)
    guard record.count == 6 || record.count == 14 else {
      throw StoreError(
        .corruptDocument, "The metadata of the class has an unknown form",
        [.rowID: "\(Self.rowID)", .expected: "6 or 14 bytes", .actual: "\(record.count) bytes"])
    }
    lastRowID = try buffer.uint32()
    version = try buffer.uint8()
    classID = try buffer.uint8()
    if buffer.remaining > 0 {
      salt = BNRSalt(word0: try buffer.uint32(), word1: try buffer.uint32())
    }
  }
}

/// The salt of a class, or of one of its records.
struct BNRSalt: Equatable {
  var word0: UInt32
  var word1: UInt32

  func ofRow(_ rowID: UInt32) -> BNRSalt { BNRSalt(word0: word0, word1: word1 ^ rowID) }

  var bytes: [UInt8] {
    [word0, word1].flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }
}
