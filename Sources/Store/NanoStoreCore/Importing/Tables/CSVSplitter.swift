// SPDX-License-Identifier: MIT

package import NanoDocument

/// Splits a stream of bytes into rows of fields, as in RFC 4180, keeping no more than one of them in
/// memory.
///
/// A line ends with CR LF, LF or CR. A quote inside a field that does not begin with one is an
/// ordinary character. The result does not depend on how the bytes are divided into chunks.
///
/// ```swift
/// splitter.append(chunk)
/// while let row = splitter.next() { … splitter.fields … }   // nil: more bytes are needed
/// splitter.finish()                                         // end of input: call `next` again
/// ```
package struct CSVSplitter {
  /// A field of the current row.
  package struct Field: Hashable {
    package enum Form { case plain, quoted, quotedWithEscapes }
    /// The position in ``bytes``, without the quotes around it.
    package var range: Range<Int>
    package var form: Form
  }

  /// A row, whose fields are in ``fields``.
  package struct Row {
    /// The line on which it begins, starting at one.
    package var line: Int
    /// The byte offset in the input.
    package var offset: Int
    /// The position in ``bytes``, without the end of the line.
    package var range: Range<Int>
    /// A syntax error in the row.
    package var fault: StoreError?
    /// Whether the rest of the input cannot be parsed.
    package var isFatal = false
  }

  /// The fields of the row that ``next()`` returned last.
  package private(set) var fields: ContiguousArray<Field> = []
  /// The bytes to which the positions refer.
  package private(set) var bytes: [UInt8] = []
  package private(set) var isFinished = false
  private let separator: UInt8
  private let maximumLength: Int
  /// The start of the next row, and its position in the input.
  private var start = 0
  private var line = 1
  private var offset = 0
  /// The number of bytes after which an incomplete row is scanned again: each time twice as many, so
  /// that long rows take linear time.
  private var needed = 0
  private var isOver = false

  package init(
    separator: UInt8 = UInt8(ascii: ","),
    maximumLength: Int = ImportOptions.defaultMaximumRecordLength
  ) {
    self.separator = separator
    // The splitter reads up to two bytes more.
    self.maximumLength = min(maximumLength, Int.max - 2)
  }

  package mutating func append(_ piece: UnsafeRawBufferPointer) {
    guard !isOver else { return }
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: piece)
  }

  /// Marks the end of the input.
  package mutating func finish() { isFinished = true }

  /// Returns the next row; nil if more bytes are needed, and at the end.
  package mutating func next() -> Row? {
    guard !isOver else { return nil }
    if offset == 0, start == 0, !skipByteOrderMark() { return nil }
    guard start < bytes.count, isFinished || bytes.count - start >= needed else { return nil }
    guard let scan = scan() else {
      // The last byte may be a carriage return after the row.
      guard bytes.count - start <= maximumLength + 1 else { return tooLong() }
      needed = min(2 * (bytes.count - start), maximumLength + 2)
      return nil
    }
    guard scan.end - start <= maximumLength else { return tooLong() }
    needed = 0
    let row = Row(line: line, offset: offset, range: start..<scan.end, fault: scan.fault)
    offset += scan.next - start
    line += scan.lines
    start = scan.next
    return row
  }

  /// Returns false if more bytes are needed to decide whether there is one.
  private mutating func skipByteOrderMark() -> Bool {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    guard isFinished || bytes.count >= mark.count || !mark.starts(with: bytes) else { return false }
    if bytes.starts(with: mark) {
      start = mark.count
      offset = mark.count
    }
    return true
  }

  private mutating func tooLong() -> Row {
    isOver = true
    let error = StoreError(
      .documentTooLarge, "A record is longer than the limit",
      [
        .limit: "\(maximumLength) bytes",
        .hint: "a quote may be missing, or the limit is too low",
      ])
    fields.removeAll()
    return Row(line: line, offset: offset, range: start..<start, fault: error, isFatal: true)
  }
}

