// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// A 128-bit checksum of documents in order, the same on every machine and engine.
///
/// The mixing function is that of MurmurHash3 (x64, 128 bits; Austin Appleby, public domain), fed
/// with blocks of 16 bytes. Each string is preceded by its length, so that different documents
/// produce different blocks.
struct DocumentChecksum: Equatable {
  private var first: UInt64 = 0
  private var second: UInt64 = 0
  private(set) var documents = 0

  /// - Throws: ``StoreError/Code/corruptDocument`` for a document of another program that has no
  ///   stored form.
  mutating func add(_ document: StoredDocument) throws {
    try document.inStoredForm { absorb($0) }
  }

  private mutating func absorb(_ document: StoredDocument) {
    documents += 1
    absorb(
      UInt64(bitPattern: document.rowID), UInt64(bitPattern: document.added ?? Self.unknownTime))
    let version = document.version
    absorb(
      (version == nil ? 0 : 1) | (document.borrowedType == nil ? 0 : 2),
      UInt64(bitPattern: version ?? 0))
    switch document.borrowedKey {
    case .none: absorb(0, 0)
    case .uuid(let high, let low):
      absorb(1, 0)
      absorb(high, low)
    case .text(let bytes): absorb(bytes, 2)
    }
    if let type = document.borrowedType { absorb(type, 3) }
    absorb(document.body, 4)
  }

  /// The insertion time in a copy of a document without one, which another program wrote: the
  /// engine contract requires an insertion time for new documents.
  static let unknownTime: Int64 = 0

  var contents: CopyReport.Contents {
    let (high, low) = finished
    return CopyReport.Contents(
      documents: documents, checksum: Self.digits(high) + Self.digits(low))
  }

  private static func digits(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension DocumentChecksum {
  private mutating func absorb(_ bytes: UnsafeRawBufferPointer, _ kind: UInt64) {
    absorb(UInt64(bytes.count), kind)
    var offset = 0
    while offset + 16 <= bytes.count {
      absorb(
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)))
      offset += 16
    }
    guard offset < bytes.count else { return }
    var words: (UInt64, UInt64) = (0, 0)
    for (index, byte) in bytes[offset...].enumerated() {
      if index < 8 {
        words.0 |= UInt64(byte) << UInt64(index * 8)
      } else {
        words.1 |= UInt64(byte) << UInt64((index - 8) * 8)
      }
    }
    absorb(words.0, words.1)
  }

  @inline(__always)
  private mutating func absorb(_ a: UInt64, _ b: UInt64) {
    first ^= Self.rotated(a &* Self.c1, 31) &* Self.c2
    first = (Self.rotated(first, 27) &+ second) &* 5 &+ 0x52dc_e729
    second ^= Self.rotated(b &* Self.c2, 33) &* Self.c1
    second = (Self.rotated(second, 31) &+ first) &* 5 &+ 0x3849_5ab5
  }

  private var finished: (UInt64, UInt64) {
    var high = first ^ UInt64(documents)
    var low = second ^ UInt64(documents)
    high &+= low
    low &+= high
    high = Self.mixed(high)
    low = Self.mixed(low)
    high &+= low
    return (high, low &+ high)
  }

  private static let c1: UInt64 = 0x87c3_7b91_1142_53d5
  private static let c2: UInt64 = 0x4cf5_ad43_2745_937f

  @inline(__always)
  private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 {
    word << bits | word >> (64 - bits)
  }

  private static func mixed(_ word: UInt64) -> UInt64 {
    var word = (word ^ word >> 33) &* 0xff51_afd7_ed55_8ccd
    word = (word ^ word >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return word ^ word >> 33
  }
}
