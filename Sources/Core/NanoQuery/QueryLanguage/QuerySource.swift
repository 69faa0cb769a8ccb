// SPDX-License-Identifier: MIT

import NanoDocument

/// Query text as bytes, and the errors that point into it.
struct QuerySource {
  let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  /// The byte at an index; zero behind the end, where `isEnd` tells it from a NUL in the text.
  func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }
  func isEnd(_ index: Int) -> Bool { index >= bytes.count }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// An error at a place of the text. What stands there may be a user's value, so it goes under
  /// `text`, which logs leave out; `message`, `expected` and `hint` must not quote it.
  func error(
    _ message: String, at range: Range<Int>, code: StoreError.Code = .invalidQuery,
    expected: String? = nil, hint: String? = nil
  ) -> StoreError {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let line = bytes[..<range.lowerBound].count { $0 == UInt8(ascii: "\n") }
    let lineStart = lines[line].startIndex
    // The column counts what a reader sees as one character, as an editor does.
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

  /// Bytes of the text that an error repeats; arbitrary.
  private static let longestExcerpt = 60
}

extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  /// What may stand in a word. As in SQLite, everything beyond ASCII counts as a letter.
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
