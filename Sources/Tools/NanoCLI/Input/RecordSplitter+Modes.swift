// SPDX-License-Identifier: MIT

import Foundation

extension RecordSplitter {
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Finds out what the input is; false if more bytes are needed for that.
  mutating func decide() -> Bool {
    if offset == 0, !isFinished, buffer.count < Self.byteOrderMark.count { return false }
    if offset == 0, buffer.starts(with: Self.byteOrderMark) { advance(to: 3) }
    skipWhitespace()
    guard start < buffer.count else { return false }
    if buffer[start] == UInt8(ascii: "[") {
      advance(to: start + 1)
      mode = .element(isFirst: true)
      return true
    }
    guard let isLines else { return false }
    mode = isLines ? .lines : .values
    return true
  }

  /// Whether each line is a record; nil if more bytes are needed to tell.
  ///
  /// It is if the first line is a whole value. If that line is broken, the one after it tells: an
  /// object that has several lines does not go on with a brace at their beginning.
  private var isLines: Bool? {
    guard let lineEnd = buffer[start...].firstIndex(of: Self.newline) else {
      return isFinished || buffer.count - start > maximumLength ? false : nil
    }
    guard buffer[start] == UInt8(ascii: "{") else { return true }
    var scanner = BracketScanner()
    let stop = buffer[..<lineEnd].withUnsafeBytes { scanner.next($0, from: start) }
    if case .closed(let end) = stop {
      let next = buffer[end..<lineEnd].first { !Self.isWhitespace($0) }
      return next != UInt8(ascii: "{")
    }
    guard let next = buffer[lineEnd...].first(where: { $0 != Self.newline && $0 != 0x0D }) else {
      return isFinished ? true : nil
    }
    return next == UInt8(ascii: "{")
  }
}

extension RecordSplitter {
  mutating func nextLine() -> Record? {
    skipWhitespaceKeepingScan()
    guard start < buffer.count else { return nil }
    let found = buffer.withUnsafeBytes { bytes in
      memchr(bytes.baseAddress! + scan, Int32(Self.newline), bytes.count - scan).map {
        UnsafeRawPointer($0) - bytes.baseAddress!
      }
    }
    if let found { return take(to: found) }
    if isFinished { return take(to: buffer.count) }
    scan = buffer.count
    return checkLength()
  }

  mutating func nextValue() -> Record? {
    skipWhitespaceKeepingScan()
    guard start < buffer.count else { return nil }
    // What is no object has no end that could be told but that of its line.
    guard buffer[start] == UInt8(ascii: "{") || buffer[start] == UInt8(ascii: "[") else {
      return nextLine()
    }
    while let stop = nextStop() {
      switch stop {
      case .closed(let end): return take(to: end)
      case .comma(let index), .surplus(let index): scan = index + 1
      }
    }
    return isFinished ? take(to: buffer.count) : checkLength()
  }

  mutating func nextElement(isFirst: Bool) -> Record? {
    if scan == start { skipWhitespace() }
    guard start < buffer.count else { return isFinished ? unclosed() : nil }
    while let stop = nextStop() {
      switch stop {
      case .closed: continue
      case .comma(let index):
        mode = .element(isFirst: false)
        return element(to: index) ?? fault("An element of the array is missing", "a value")
      case .surplus(let index) where buffer[index] == UInt8(ascii: "]"):
        mode = .end
        let record = element(to: index)
        if record == nil, isFirst { return trailing() }
        return record ?? fault("A comma stands before a closing bracket", "a value")
      // A brace too many is part of what stands around it, for the parser to complain about.
      case .surplus(let index): scan = index + 1
      }
    }
    guard isFinished else { return checkLength() }
    return take(to: buffer.count)
  }

  /// What stands before a comma or bracket, which is left behind too; nil if that is nothing.
  private mutating func element(to index: Int) -> Record? {
    let record = index > start ? take(to: index) : nil
    advance(to: index + 1)
    return record
  }

  /// The array ends without its bracket.
  private mutating func unclosed() -> Record {
    mode = .over
    return fault("The array has no end", "']'")
  }

  mutating func trailing() -> Record? {
    skipWhitespace()
    guard start < buffer.count else { return nil }
    mode = .over
    return fault("Something follows the array", "the end")
  }

  /// Goes on to the next place that matters.
  private mutating func nextStop() -> BracketScanner.Stop? {
    let stop = buffer.withUnsafeBytes { scanner.next($0, from: scan) }
    switch stop {
    case .closed(let end): scan = end
    case .comma, .surplus: break
    case nil: scan = buffer.count
    }
    return stop
  }

  private mutating func skipWhitespaceKeepingScan() {
    if scan == start { skipWhitespace() }
  }
}
