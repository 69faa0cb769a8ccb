// SPDX-License-Identifier: MIT

/// Tracks brackets and strings in bytes that arrive in chunks.
struct BracketScanner {
  private(set) var depth = 0
  private var isInString = false
  private var isEscaped = false

  enum Stop {
    /// The bracket that closes the outermost one; the index is after it.
    case closed(Int)
    /// A comma outside of all brackets.
    case comma(Int)
    /// A closing bracket without an opening one.
    case surplus(Int)
    /// A line break inside brackets, if those are significant.
    case lineEnd(Int)
  }

  /// Whether to stop at line breaks.
  var stopsAtLineEnds = false

  /// Advances to the next significant position outside of strings and brackets; returns nil if
  /// there is none.
  mutating func next(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Stop? {
    var index = start
    let end = bytes.count
    while index < end {
      let byte = bytes[index]
      index += 1
      if isInString {
        passString(byte)
        if byte == RecordSplitter.newline, stopsAtLineEnds { return .lineEnd(index - 1) }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { return .surplus(index - 1) }
        depth -= 1
        if depth == 0 { return .closed(index) }
      case UInt8(ascii: ",") where depth == 0: return .comma(index - 1)
      case RecordSplitter.newline where stopsAtLineEnds: return .lineEnd(index - 1)
      default: break
      }
    }
    return nil
  }

  @inline(__always)
  private mutating func passString(_ byte: UInt8) {
    if isEscaped {
      isEscaped = false
      return
    }
    switch byte {
    case UInt8(ascii: "\\"): isEscaped = true
    // A string cannot contain a line break: a quote is missing, which must not affect the next
    // record.
    case UInt8(ascii: "\""), RecordSplitter.newline: isInString = false
    default: break
    }
  }
}
