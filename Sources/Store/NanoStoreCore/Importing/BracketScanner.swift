// SPDX-License-Identifier: MIT

/// Tracks brackets and strings in bytes that arrive in chunks.
struct BracketScanner {
  private(set) var depth = 0
  /// The kinds of the open brackets, 1 for an array, with the innermost one in the lowest bit.
  private var kinds = UInt64.max
  private var isInString = false
  private var isEscaped = false

  /// Whether the innermost open bracket is that of an array. True if that is unknown, because more
  /// than 64 brackets were open.
  var isInArray: Bool { kinds & 1 == 1 }

  enum Stop {
    /// The bracket that closes the outermost one; the index is after it.
    case closed(Int)
    /// A comma outside of all brackets.
    case comma(Int)
    /// A closing bracket without an opening one.
    case surplus(Int)
    /// A line break inside brackets, if those are significant, and whether it ends a string.
    case lineEnd(Int, inString: Bool)
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
        if byte == RecordSplitter.newline, stopsAtLineEnds {
          return .lineEnd(index - 1, inString: true)
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"): push(isArray: false)
      case UInt8(ascii: "["): push(isArray: true)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { return .surplus(index - 1) }
        depth -= 1
        kinds = (kinds >> 1) | (1 << 63)
        if depth == 0 { return .closed(index) }
      case UInt8(ascii: ",") where depth == 0: return .comma(index - 1)
      case RecordSplitter.newline where stopsAtLineEnds:
        return .lineEnd(index - 1, inString: false)
      default: break
      }
    }
    return nil
  }

  @inline(__always)
  private mutating func push(isArray: Bool) {
    depth += 1
    kinds = (kinds << 1) | (isArray ? 1 : 0)
  }

  @inline(__always)
  private mutating func passString(_ byte: UInt8) {
    // A string cannot contain a line break, even after a backslash: a quote is missing, which must
    // not affect the next record.
    if byte == RecordSplitter.newline {
      isInString = false
      isEscaped = false
      return
    }
    if isEscaped {
      isEscaped = false
      return
    }
    switch byte {
    case UInt8(ascii: "\\"): isEscaped = true
    case UInt8(ascii: "\""): isInString = false
    default: break
    }
  }
}
