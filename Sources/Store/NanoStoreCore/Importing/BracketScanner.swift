// SPDX-License-Identifier: MIT

/// Follows brackets and strings through bytes that come in pieces.
struct BracketScanner {
  private(set) var depth = 0
  private var isInString = false
  private var isEscaped = false

  enum Stop {
    /// The bracket that closes what was opened first; the index is behind it.
    case closed(Int)
    /// A comma outside of all brackets.
    case comma(Int)
    /// A closing bracket without an opening one.
    case surplus(Int)
    /// A line end inside of brackets, if those matter.
    case lineEnd(Int)
  }

  /// Whether to stop at line ends.
  var stopsAtLineEnds = false

  /// Goes on from an index to the next place that matters outside of strings and brackets; nil if
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
    // No string has a line end in it: one that seems to lacks its quote, and the next record should
    // not suffer for it.
    case UInt8(ascii: "\""), RecordSplitter.newline: isInString = false
    default: break
    }
  }
}
