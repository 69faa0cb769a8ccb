// SPDX-License-Identifier: MIT

package import Foundation
package import NanoDocument

/// A value as stored in the wildcard index.
///
/// Matches are checked on the document, so different values may have the same index form as long as equal values
/// do and the order is preserved. This keeps rows small: Booleans are 0 and 1, dates are seconds since 2001,
/// null is an empty blob, and long strings and data are a prefix and a hash.
package enum WildcardIndexValue {
  case int(Int64)
  case double(Double)
  case text(String)
  case data(Data)

  /// The maximum length in bytes of strings and data that are stored whole. Arbitrary: names, words, and most
  /// addresses are shorter.
  static let maximumLength = 32
  /// The length of the prefix kept of longer ones; up to three bytes shorter to avoid splitting a character.
  static let prefix = 24
  /// The length of the prefix that is always kept, and therefore the most that ranges can compare.
  static let certainPrefix = 20

  /// Converts a value to its index form; `nil` for arrays and objects, which are not scalar.
  package init?(_ value: DocumentValue) {
    switch value {
    case .null: self = .data(Data())
    case .bool(let flag): self = .int(flag ? 1 : 0)
    case .int(let number): self = .int(number)
    // NaN sorts before all numbers.
    case .double(let number): self.init(number.isNaN ? -.infinity : number)
    // Decimals next to each other may have the same number, which is that of equal numbers.
    case .decimal(let number):
      switch DecimalPlace(number).number {
      case .integer(let integer): self = .int(integer)
      case .double(let double): self.init(double.isNaN ? -.infinity : double)
      }
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

  /// Uses an integer if the number is one, because it takes less space.
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
    // A leading byte distinguishes data from null.
    let kept = data.withUnsafeBytes { shortened($0, isText: false) } ?? Array(data)
    return Data([1] + kept)
  }

  /// Returns the prefix and hash of a value that is too long; `nil` if it is stored whole.
  @inline(__always)
  static func shortened(
    _ bytes: UnsafeRawBufferPointer, isText: Bool = true
  ) -> [UInt8]? {
    if bytes.count <= maximumLength { return nil }
    return truncated(bytes, isText)
  }

  @inline(never)
  private static func truncated(_ bytes: UnsafeRawBufferPointer, _ isText: Bool) -> [UInt8] {
    var end = prefix
    if isText { end = characterBoundary(bytes, end) }
    // FNV-1a; eight hexadecimal digits of it.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash ^= hash >> 32
    let digits = (0..<8).map { UInt8(truncatingIfNeeded: hash >> (28 - 4 * UInt64($0))) & 15 }
    return bytes[..<end] + digits.map { $0 < 10 ? 0x30 + $0 : 0x57 + $0 }
  }

  /// Returns the last character boundary at or before an offset.
  private static func characterBoundary(_ bytes: some RandomAccessCollection<UInt8>, _ limit: Int)
    -> Int
  {
    var end = limit
    while end > max(0, limit - 4),
      bytes[bytes.index(bytes.startIndex, offsetBy: end)] & 0xC0 == 0x80
    {
      end -= 1
    }
    return end
  }

  /// Returns the prefix of a text that is always in the index, for use as a range bound.
  package static func certainPrefix(of text: String) -> String {
    let bytes = Array(text.utf8)
    guard bytes.count > certainPrefix else { return text }
    return String(decoding: bytes[..<characterBoundary(bytes, certainPrefix)], as: UTF8.self)
  }
}
