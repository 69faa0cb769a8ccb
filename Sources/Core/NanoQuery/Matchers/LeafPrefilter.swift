// SPDX-License-Identifier: MIT

import NanoDocument

/// A byte string that a document must contain for one of its leaves to satisfy a condition on a string.
/// A search for it rejects most documents.
struct LeafPrefilter {
  private let bytes: [UInt8]
  /// The index of the byte that is probably the rarest.
  private let anchor: Int

  /// Returns `nil` if the condition does not require a specific string.
  init?(_ condition: Condition) {
    guard let bytes = Self.bytes(condition), !bytes.isEmpty else { return nil }
    self.bytes = bytes
    anchor = bytes.indices.min { Self.frequency(bytes[$0]) < Self.frequency(bytes[$1]) } ?? 0
  }

  private static func bytes(_ condition: Condition) -> [UInt8]? {
    switch condition {
    case .all(let parts): return parts.lazy.compactMap(bytes).first
    case .comparison(.field(.element), .equal, .value(let value)),
      .comparison(.value(let value), .equal, .field(.element)):
      return stored(value)
    case .text(.field(.element), let match, .value(let value)):
      guard let stored = stored(value) else { return nil }
      switch match {
      case .beginsWith: return Array(stored.dropLast())
      case .endsWith: return Array(stored.dropFirst())
      case .contains: return Array(stored.dropFirst().dropLast())
      default: return nil
      }
    default: return nil
    }
  }

  /// Returns the quoted string as documents store it.
  private static func stored(_ value: DocumentValue) -> [UInt8]? {
    guard ValueOrder.rank(value) == .text else { return nil }
    var writer = JSONWriter()
    writer.string(ValueOrder.text(value))
    return writer.withBytes { Array($0) }
  }

  /// Returns the approximate frequency of a byte in documents.
  private static func frequency(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "\""): 9
    case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "i"), UInt8(ascii: "n"),
      UInt8(ascii: "o"), UInt8(ascii: "r"), UInt8(ascii: "s"), UInt8(ascii: "t"):
      8
    case 0x61...0x7A: 6
    case UInt8(ascii: " "), UInt8(ascii: ":"), UInt8(ascii: ","), 0x30...0x39: 5
    case 0x41...0x5A: 3
    default: 2
    }
  }

  /// Returns whether no leaf of the document can contain the string. Documents with a backslash or a
  /// URL are not rejected: other programs may escape the string differently, and a URL's stored form
  /// may differ from its text.
  func isMissing(in document: UnsafeRawBufferPointer) -> Bool {
    !ByteSearch.contains(document, bytes, anchor: anchor)
      && !ByteSearch.contains(document, Self.backslash)
      && !ByteSearch.contains(document, Self.url)
  }

  private static let backslash: [UInt8] = [0x5C]
  private static let url = Array("$url".utf8)
}
