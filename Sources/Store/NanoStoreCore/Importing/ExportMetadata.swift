// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// What a document is besides its fields, as `export` writes it in front of them:
/// `{"$nanostore":{"key":"ada","added":{"$date":"…"}},"name":"Ada"}`.
///
/// No document can have this for a field: a name that begins with `$` is written with one more.
package enum ExportMetadata {
  private static let name = Array(#""$nanostore""#.utf8)

  /// Writes the document with its header.
  ///
  /// - Parameter isByRowID: Whether the collection is known by row ids, so that importing makes
  ///   another one like it.
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

  /// The fields as one line of JSON that an import reads back as the same.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if there is no such line.
  package static func fields(of document: Document) throws(StoreError) -> [UInt8] {
    var writer = JSONWriter()
    try document.write(to: &writer)
    let body = try CanonicalBody.rewritten(writer.bytes) ?? writer.withBytes { Array($0) }
    return body.withUnsafeBytes { StoredDates.shortened($0) } ?? body
  }

  private static func write(_ text: String, to writer: inout JSONWriter) {
    var text = text
    text.withUTF8 { writer.raw(UnsafeRawBufferPointer($0)) }
  }

  /// Seconds from 1970 to 2200, in which a `Date` tells microseconds apart.
  private static let exactSeconds: Range<Int64> = 0..<7_258_118_400

  /// A date with 3 or 6 digits of a second, made from the integer: a double would bring others. Beyond
  /// the years that dates hold exactly, the microseconds themselves.
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
  /// Where the header stands in a record: the value alone, and everything that is not the fields.
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
    // A comma that no field follows is left for the parser to complain about.
    let isGood = index < bytes.count && bytes[index] == UInt8(ascii: "\"")
    return (valueStart..<end, start..<(isGood ? comma : end))
  }

  static func parse(_ bytes: [UInt8], _ range: Range<Int>) throws(StoreError) -> Document.Header {
    // Blanks in front, so that offsets of errors are those of the record.
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
          .invalidArgument, "The header of an exported document is none that export writes",
          [.field: name, .byteOffset: "\(range.lowerBound)"])
      }
    }
    return header
  }
}
