// SPDX-License-Identifier: MIT

import Crypto
import NanoDocument
import NanoEngine

/// A checksum of documents that does not depend on their order, and from which documents can be
/// removed: the sum of their digests.
struct ContentChecksum: Equatable, Codable {
  private(set) var documents = 0
  // With sign, since that is what a checkpoint in the store's metadata can hold.
  private var highBits: Int64 = 0
  private var lowBits: Int64 = 0

  private var high: UInt64 {
    get { UInt64(bitPattern: highBits) }
    set { highBits = Int64(bitPattern: newValue) }
  }
  private var low: UInt64 {
    get { UInt64(bitPattern: lowBits) }
    set { lowBits = Int64(bitPattern: newValue) }
  }

  struct Digest {
    let high: UInt64
    let low: UInt64
  }

  /// - Parameter isByRowID: Whether the row ID is part of the document's identity.
  static func digest(
    of document: StoredDocument, isByRowID: Bool
  ) -> Digest {
    digest(
      key: document.key, rowID: isByRowID ? document.rowID : nil, type: document.type,
      version: document.version, added: document.added, body: document.body)
  }

  static func digest(
    key: DocumentKey?, rowID: Int64?, type: String?, version: Int64?, added: Int64?,
    body: UnsafeRawBufferPointer
  ) -> Digest {
    var hash = SHA256()
    func add(_ number: Int64?) {
      withUnsafeBytes(of: (number == nil ? UInt8(0) : 1, (number ?? 0).littleEndian)) { bytes in
        // The bytes between the two are undefined.
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[..<1]))
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes.suffix(8)))
      }
    }
    func add(_ text: String?) {
      add(text.map { Int64($0.utf8.count) })
      var text = text ?? ""
      text.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    }
    add(key?.description)
    add(rowID)
    add(type)
    add(version)
    add(added)
    hash.update(bufferPointer: body)
    return hash.finalize().withUnsafeBytes {
      Digest(
        high: $0.loadUnaligned(as: UInt64.self),
        low: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
  }

  mutating func add(_ digest: Digest) {
    documents += 1
    let (sum, carry) = low.addingReportingOverflow(digest.low)
    low = sum
    high = high &+ digest.high &+ (carry ? 1 : 0)
  }

  mutating func remove(_ digest: Digest) {
    documents -= 1
    let (difference, borrow) = low.subtractingReportingOverflow(digest.low)
    low = difference
    high = high &- digest.high &- (borrow ? 1 : 0)
  }
}
