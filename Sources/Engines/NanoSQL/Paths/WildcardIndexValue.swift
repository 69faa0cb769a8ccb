// SPDX-License-Identifier: MIT

package import Foundation
package import NanoDocument

/// A value as the wildcard index of a collection stores it.
///
/// What it finds is checked on the document, so different values may look alike as long as equal
/// ones do and the order is kept: rows stay small. Booleans are 0 and 1, dates the seconds since
/// 2001, null is an empty blob, a long text or data its beginning and a hash.
package enum WildcardIndexValue {
  case int(Int64)
  case double(Double)
  case text(String)
  case data(Data)

  /// Bytes of a text or of data that are kept as they are. Arbitrary: names, words and most
  /// addresses are shorter.
  static let longest = 32
  /// Bytes that are kept of longer ones; up to three fewer where a character would be cut.
  static let prefix = 24
  /// Bytes that are certainly kept of every text that has them, so that ranges look at no more.
  static let certainPrefix = 20

  /// Converts a value to its indexed form; nil for arrays and objects, which are not leaves.
  package init?(_ value: DocumentValue) {
    switch value {
    case .null: self = .data(Data())
    case .bool(let flag): self = .int(flag ? 1 : 0)
    case .int(let number): self = .int(number)
    // NaN sorts before all numbers.
    case .double(let number): self.init(number.isNaN ? -.infinity : number)
    // An invalid date sorts after all others.
    case .date(let date):
      let seconds = date.timeIntervalSinceReferenceDate
      self.init(seconds.isNaN ? .infinity : seconds)
    case .string(let text): self = .text(Self.text(text))
    case .url(let url): self = .text(Self.text(url.absoluteString))
    case .data(let data): self = .data(Self.data(data))
    case .array, .object: return nil
    }
  }

  /// An integer where the number is one, which takes less space.
  private init(_ number: Double) {
    self = Int64(exactly: number).map { .int($0) } ?? .double(number)
  }

  private static func text(_ text: String) -> String {
    var text = text
    return text.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      return String(decoding: shortened(bytes) ?? Array(bytes), as: UTF8.self)
    }
  }

  private static func data(_ data: Data) -> Data {
    // One byte before it, so that no data looks like null.
    let kept = data.withUnsafeBytes { shortened($0, isText: false) } ?? Array(data)
    return Data([1] + kept)
  }

  /// The beginning and a hash of a text that is too long; nil if it is kept as it is.
  @inline(__always)
  static func shortened(
    _ bytes: UnsafeRawBufferPointer, isText: Bool = true
  ) -> [UInt8]? {
    if bytes.count <= longest { return nil }
    return cut(bytes, isText)
  }

  @inline(never)
  private static func cut(_ bytes: UnsafeRawBufferPointer, _ isText: Bool) -> [UInt8] {
    var end = prefix
    if isText { end = characterBoundary(bytes, end) }
    // FNV-1a; eight hexadecimal digits of it.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash ^= hash >> 32
    let digits = (0..<8).map { UInt8(truncatingIfNeeded: hash >> (28 - 4 * UInt64($0))) & 15 }
    return bytes[..<end] + digits.map { $0 < 10 ? 0x30 + $0 : 0x57 + $0 }
  }

  /// The last place up to this one where a character begins.
  private static func characterBoundary(_ bytes: some RandomAccessCollection<UInt8>, _ place: Int)
    -> Int
  {
    var end = place
    while end > max(0, place - 4),
      bytes[bytes.index(bytes.startIndex, offsetBy: end)] & 0xC0 == 0x80
    {
      end -= 1
    }
    return end
  }

  /// The beginning that a range of texts can count on.
  package static func certainPrefix(of text: String) -> String {
    let bytes = Array(text.utf8)
    guard bytes.count > certainPrefix else { return text }
    return String(decoding: bytes[..<characterBoundary(bytes, certainPrefix)], as: UTF8.self)
  }
}
