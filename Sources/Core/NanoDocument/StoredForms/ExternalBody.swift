// SPDX-License-Identifier: MIT

import Foundation

/// Rewrites bodies in stored form as other programs expect them, without parsing them.
package enum ExternalBody {
  private static let date = Array(#""$date":""#.utf8)
  private static let near = Array(#""$near":"#.utf8)
  private static let side = Array(#""$side":""#.utf8)

  /// Returns a stored body with its dates and decimals as ``JSONWriter/text(_:pretty:dialect:)`` writes them, or
  /// `nil` if they already are.
  ///
  /// The searched bytes occur only in dates and decimals: a quote inside a string is preceded by a backslash, and a
  /// field named `$date` is stored as `$$date`.
  package static func shortened(_ body: UnsafeRawBufferPointer) -> [UInt8]? {
    guard let base = body.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
    var out: [UInt8] = []
    var (copied, at) = (0, 0)
    while at < body.count, let sign = memchr(base + at, 0x24, body.count - at) {
      let start = UnsafePointer(sign.assumingMemoryBound(to: UInt8.self)) - base - 1
      at = start + 2
      guard start > 0 else { continue }
      if let end = endOfPlace(body, start) {
        // The fields by which engines sort a decimal.
        out.append(contentsOf: body[copied..<start])
        (copied, at) = (end, end)
        continue
      }
      let text = start + date.count
      // The last two bytes are `"}`. A date with an exact interval does not match and keeps all digits.
      let end = text + DateText.length + 2
      guard end <= body.count, body[start..<text].elementsEqual(date),
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

  /// Returns the end of a `$near` or `$side` with its comma; `nil` if there is none at the offset.
  private static func endOfPlace(_ body: UnsafeRawBufferPointer, _ start: Int) -> Int? {
    let rest = body[start...]
    // Both values are ASCII without commas.
    guard rest.starts(with: near) || rest.starts(with: side) else { return nil }
    return rest.firstIndex(of: ASCII.comma).map { $0 + 1 }
  }

  private static func bytes(_ digits: DateText.Digits) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: DateText.length) { buffer, count in
      count = buffer.baseAddress.map { DateText.write(digits, to: $0) } ?? 0
    }
  }
}
