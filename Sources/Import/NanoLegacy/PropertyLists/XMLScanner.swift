// SPDX-License-Identifier: MIT

/// The tags and texts of XML, as far as property lists use them. Entities other than the predefined
/// ones are errors.
struct XMLScanner {
  enum Tag: Equatable {
    case open(String, isEmpty: Bool)
    case close(String)
  }
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private static let damaged = PropertyListError("the property list is not well-formed")

  /// Returns the next tag, or nil at the end. Only blanks, comments and declarations may precede
  /// it.
  mutating func tag() throws(PropertyListError) -> Tag? {
    while at < bytes.count {
      if bytes[at] <= 0x20 || bytes[at] >= 0xBB, bytes[at] != UInt8(ascii: "<") {
        at += 1
      } else if starts("<!--") {
        try skip(past: "-->")
      } else if starts("<?") {
        try skip(past: "?>")
      } else if starts("<!DOCTYPE") {
        try skipDocumentType()
      } else {
        return try readTag()
      }
    }
    return nil
  }

  /// Returns the text up to the closing tag of an element that contains only text.
  mutating func text(until name: String) throws(PropertyListError) -> String {
    var text: [UInt8] = []
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "<"):
        if starts("<![CDATA[") {
          at += 9
          let start = at
          try skip(past: "]]>")
          text += bytes[start..<at - 3]
        } else if starts("<!--") {
          try skip(past: "-->")
        } else {
          guard try readTag() == .close(name) else { throw Self.damaged }
          return String(decoding: text, as: UTF8.self)
        }
      case UInt8(ascii: "&"): text += try entity()
      default:
        text.append(bytes[at])
        at += 1
      }
    }
    throw Self.damaged
  }

  private func starts(_ text: String) -> Bool { bytes[at...].starts(with: text.utf8) }

  private mutating func skip(past end: String) throws(PropertyListError) {
    while at < bytes.count, !starts(end) { at += 1 }
    guard at < bytes.count else { throw Self.damaged }
    at += end.utf8.count
  }

  /// Skips a document type without reading what it declares.
  private mutating func skipDocumentType() throws(PropertyListError) {
    var depth = 0
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "["), UInt8(ascii: "<"): depth += 1
      case UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ">"):
        depth -= 1
        if depth == 0 {
          at += 1
          return
        }
      default: break
      }
      at += 1
    }
    throw Self.damaged
  }

  private mutating func readTag() throws(PropertyListError) -> Tag {
    guard bytes[at] == UInt8(ascii: "<") else { throw Self.damaged }
    at += 1
    let isClosing = at < bytes.count && bytes[at] == UInt8(ascii: "/")
    if isClosing { at += 1 }
    let start = at
    while at < bytes.count, Self.isName(bytes[at]) { at += 1 }
    let name = String(decoding: bytes[start..<at], as: UTF8.self)
    // Attributes, such as the version of the list, are not needed.
    var quote: UInt8?
    while at < bytes.count, quote != nil || bytes[at] != UInt8(ascii: ">") {
      if let open = quote {
        if bytes[at] == open { quote = nil }
      } else if bytes[at] == UInt8(ascii: "\"") || bytes[at] == UInt8(ascii: "'") {
        quote = bytes[at]
      }
      at += 1
    }
    guard at < bytes.count, !name.isEmpty else { throw Self.damaged }
    let isEmpty = bytes[at - 1] == UInt8(ascii: "/")
    at += 1
    return isClosing ? .close(name) : .open(name, isEmpty: isEmpty)
  }

  private static func isName(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  private mutating func entity() throws(PropertyListError) -> [UInt8] {
    guard let end = bytes[at...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
      throw Self.damaged
    }
    let name = String(decoding: bytes[at + 1..<end], as: UTF8.self)
    at = end + 1
    switch name {
    case "lt": return [UInt8(ascii: "<")]
    case "gt": return [UInt8(ascii: ">")]
    case "amp": return [UInt8(ascii: "&")]
    case "quot": return [UInt8(ascii: "\"")]
    case "apos": return [UInt8(ascii: "'")]
    default:
      let number =
        name.hasPrefix("#x")
        ? UInt32(name.dropFirst(2), radix: 16)
        : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
      guard let number, let scalar = Unicode.Scalar(number) else { throw Self.damaged }
      return Array(String(Character(scalar)).utf8)
    }
  }
}
