// SPDX-License-Identifier: MIT

import NanoDocument

extension SQLText {
  /// Whether the statement is an INSERT or REPLACE that names its columns, and not this one. If false, it may be anything.
  package func isInsertion(withoutColumn column: String) -> Bool {
    var scanner = Scanner(rest: rest)
    switch scanner.name()?.uppercased() {
    case "INSERT":
      if scanner.skips(word: "OR") { _ = scanner.name() }
    case "REPLACE": break
    default: return false
    }
    guard scanner.skips(word: "INTO"), scanner.name() != nil else { return false }
    if scanner.skips("."), scanner.name() == nil { return false }
    if scanner.skips(word: "AS"), scanner.name() == nil { return false }
    guard scanner.skips("(") else { return false }
    repeat {
      guard let name = scanner.name(), name.foldingASCII != column else { return false }
    } while scanner.skips(",")
    return scanner.skips(")")
  }

  /// Reads names, quoted or not. It knows no comments: before one, there is no name.
  private struct Scanner {
    var rest: Substring.UTF8View

    mutating func skips(_ character: Unicode.Scalar) -> Bool {
      rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
      guard rest.first == UInt8(ascii: character) else { return false }
      rest = rest.dropFirst()
      return true
    }

    mutating func skips(word: String) -> Bool {
      var ahead = self
      guard ahead.name()?.uppercased() == word else { return false }
      self = ahead
      return true
    }

    mutating func name() -> String? {
      for (opening, closing) in [("\"", "\""), ("'", "'"), ("`", "`"), ("[", "]")]
        as [(Unicode.Scalar, Unicode.Scalar)]
      where skips(opening) {
        return quoted(UInt8(ascii: closing))
      }
      let bytes = rest.prefix {
        $0 >= 0x80 || $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0)
          || (0x41...0x5A).contains($0 & 0xDF)
      }
      rest = rest[bytes.endIndex...]
      return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Reads up to a closing quote, which is doubled within a name. Brackets are not.
    private mutating func quoted(_ closing: UInt8) -> String? {
      var name: [UInt8] = []
      while let byte = rest.popFirst() {
        guard byte == closing else {
          name.append(byte)
          continue
        }
        guard closing != UInt8(ascii: "]"), rest.first == closing else {
          return String(decoding: name, as: UTF8.self)
        }
        name.append(closing)
        rest = rest.dropFirst()
      }
      return nil
    }
  }
}
