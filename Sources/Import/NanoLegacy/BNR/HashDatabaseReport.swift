// SPDX-License-Identifier: MIT

/// A range of a hash database that cannot be read.
struct HashDatabaseDamage: Equatable {
  enum Reason: String {
    case notABlock = "no block begins here"
    case invalidSize = "the sizes of the block contradict each other"
    case exceedsFile = "the block exceeds the file"
    case keyMismatch = "the key of the record does not have the record's hash"
    case suspectSize = "the block is followed by an unreadable one, so its size may be damaged"
    case valueTooLarge = "the value of the record is too large to be imported"
    case overlapping = "the record overlaps others that were read"
  }

  let offset: Int64
  /// The number of bytes until the next readable block.
  var length: Int64
  let reason: Reason
}

/// What was found while a hash database was read.
struct HashDatabaseReport: Equatable {
  /// The records that were returned.
  var recordCount = 0
  /// Those of them that the bucket array does not lead to because of damage.
  var unindexedCount = 0
  /// Old versions of records that were found in damaged or unused areas, and were ignored.
  var staleCount = 0
  /// The damaged ranges, at most ``maximumDamages``, in the order in which they were found.
  var damages: [HashDatabaseDamage] = []
  /// The number of damaged ranges, including those that are not listed.
  var damageCount = 0

  /// Arbitrary; bounds the memory that a hostile file can use.
  static let maximumDamages = 1_000

  mutating func add(_ damage: HashDatabaseDamage) {
    damageCount += 1
    if damages.count < Self.maximumDamages { damages.append(damage) }
  }
}
