// SPDX-License-Identifier: MIT

import NanoDocument

/// The readable parts of a row of a collection's table.
struct RecoveredDocument {
  let rowID: Int64
  var key: DocumentKey?
  /// The key of a row of another program that is a floating-point number, of which SQLite has another text than Swift.
  let numericKey: Double?
  private(set) var type: String?
  private(set) var version: Int64?
  private(set) var added: Int64?
  private(set) var body: [UInt8]
  /// Whether another program wrote the body, and it has no stored form.
  private(set) var isForeign = false
  /// Descriptions of the parts that could not be kept, one sentence each.
  private(set) var losses: [String] = []

  /// The reason why a row with the right columns yields no document.
  struct Unreadable: Error {
    let key: String?
    let reason: String
  }

  /// The columns of `Schema.collection`.
  private static let columns = 7

  /// Whether a row could be from a collection's table; used for rows whose table is unknown.
  static func isLikely(_ record: StoredRecord) -> Bool {
    let values = record.values
    // A tracked table has one more column, the position in the change feed.
    guard (columns...columns + 1).contains(values.count), values[0].isNull,
      case .text(let body) = values[6],
      values.dropFirst(columns).allSatisfy({ $0.isNull || $0.int != nil })
    else { return false }
    let isNumber = values[3...5].allSatisfy { $0.isNull || $0.int != nil }
    let isType = if case .blob = values[2] { false } else { values[2].int == nil }
    return isNumber && isType && body.first { $0 != 0 } == UInt8(ascii: "{")
  }

  /// - Throws: ``Unreadable``.
  init(_ row: TreeReader.Row, _ encoding: StoredTextEncoding) throws(Unreadable) {
    let values = row.record.values
    guard values.count >= Self.columns else {
      throw Unreadable(key: nil, reason: "the row has \(values.count) of \(Self.columns) columns")
    }
    rowID = row.id
    numericKey = if case .double(let number) = values[1] { number } else { nil }
    let storedKey = Self.key(values[1], encoding)
    let read = try Self.body(values[6], encoding, key: storedKey?.description)
    body = read.bytes
    if read.isRepaired {
      losses.append("document \(row.id) contained bytes that are not valid text")
    }
    key = storedKey
    if key == nil, !values[1].isNull { losses.append("document \(row.id) has lost its key") }
    type = encoding.text(values[2])
    if type == nil, !values[2].isNull { losses.append("document \(row.id) has lost its class") }
    version = number(values[3], "version")
    added = number(values[4], "creation date")
  }

  /// Returns the document in stored form, as a writer adopts documents of other programs. One without a stored
  /// form is kept unchanged.
  func inStoredForm() -> RecoveredDocument {
    var copy = self
    do {
      copy.body = try body.withUnsafeBytes { try CanonicalBody.rewritten($0) } ?? body
    } catch {
      copy.isForeign = true
    }
    return copy
  }

  /// Returns the document with its fields encoded again; `nil` if that is impossible.
  func rewritten() -> RecoveredDocument? {
    var writer = JSONWriter(capacity: body.count)
    let isRead = body.withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      guard let object = try? reader.object() else { return false }
      writer.object(object)
      return writer.failure == nil
    }
    guard isRead else { return nil }
    var copy = self
    copy.body = writer.withBytes { Array($0) }
    copy.losses.append("document \(rowID) contained characters that are not valid in JSON")
    return copy
  }

  private mutating func number(_ value: StoredRecord.Value, _ name: String) -> Int64? {
    if value.int == nil, !value.isNull {
      losses.append("document \(rowID) has lost its \(name)")
    }
    return value.int
  }

  private static func key(
    _ value: StoredRecord.Value, _ encoding: StoredTextEncoding
  ) -> DocumentKey? {
    switch value {
    case .blob(let bytes) where bytes.count == 16:
      return bytes.withUnsafeBytes { bytes in
        .uuid(
          bytes.loadUnaligned(as: UInt64.self).bigEndian,
          bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian)
      }
    case .text(let bytes): return encoding.text(bytes).flatMap { try? DocumentKey($0) }
    // Written by another program.
    case .int(let number): return try? DocumentKey("\(number)")
    case .double(let number): return try? DocumentKey("\(number)")
    default: return nil
    }
  }

  /// Returns the fields in UTF-8 if they decode.
  private static func body(
    _ value: StoredRecord.Value, _ encoding: StoredTextEncoding, key: String?
  ) throws(Unreadable) -> (bytes: [UInt8], isRepaired: Bool) {
    guard let bytes = value.bytes else {
      throw Unreadable(key: key, reason: "the body is not text")
    }
    let text = encoding.text(bytes)
    let body =
      encoding == .utf8 && text != nil
      ? bytes : Array((text ?? encoding.repairedText(bytes)).utf8)
    let failure = body.withUnsafeBytes { bytes -> StoreError? in
      do throws(StoreError) { try BodyValidator.readObject(bytes) } catch { return error }
      return nil
    }
    if let failure {
      throw Unreadable(key: key, reason: "the body does not decode: \(failure.debugDescription)")
    }
    return (body, text == nil)
  }
}
