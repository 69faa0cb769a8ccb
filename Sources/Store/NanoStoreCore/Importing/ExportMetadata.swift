// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// The header of an exported document, with the properties that are not fields:
/// `{"$nanostore":{"key":"ada","added":{"$date":"…"}},"name":"Ada"}`.
///
/// It cannot be mistaken for a field: a name that begins with `$` is exported with a second one.
package enum ExportMetadata {
  private static let name = Array(#""$nanostore""#.utf8)

  /// Writes the document with its header.
  ///
  /// - Parameter isByRowID: Whether documents of the collection are identified by row IDs, so that
  ///   an import creates a collection of the same kind.
  package static func write(
    _ document: Document, isByRowID: Bool, to writer: inout JSONWriter
  ) throws(StoreError) {
    let header = document.header
    writer.literal(#"{"$nanostore":{"#)
    var isFirst = true
    func name(_ name: String, _ writer: inout JSONWriter) {
      if !isFirst { writer.byte(UInt8(ascii: ",")) }
      isFirst = false
      writer.fieldName(name)
    }
    if isByRowID, let rowID = header.rowID {
      name("rowID", &writer)
      writer.value(.int(rowID))
    }
    if let key = header.key {
      name("key", &writer)
      writer.string(key.description)
    }
    if let type = header.type {
      name("type", &writer)
      writer.string(type)
    }
    if let version = header.version {
      name("version", &writer)
      writer.value(.int(version))
    }
    if let added = header.added {
      name("added", &writer)
      write(moment(added), to: &writer)
    }
    writer.byte(UInt8(ascii: "}"))
    let rest = try fields(of: document).dropFirst()
    if rest.count > 1 { writer.byte(UInt8(ascii: ",")) }
    rest.withUnsafeBytes { writer.raw($0) }
  }

  /// Returns the fields as one line of JSON that imports as the same document.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if there is no such line.
  package static func fields(of document: Document) throws(StoreError) -> [UInt8] {
    var writer = JSONWriter()
    try document.write(to: &writer)
    let body = try CanonicalBody.rewritten(writer.bytes) ?? writer.withBytes { Array($0) }
    return body.withUnsafeBytes { ExternalBody.shortened($0) } ?? body
  }

  private static func write(_ text: String, to writer: inout JSONWriter) {
    var text = text
    text.withUTF8 { writer.raw(UnsafeRawBufferPointer($0)) }
  }

  /// Seconds from 1970 to 2200, a range in which `Date` has microsecond precision.
  private static let exactSeconds: Range<Int64> = 0..<7_258_118_400

  /// Formats a date with 3 or 6 fractional digits from the integer, since a double would round
  /// them. Outside of the range in which dates are exact, the result is the number of microseconds.
  private static func moment(_ microseconds: Int64) -> String {
    let seconds = microseconds / 1_000_000
    guard exactSeconds.contains(seconds), microseconds >= 0 else { return "\(microseconds)" }
    let whole = Date(timeIntervalSince1970: Double(seconds))
    let fraction = microseconds % 1_000_000
    let digits =
      fraction % 1000 == 0
      ? String(1000 + fraction / 1000).dropFirst() : String(1_000_000 + fraction).dropFirst()
    let text = DateText.text(whole)?.dropLast("000Z".count) ?? ""
    return #"{"$date":"\#(text)\#(digits)Z"}"#
  }
}

extension ExportMetadata {
  /// Returns the range of the header in a record: its value, and the whole header including its
  /// name and comma.
  static func range(in bytes: [UInt8]) -> (value: Range<Int>, whole: Range<Int>)? {
    var index = 0
    func skip() {
      while index < bytes.count, RecordSplitter.isWhitespace(bytes[index]) { index += 1 }
    }
    func take(_ text: some Collection<UInt8>) -> Bool {
      skip()
      guard bytes[index...].starts(with: text) else { return false }
      index += text.count
      return true
    }
    guard take(CollectionOfOne(UInt8(ascii: "{"))) else { return nil }
    skip()
    let start = index
    guard take(name), take(CollectionOfOne(UInt8(ascii: ":"))) else { return nil }
    skip()
    let valueStart = index
    guard index < bytes.count, bytes[index] == UInt8(ascii: "{") else { return nil }
    var scanner = BracketScanner()
    guard case .closed(let end) = bytes.withUnsafeBytes({ scanner.next($0, from: valueStart) })
    else { return nil }
    index = end
    guard take(CollectionOfOne(UInt8(ascii: ","))) else { return (valueStart..<end, start..<end) }
    let comma = index
    skip()
    // A trailing comma is left for the parser to report.
    let isGood = index < bytes.count && bytes[index] == UInt8(ascii: "\"")
    return (valueStart..<end, start..<(isGood ? comma : end))
  }

  static func parse(_ bytes: [UInt8], _ range: Range<Int>) throws(StoreError) -> Document.Header {
    // Leading spaces, so that byte offsets in errors are those of the record.
    let padded = [UInt8](repeating: 0x20, count: range.lowerBound) + bytes[range]
    var header = Document.Header()
    for (name, value) in try DocumentObject(json: padded) {
      switch (name, value) {
      case ("key", .string(let key)): header.key = try DocumentKey(key)
      case ("type", .string(let type)): header.type = type
      case ("version", .int(let version)): header.version = version
      case ("rowID", .int(let rowID)): header.rowID = rowID
      case ("added", .int(let microseconds)): header.added = microseconds
      case ("added", .date(let date)):
        header.added = Int64((date.timeIntervalSince1970 * 1e6).rounded())
      default:
        throw StoreError(
          .invalidArgument, "The header of an exported document has an unknown entry",
          [.field: name, .byteOffset: "\(range.lowerBound)"])
      }
    }
    return header
  }
}
