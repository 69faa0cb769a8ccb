// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// A record of BNRPersistence as a document.
struct BNRDecodedRecord: Equatable {
  /// The version byte; `nil` if the record has none.
  var version: UInt8?
  var object: DocumentObject = [:]
  /// The empty entries of arrays of references, which were skipped as the original skipped them.
  var emptyReferences = 0
  /// The dates that documents cannot hold; they became doubles, in seconds since 2001-01-01 00:00:00 UTC.
  var datesOutOfRange = 0
  /// The references to class IDs that no class of the store has.
  var unknownClasses = 0
}

/// Decodes the content of records with the fields of a schema.
///
/// References to objects of one class become row IDs, references to objects of any class become objects
/// such as `{"collection": "Song", "id": 3}`, or `{"classID": 7, "rowID": 3}` if no class has the ID.
struct BNRRecordDecoder {
  let fields: [BNRSchema.Field]
  /// The names of the store's classes by class ID.
  let classNames: [UInt8: String]
  /// Decodes a keyed archive; `nil` keeps archives as data.
  let archive: ((Data) throws(StoreError) -> DocumentValue)?

  init(
    _ fields: [BNRSchema.Field], classNames: [UInt8: String],
    archive: ((Data) throws(StoreError) -> DocumentValue)? = nil
  ) {
    self.fields = fields
    self.classNames = classNames
    self.archive = archive
  }

  /// - Throws: ``StoreError/Code/corruptDocument``, with the field and the byte offset, unless the fields are
  ///   valid and consume the whole record; or the error of the archive decoder.
  func decode(_ content: [UInt8], hasVersion: Bool) throws(StoreError) -> BNRDecodedRecord {
    var buffer = BNRDataBuffer(content)
    let record = try read(&buffer, hasVersion: hasVersion)
    try buffer.finish()
    return record
  }

  /// Reads the fields from a buffer that may contain more.
  func read(
    _ buffer: inout BNRDataBuffer, hasVersion: Bool
  ) throws(StoreError) -> BNRDecodedRecord {
    var record = BNRDecodedRecord()
    if hasVersion { record.version = try buffer.uint8() }
    for field in fields where field.exists(inVersion: record.version ?? 0) {
      do throws(StoreError) {
        record.object[field.name] = try value(field.type, &buffer, &record)
      } catch {
        throw error.adding(.field, field.name)
      }
    }
    return record
  }

  private func value(
    _ type: BNRSchema.FieldType, _ buffer: inout BNRDataBuffer, _ record: inout BNRDecodedRecord
  ) throws(StoreError) -> DocumentValue {
    switch type {
    case .uint8: return .int(Int64(try buffer.uint8()))
    case .uint32: return .int(Int64(try buffer.uint32()))
    case .float32: return .double(Double(try buffer.float32()))
    case .float64: return .double(try buffer.float64())
    case .text: return try buffer.text().map { .string($0) } ?? .null
    case .data: return try buffer.data().map { .data($0) } ?? .null
    case .date: return date(try buffer.float64(), &record)
    case .reference: return rowID(try buffer.uint32()) ?? .null
    case .anyReference: return try anyReference(&buffer, &record) ?? .null
    case .array: return try array(&buffer, &record)
    case .mixedArray: return try mixedArray(&buffer, &record)
    case .archive: return try archived(&buffer)
    }
  }

  private func date(_ seconds: Double, _ record: inout BNRDecodedRecord) -> DocumentValue {
    // The original wrote a missing date as 0 and read 0 as a missing date.
    guard seconds != 0 else { return .null }
    guard DateText.storable.contains(seconds) else {
      record.datesOutOfRange += 1
      return .double(seconds)
    }
    return .date(Date(timeIntervalSinceReferenceDate: seconds))
  }

  private func rowID(_ number: UInt32) -> DocumentValue? { number == 0 ? nil : .int(Int64(number)) }

  private func anyReference(
    _ buffer: inout BNRDataBuffer, _ record: inout BNRDecodedRecord
  ) throws(StoreError) -> DocumentValue? {
    let classID = try buffer.uint8()
    guard let rowID = rowID(try buffer.uint32()) else { return nil }
    guard let name = classNames[classID] else {
      record.unknownClasses += 1
      return ["classID": .int(Int64(classID)), "rowID": rowID]
    }
    return ["collection": .string(name), "id": rowID]
  }

  private func array(
    _ buffer: inout BNRDataBuffer, _ record: inout BNRDecodedRecord
  ) throws(StoreError) -> DocumentValue {
    var elements: [DocumentValue] = []
    for _ in 0..<(try buffer.count(elementSize: 4)) {
      append(rowID(try buffer.uint32()), to: &elements, &record)
    }
    return .array(elements)
  }

  private func mixedArray(
    _ buffer: inout BNRDataBuffer, _ record: inout BNRDecodedRecord
  ) throws(StoreError) -> DocumentValue {
    var elements: [DocumentValue] = []
    for _ in 0..<(try buffer.count(elementSize: 5)) {
      append(try anyReference(&buffer, &record), to: &elements, &record)
    }
    return .array(elements)
  }

  private func append(
    _ element: DocumentValue?, to elements: inout [DocumentValue],
    _ record: inout BNRDecodedRecord
  ) {
    if let element { elements.append(element) } else { record.emptyReferences += 1 }
  }

  private func archived(_ buffer: inout BNRDataBuffer) throws(StoreError) -> DocumentValue {
    guard let data = try buffer.data() else { return .null }
    return try archive?(data) ?? .data(data)
  }
}
