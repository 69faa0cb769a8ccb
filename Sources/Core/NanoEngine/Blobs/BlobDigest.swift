// SPDX-License-Identifier: MIT

import Foundation

/// A SHA-256 digest of 32 bytes, which identifies a blob by its content.
package struct BlobDigest: Sendable, Hashable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// The number of bytes of a digest.
  package static let length = 32

  /// Creates a digest from its bytes, or returns `nil` for any other number of bytes than 32.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.length else { return nil }
    func word(_ index: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
    }
    words = (word(0), word(1), word(2), word(3))
  }

  package init?(_ bytes: [UInt8]) {
    guard let digest = bytes.withUnsafeBytes({ BlobDigest($0) }) else { return nil }
    self = digest
  }

  package var bytes: [UInt8] {
    withUnsafeBytes(
      of: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
    ) { Array($0) }
  }

  package static func == (a: BlobDigest, b: BlobDigest) -> Bool { a.words == b.words }

  package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// The form of digests in documents: `sha256-` and 64 hexadecimal digits, as `sha256sum` prints them.
///
/// Hexadecimal digits need no escape in JSON, in any spelling, so digests are found in the bytes of a body.
extension BlobDigest {
  private static let prefix: StaticString = "sha256-"
  private static var textLength: Int { prefix.utf8CodeUnitCount + 2 * length }

  package var text: String {
    let digits = Array("0123456789abcdef".utf8)
    let hexadecimal = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return "\(Self.prefix)" + String(decoding: hexadecimal, as: UTF8.self)
  }

  /// Creates a digest from its text form, or returns `nil` for any other text.
  package init?(text: String) {
    var text = text
    let parsed = text.withUTF8 { bytes -> BlobDigest? in
      let bytes = UnsafeRawBufferPointer(bytes)
      guard bytes.count == Self.textLength, let base = bytes.baseAddress,
        memcmp(base, Self.prefix.utf8Start, Self.prefix.utf8CodeUnitCount) == 0
      else { return nil }
      return Self.digest(UnsafeRawBufferPointer(rebasing: bytes[Self.prefix.utf8CodeUnitCount...]))
    }
    guard let parsed else { return nil }
    self = parsed
  }

  /// Parses 64 hexadecimal digits.
  private static func digest(_ digits: UnsafeRawBufferPointer) -> BlobDigest? {
    func word(_ index: Int) -> UInt64? {
      var word: UInt64 = 0
      for position in 16 * index..<16 * index + 16 {
        guard let value = value(digits[position]) else { return nil }
        word = word << 4 | UInt64(value)
      }
      return word
    }
    guard let first = word(0), let second = word(1), let third = word(2), let fourth = word(3)
    else { return nil }
    return BlobDigest(words: (first, second, third, fourth))
  }

  private init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }

  /// Passes every digest that occurs in the bytes of a body to a closure, whatever the field.
  package static func each(in body: UnsafeRawBufferPointer, _ visit: (BlobDigest) -> Void) {
    let name = prefix.utf8CodeUnitCount - 1
    guard let base = body.baseAddress, body.count >= textLength else { return }
    let end = base + body.count
    var at = base + name
    // The hyphen at the end of the prefix is rarer than its letters.
    while at < end, let found = memchr(at, 0x2D, end - at) {
      at = UnsafeRawPointer(found) + 1
      guard end - at >= 2 * length else { return }
      guard memcmp(at - 1 - name, prefix.utf8Start, name) == 0,
        let digest = digest(UnsafeRawBufferPointer(start: at, count: 2 * length))
      else { continue }
      visit(digest)
    }
  }
}
