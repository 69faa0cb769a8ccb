// SPDX-License-Identifier: MIT

package import NanoDocument

/// One record of the input, and where it stands.
package struct Record {
  /// The record without white space around it.
  package var bytes: [UInt8]
  /// Bytes of the input before it.
  package var offset: Int
  /// The line on which it begins, from one.
  package var line: Int
  /// What is wrong between the records, such as a missing comma; then there are no bytes.
  package var fault: StoreError?
  /// Whether nothing behind it can be understood.
  package var isFatal = false
}

/// Cuts a stream of bytes into JSON records without keeping more than one of them.
///
/// The input is an array, which its first byte tells, or values one behind the other, on a line each
/// or not. Only brackets and strings are looked at: a record may be wrong in any other way, and
/// whoever parses it says how. How the bytes come in pieces makes no difference.
///
/// ```swift
/// splitter.append(chunk)
/// while let record = splitter.next() { … }   // nil: more bytes are needed
/// splitter.finish()                          // there are none: ask `next` again
/// ```
package struct RecordSplitter {
  enum Mode {
    case undecided
    /// Values that have a line each, or several lines, or share one.
    case values
    /// In an array, where an element must follow, or may, because none was yet.
    case element(isFirst: Bool)
    /// Behind the array.
    case end
    /// Whatever follows is not looked at.
    case over
  }

  var mode = Mode.undecided
  var buffer: [UInt8] = []
  /// Where the record that is looked for begins, or white space before it.
  var start = 0
  /// Up to where it was looked at.
  var scan = 0
  var scanner = BracketScanner()
  var isFinished = false
  /// Bytes and line ends before `start`.
  private(set) var offset = 0
  private(set) var line = 1
  let maximumLength: Int

  package init(maximumLength: Int = ImportOptions.defaultMaximumRecordLength) {
    self.maximumLength = maximumLength
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if start > 0 {
      buffer.removeFirst(start)
      scan -= start
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Says that no bytes follow.
  package mutating func finish() { isFinished = true }

  /// The next record; nil if more bytes are needed, and at the end.
  package mutating func next() -> Record? {
    while true {
      switch mode {
      case .undecided:
        guard decide() else { return nil }
      case .values: return nextValue()
      case .element(let isFirst): return nextElement(isFirst: isFirst)
      case .end: return trailing()
      case .over:
        advance(to: buffer.count)
        return nil
      }
    }
  }

  /// Leaves what stands before an index behind.
  mutating func advance(to index: Int) {
    buffer[start..<index].withUnsafeBytes { passed in
      offset += passed.count
      line += passed.count { $0 == Self.newline }
    }
    start = index
    scan = index
  }

  mutating func skipWhitespace() {
    var index = start
    while index < buffer.count, Self.isWhitespace(buffer[index]) { index += 1 }
    advance(to: index)
  }

  /// The bytes up to an index, without white space at the end, as a record; goes on behind it.
  ///
  /// - Parameter seen: How far one had to look to know that the record ends there. If that is beyond the limit,
  ///   the record is given up, as it is when bytes come in such pieces that the rest was not there yet.
  mutating func take(to end: Int, seen: Int? = nil) -> Record {
    guard (seen ?? end) - start <= maximumLength else { return tooLong() }
    var last = end
    while last > start, Self.isWhitespace(buffer[last - 1]) { last -= 1 }
    let record = Record(bytes: Array(buffer[start..<last]), offset: offset, line: line)
    advance(to: end)
    scanner = BracketScanner()
    return record
  }

  /// A record for what is wrong at the place where the next one should begin.
  func fault(_ message: String, _ expected: String) -> Record {
    let error = StoreError(.invalidJSON, message, [.byteOffset: "0", .expected: expected])
    return Record(bytes: [], offset: offset, line: line, fault: error)
  }

  /// The record that is looked for has no end within the limit.
  mutating func checkLength() -> Record? {
    buffer.count - start > maximumLength ? tooLong() : nil
  }

  private mutating func tooLong() -> Record {
    let error = StoreError(
      .documentTooLarge, "A record is longer than the limit",
      [
        .limit: "\(maximumLength) bytes",
        .hint: "a bracket or quote may be missing, or the limit is too low",
      ])
    let record = Record(bytes: [], offset: offset, line: line, fault: error, isFatal: true)
    mode = .over
    return record
  }

  static let newline = UInt8(ascii: "\n")
  static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }
}
