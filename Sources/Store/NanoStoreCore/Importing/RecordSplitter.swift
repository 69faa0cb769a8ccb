// SPDX-License-Identifier: MIT

package import NanoDocument

/// A record of the input and its position.
package struct Record {
  /// The record without surrounding white space.
  package var bytes: [UInt8]
  /// The byte offset of the record in the input.
  package var offset: Int
  /// The line on which it begins, starting at one.
  package var line: Int
  /// A syntax error between records, such as a missing comma. There are no bytes in this case.
  package var fault: StoreError?
  /// Whether the rest of the input cannot be parsed.
  package var isFatal = false
}

/// Splits a stream of bytes into JSON records, keeping no more than one of them in memory.
///
/// The input is an array, recognized by its first byte, or concatenated values, with or without
/// line breaks. Only brackets and strings are examined: a record may contain other syntax errors,
/// which its parser reports. The result does not depend on how the bytes are divided into chunks.
///
/// ```swift
/// splitter.append(chunk)
/// while let record = splitter.next() { … }   // nil: more bytes are needed
/// splitter.finish()                          // end of input: call `next` again
/// ```
package struct RecordSplitter {
  enum Mode {
    case undecided
    /// Values on one or several lines each, or several on one line.
    case values
    /// Inside an array, where an element is required, or optional if there has been none yet.
    case element(isFirst: Bool)
    /// After the array.
    case end
    /// The rest of the input is ignored.
    case over
  }

  var mode = Mode.undecided
  var buffer: [UInt8] = []
  /// The start of the current record, or of white space before it.
  var start = 0
  /// The end of what has been scanned.
  var scan = 0
  /// The end of the white space in which a stop was found to require more bytes, so that it is not
  /// examined again with each chunk.
  var examined = 0
  var scanner = BracketScanner()
  var isFinished = false
  /// The number of bytes and line breaks before `start`.
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
      examined = max(0, examined - start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Marks the end of the input.
  package mutating func finish() { isFinished = true }

  /// Returns the next record; nil if more bytes are needed, and at the end.
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

  /// Discards the bytes before an index.
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

  /// Returns the bytes up to an index, without trailing white space, as a record, and continues
  /// after it.
  ///
  /// - Parameter seen: How far the input had to be scanned to find the end of the record. If that
  ///   exceeds the limit, the record is rejected, as it is when the rest arrives in a later chunk.
  mutating func take(to end: Int, seen: Int? = nil) -> Record {
    guard (seen ?? end) - start <= maximumLength else { return tooLong() }
    var last = end
    while last > start, Self.isWhitespace(buffer[last - 1]) { last -= 1 }
    let record = Record(bytes: Array(buffer[start..<last]), offset: offset, line: line)
    advance(to: end)
    scanner = BracketScanner()
    return record
  }

  /// Returns a record for a syntax error at the start of the next record.
  func fault(_ message: String, _ expected: String) -> Record {
    let error = StoreError(.invalidJSON, message, [.byteOffset: "0", .expected: expected])
    return Record(bytes: [], offset: offset, line: line, fault: error)
  }

  /// Returns an error record if the current record exceeds the limit.
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