extension CSVSplitter {
  private struct Scan {
    /// The end of the row, and the start of the next one.
    var end: Int
    var next: Int
    /// The number of line ends in between.
    var lines: Int
    var fault: StoreError?
  }

  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  /// Splits the row at `start`; returns nil if it is incomplete.
  private mutating func scan() -> Scan? {
    fields.removeAll(keepingCapacity: true)
    // A constant, because the closure changes other properties.
    let bytes = bytes
    return bytes.withUnsafeBufferPointer { bytes in
      var scan = Scan(end: start, next: start, lines: 0)
      var at = start
      while true {
        let isQuoted = at < bytes.count && bytes[at] == Self.quote
        guard isQuoted ? quoted(bytes, &at, &scan) : plain(bytes, &at) else { return nil }
        guard at < bytes.count else {
          (scan.end, scan.next) = (at, at)
          return isFinished ? scan : nil
        }
        guard bytes[at] != separator else {
          at += 1
          continue
        }
        scan.end = at
        // The line feed after a carriage return may be in the next chunk.
        guard bytes[at] == Self.lineFeed || at + 1 < bytes.count || isFinished else { return nil }
        let isPair =
          bytes[at] == Self.carriageReturn && at + 1 < bytes.count
          && bytes[at + 1] == Self.lineFeed
        scan.next = at + (isPair ? 2 : 1)
        scan.lines += 1
        return scan
      }
    }
  }

  /// Adds a field without quotes, which may be empty.
  private mutating func plain(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> Bool {
    let start = at
    skipToEnd(bytes, &at)
    fields.append(Field(range: start..<at, form: .plain))
    return true
  }

  /// Advances to a separator or line end.
  @inline(__always)
  private func skipToEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) {
    let raw = UnsafeRawBufferPointer(bytes)
    let separators = UInt64(separator) &* Self.ones
    while raw.count - at >= 8 {
      let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      let found =
        Self.zeroBytes(word ^ separators) | Self.zeroBytes(word ^ Self.lineFeeds)
        | Self.zeroBytes(word ^ Self.carriageReturns)
      guard found == 0 else {
        at &+= found.trailingZeroBitCount >> 3
        return
      }
      at &+= 8
    }
    while at < bytes.count {
      let byte = bytes[at]
      if byte == separator || byte == Self.lineFeed || byte == Self.carriageReturn { return }
      at &+= 1
    }
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let lineFeeds = UInt64(lineFeed) &* ones
  private static let carriageReturns = UInt64(carriageReturn) &* ones

  /// Returns a mask with the high bit of each byte that is zero. The lowest set bit is exact; higher ones may be false
  /// positives caused by borrows.
  @inline(__always)
  private static func zeroBytes(_ word: UInt64) -> UInt64 {
    (word &- ones) & ~word & 0x8080_8080_8080_8080
  }

  /// Adds a field in quotes; returns false if it is incomplete.
  private mutating func quoted(
    _ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int, _ scan: inout Scan
  ) -> Bool {
    let start = at + 1
    let count = bytes.count
    var hasEscapes = false
    at = start
    while true {
      while at < count, bytes[at] != Self.quote {
        if isLineEnd(bytes, at) { scan.lines += 1 }
        at &+= 1
      }
      guard at < count else {
        guard isFinished else { return false }
        scan.fault = StoreError(
          .invalidCSV, "A quote is not closed", [.column: "\(fields.count + 1)"])
        fields.append(Field(range: start..<at, form: .quoted))
        return true
      }
      // The next byte decides whether it is a doubled quote.
      guard at + 1 < count else {
        guard isFinished else { return false }
        break
      }
      guard bytes[at + 1] == Self.quote else { break }
      hasEscapes = true
      at += 2
    }
    fields.append(Field(range: start..<at, form: hasEscapes ? .quotedWithEscapes : .quoted))
    at += 1
    let end = at
    skipToEnd(bytes, &at)
    if at > end {
      scan.fault =
        scan.fault
        ?? StoreError(
          .invalidCSV, "A field in quotes is followed by other characters",
          [.column: "\(fields.count)", .expected: "a separator or the end of the line"])
    }
    return true
  }

  /// Whether a byte is the last of a line end.
  @inline(__always)
  private func isLineEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ at: Int) -> Bool {
    if bytes[at] == Self.lineFeed { return true }
    guard bytes[at] == Self.carriageReturn else { return false }
    return at + 1 == bytes.count || bytes[at + 1] != Self.lineFeed
  }
}
