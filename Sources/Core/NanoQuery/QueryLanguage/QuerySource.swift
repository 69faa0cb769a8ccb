// SPDX-License-Identifier: MIT

import NanoDocument

/// Query text as bytes, with errors that locate positions in it.
struct QuerySource {
  let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Returns the byte at an index, or zero after the end; `isEnd` distinguishes the end from a NUL
  /// character.
  func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }
  func isEnd(_ index: Int) -> Bool { index >= bytes.count }

  /// Returns the end of the comment that begins at an index; nil if there is none. One that is not closed ends with the
  /// text, without its `*/`.
  func commentEnd(_ index: Int) -> (end: Int, isClosed: Bool)? {
    var end = index
    switch (byte(index), byte(index + 1)) {
    case (UInt8(ascii: "-"), UInt8(ascii: "-")):
      while !isEnd(end), byte(end) != UInt8(ascii: "\n") { end += 1 }
      return (end, true)
    case (UInt8(ascii: "/"), UInt8(ascii: "*")):
      end += 2
      while !isEnd(end) {
        if byte(end) == UInt8(ascii: "*"), byte(end + 1) == UInt8(ascii: "/") {
          return (end + 2, true)
        }
        end += 1
      }
      return (end, false)
    default: return nil
    }
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Returns an error at a position. The text there may be user data, so it becomes the `text` detail,
  /// which is not logged; `message`, `expected` and `hint` must not quote it.
  func error(
    _ message: String, at range: Range<Int>, code: StoreError.Code = .invalidQuery,
    expected: String? = nil, hint: String? = nil
  ) -> StoreError {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let line = bytes[..<range.lowerBound].count { $0 == UInt8(ascii: "\n") }
    let lineStart = lines[line].startIndex
    // The column counts characters, as editors do.
    let column = text(lineStart..<range.lowerBound).count + 1
    var error = StoreError(code, message, [.position: "\(column)"])
    if lines.count > 1 { error = error.adding(.line, "\(line + 1)") }
    if let expected { error = error.adding(.expected, expected) }
    if let hint { error = error.adding(.hint, hint) }
    guard !range.isEmpty else { return error.adding(.actual, "the end of the text") }
    return error.adding(.text, excerpt(range))
  }

  private func excerpt(_ range: Range<Int>) -> String {
    let end = min(range.upperBound, range.lowerBound + Self.longestExcerpt)
    return text(range.lowerBound..<end) + (end < range.upperBound ? "…" : "")
  }

  /// The maximum length of the excerpt in an error, in bytes. Arbitrary.
  private static let longestExcerpt = 60
}

extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  /// Whether the byte can be part of a word. As in SQLite, all non-ASCII bytes count as letters.
  var isWordByte: Bool { isDigit || isWordStart }
  var isWordStart: Bool {
    let lower = self | 0x20
    return (lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")) || self == UInt8(ascii: "_")
      || self >= 0x80
  }
  var asciiLowercased: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }
  var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
