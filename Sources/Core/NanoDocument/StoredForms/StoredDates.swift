// SPDX-License-Identifier: MIT

import Foundation

/// Dates in the bytes of stored documents.
package enum StoredDates {
  private static let name = Array(#""$date":""#.utf8)

  /// Returns a stored body with its dates as ``JSONWriter/text(_:pretty:dialect:)`` writes them, or
  /// `nil` if they already are.
  ///
  /// The searched bytes occur only in dates: a quote inside a string is preceded by a backslash, and a
  /// field named `$date` is stored as `$$date`.
  package static func shortened(_ body: UnsafeRawBufferPointer) -> [UInt8]? {
    guard let base = body.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
    var out: [UInt8] = []
    var (copied, at) = (0, 0)
    while at < body.count, let sign = memchr(base + at, 0x24, body.count - at) {
      let start = UnsafePointer(sign.assumingMemoryBound(to: UInt8.self)) - base - 1
      at = start + 2
      let text = start + name.count
      // The last two bytes are `"}`. A date with an exact interval does not match and keeps all digits.
      let end = text + DateText.length + 2
      guard start > 0, end <= body.count, body[start..<text].elementsEqual(name),
        body[end - 2] == ASCII.quote, body[end - 1] == ASCII.closeBrace,
        let interval = DateText.parseStored(base + text)
      else { continue }
      out.append(contentsOf: body[copied..<text])
      out.append(contentsOf: bytes(DateText.shortest(interval)))
      (copied, at) = (end - 2, end)
    }
    guard copied > 0 else { return nil }
    out.append(contentsOf: body[copied...])
    return out
  }

  private static func bytes(_ digits: DateText.Digits) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: DateText.length) { buffer, count in
      count = buffer.baseAddress.map { DateText.write(digits, to: $0) } ?? 0
    }
  }
}
