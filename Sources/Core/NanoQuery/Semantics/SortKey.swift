// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// Encodes values as bytes that compare (`memcmp`) in the order of ``ValueOrder``.
///
/// The encoding follows the FoundationDB tuple layer: a rank byte, then the value; text and data escape
/// NUL as `00 FF` and end in `00`, so that containers nest. Only the key of a decimal can continue another key, that of the
/// number before it, with `FF`, so callers that invert keys or append to them add a terminator. Source:
/// https://github.com/apple/foundationdb/blob/main/design/tuple.md
package enum SortKey {
  /// Returns the key of a value; `nil` counts as null.
  package static func bytes(_ value: DocumentValue?) -> [UInt8] {
    var out: [UInt8] = []
    append(value ?? .null, to: &out)
    return out
  }

  /// Appends the key of a value to a buffer.
  package static func append(_ value: DocumentValue, to out: inout [UInt8]) {
    out.append(ValueOrder.rank(value).rawValue + 1)
    switch value {
    case .null: break
    case .bool(let flag): out.append(flag ? 1 : 0)
    case .int(let number): appendNumber(number, to: &out)
    case .double(let number): appendNumber(number, to: &out)
    case .decimal(let number): appendNumber(number, to: &out)
    case .date(let date): appendOrdered(date.timeIntervalSinceReferenceDate, to: &out)
    case .string(let text): appendEscaped(text.utf8, to: &out)
    case .url(let url): appendEscaped(url.absoluteString.utf8, to: &out)
    case .data(let data): appendEscaped(data, to: &out)
    case .array(let array):
      for element in array { append(element, to: &out) }
      out.append(0)
    case .object(let object):
      for (name, element) in object {
        // Any byte above the terminator, so that a shorter object sorts first.
        out.append(1)
        appendEscaped(name.utf8, to: &out)
        append(element, to: &out)
      }
      out.append(0)
    }
  }

  /// Appends the nearest double at or below the integer, followed by the difference, so that an integer
  /// and a double of equal value have the same bytes.
  static func appendNumber(_ number: Int64, to out: inout [UInt8]) {
    var nearest = Double(number)
    if ValueOrder.compare(number, nearest) < 0 { nearest = nearest.nextDown }
    appendOrdered(nearest, to: &out)
    // Doubles of this magnitude are at most 1,024 apart.
    let rest = UInt16(truncatingIfNeeded: number &- Int64(nearest))
    out.append(UInt8(rest >> 8))
    out.append(UInt8(rest & 255))
  }

  static func appendNumber(_ number: Double, to out: inout [UInt8]) {
    appendOrdered(number, to: &out)
    out.append(0)
    out.append(0)
  }

  /// Appends the key of the integer or double with the same value. Other decimals follow the largest integer or double
  /// below them: its key, a byte that is greater than any that may follow a key, and the digits.
  static func appendNumber(_ number: DecimalValue, to out: inout [UInt8]) {
    if number.isNaN { return appendNumber(Double.nan, to: &out) }
    if let integer = number.exactInteger { return appendNumber(integer, to: &out) }
    let nearest = number.nearestDouble
    let order = DecimalValue.compare(number, nearest)
    if order == 0 { return appendNumber(nearest, to: &out) }
    let below = order < 0 ? nearest.nextDown : nearest
    let isBetweenIntegers =
      nearest.magnitude >= 0x1p53 && DecimalValue.compare(number, 0x1p63) < 0
      && DecimalValue.compare(number, -0x1p63) > 0
    if isBetweenIntegers {
      // There, doubles are further apart than integers.
      appendNumber(DecimalArithmetic.clamped(DecimalArithmetic.floor(number)), to: &out)
    } else {
      appendNumber(below, to: &out)
    }
    out.append(0xFF)
    out.append(contentsOf: number.sortedDigits.utf8)
    out.append(0)
  }

  /// Appends the double's bits, transformed so that unsigned order is numeric order; NaN first, -0
  /// equal to 0.
  private static func appendOrdered(_ number: Double, to out: inout [UInt8]) {
    var bits: UInt64 = 0
    if !number.isNaN {
      bits = (number == 0 ? 0.0 : number).bitPattern
      bits = bits >> 63 == 1 ? ~bits : bits | 1 << 63
    }
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      out.append(UInt8(truncatingIfNeeded: bits >> shift))
    }
  }

  private static func appendEscaped(_ bytes: some Sequence<UInt8>, to out: inout [UInt8]) {
    for byte in bytes {
      out.append(byte)
      if byte == 0 { out.append(0xFF) }
    }
    out.append(0)
  }
}
