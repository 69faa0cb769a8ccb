// SPDX-License-Identifier: MIT

extension RecordSplitter {
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Determines the input format; returns false if that requires more bytes.
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
    mode = .values
    return true
  }
}

extension RecordSplitter {
  mutating func nextValue() -> Record? {
    skipWhitespaceKeepingScan()
    guard start < buffer.count else { return nil }
    // A value that is not an object or array extends to the end of its line.
    guard buffer[start] == UInt8(ascii: "{") || buffer[start] == UInt8(ascii: "[") else {
      return takeLine(from: scan)
    }
    scanner.stopsAtLineEnds = true
    while true {
      // The next bytes may be decisive; this stop is then visited again.
      let before = (scanner, scan)
      guard let stop = nextStop() else { break }
      switch decision(at: stop) {
      case .take(let end, let seen): return take(to: end, seen: seen)
      case .takeLine(let end):
        if let record = takeLine(from: end) { return record }
        (scanner, scan) = before
        return nil
      case .proceed(let index): scan = index
      case .wait:
        (scanner, scan) = before
        examined = buffer.count
        return checkLength()
      }
    }
    return isFinished ? take(to: buffer.count) : checkLength()
  }

  private enum Decision {
    case take(Int, seen: Int)
    case takeLine(Int)
    case proceed(Int)
    case wait
  }

  private func decision(at stop: BracketScanner.Stop) -> Decision {
    switch stop {
    case .comma(let index), .surplus(let index): return .proceed(index + 1)
    case .closed(let end):
      let next = buffer[max(end, examined)...].firstIndex {
        $0 != 0x20 && $0 != 0x09 && $0 != 0x0D
      }
      guard let next else { return isFinished ? .take(end, seen: buffer.count) : .wait }
      // Any other content after a value belongs to it, as a syntax error.
      let first = buffer[next]
      let isValid =
        first == Self.newline || first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
      return isValid ? .take(end, seen: next) : .takeLine(end)
    case .lineEnd(let index, let isInString):
      let next = buffer[max(index + 1, examined)...].firstIndex {
        $0 != Self.newline && $0 != 0x0D
      }
      guard let next else {
        return isFinished ? .take(buffer.count, seen: buffer.count) : .wait
      }
      guard buffer[next] == UInt8(ascii: "{"), isInString || !isOpen(before: index) else {
        // Not the next line break, which would examine the same ones again.
        return .proceed(next)
      }
      // The next line starts a new record, so this one is incomplete.
      return .take(index, seen: next)
    }
  }

  /// Whether a line ends in a way that an object may follow.
  private func isOpen(before lineEnd: Int) -> Bool {
    guard let last = buffer[start..<lineEnd].last(where: { !Self.isWhitespace($0) }) else {
      return false
    }
    switch last {
    case UInt8(ascii: ":"), UInt8(ascii: "["): return true
    case UInt8(ascii: ","): return scanner.isInArray
    default: return false
    }
  }

  /// Returns the rest of the line as a record; nil if the line is incomplete.
  private mutating func takeLine(from index: Int) -> Record? {
    if let end = buffer[index...].firstIndex(of: Self.newline) { return take(to: end) }
    if isFinished { return take(to: buffer.count) }
    scan = buffer.count
    return checkLength()
  }

  mutating func nextElement(isFirst: Bool) -> Record? {
    if scan == start { skipWhitespace() }
    guard start < buffer.count else { return isFinished ? unclosed() : nil }
    while let stop = nextStop() {
      switch stop {
      case .closed: continue
      case .comma(let index):
        mode = .element(isFirst: false)
        return element(to: index, orFault: "An element of the array is missing")
      case .surplus(let index) where buffer[index] == UInt8(ascii: "]"):
        mode = .end
        guard isFirst, index == start else {
          return element(to: index, orFault: "An array has a trailing comma")
        }
        advance(to: index + 1)
        return trailing()
      // A surplus brace is part of the surrounding record, for the parser to report.
      case .surplus(let index), .lineEnd(let index, _): scan = index + 1
      }
    }
    guard isFinished else { return checkLength() }
    return take(to: buffer.count)
  }

  /// Returns the content before a comma or bracket and skips both; a fault if it is empty.
  private mutating func element(to index: Int, orFault message: String) -> Record {
    let record = index > start ? take(to: index) : fault(message, "a value")
    advance(to: index + 1)
    return record
  }

  /// Reports an array without its closing bracket.
  private mutating func unclosed() -> Record {
    mode = .over
    return fault("The array is not closed", "']'")
  }

  mutating func trailing() -> Record? {
    skipWhitespace()
    guard start < buffer.count else { return nil }
    mode = .over
    return fault("Unexpected content after the array", "the end")
  }

  /// Advances to the next significant position.
  private mutating func nextStop() -> BracketScanner.Stop? {
    let stop = buffer.withUnsafeBytes { scanner.next($0, from: scan) }
    switch stop {
    case .closed(let end): scan = end
    case .comma, .surplus, .lineEnd: break
    case nil: scan = buffer.count
    }
    return stop
  }

  private mutating func skipWhitespaceKeepingScan() {
    if scan == start { skipWhitespace() }
  }
}
