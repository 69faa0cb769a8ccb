// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Extended JSON version 2 in canonical form, for MongoDB's tools
/// (https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/).
enum MongoDBText {
  private static let identifier = "_id"

  /// Writes a document with its field `_id` first.
  static func write(
    _ object: DocumentObject, key: String?, rowID: Int64?, _ writer: inout JSONWriter
  ) {
    let id = object[identifier] ?? key.map { .string($0) } ?? rowID.map { .int($0) }
    var fields = object
    fields[identifier] = nil
    writer.literal("{")
    if let id {
      writer.literal(#""_id":"#)
      writeIdentifier(id, &writer)
      if !fields.isEmpty { writer.literal(",") }
    }
    writeFields(fields, &writer)
    writer.literal("}")
  }

  /// An import stores object IDs as text.
  private static func writeIdentifier(_ id: DocumentValue, _ writer: inout JSONWriter) {
    guard case .string(let text) = id, text.utf8.count == 24,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return write(id, &writer) }
    writer.literal(#"{"$oid":"#)
    writer.string(text)
    writer.literal("}")
  }

  private static func writeFields(_ object: DocumentObject, _ writer: inout JSONWriter) {
    for (index, field) in object.enumerated() {
      if index > 0 { writer.literal(",") }
      // Not `fieldName`, which doubles a `$`: that of an imported `$timestamp` denotes its type.
      writer.string(field.name)
      writer.literal(":")
      write(field.value, &writer)
    }
  }

  /// Types without a value of their own, whose numbers are plain.
  private static let plainNumbers: Set = ["$timestamp", "$minKey", "$maxKey"]

  private static func write(_ value: DocumentValue, _ writer: inout JSONWriter) {
    switch value {
    case .null, .bool, .string: writer.value(value)
    case .data(let data): writer.data(data)
    case .url(let url): writer.string(url.absoluteString)
    case .int(let number):
      writer.literal(
        Int32(exactly: number) == nil ? #"{"$numberLong":""# : #"{"$numberInt":""#)
      writer.integer(number)
      writer.literal(#""}"#)
    case .double(let number) where number.isFinite:
      writer.literal(#"{"$numberDouble":""#)
      writer.double(number)
      writer.literal(#""}"#)
    // In this form already.
    case .double: writer.value(value)
    case .decimal: writer.text(value)
    case .date(let date):
      writer.literal(#"{"$date":{"$numberLong":""#)
      // The last millisecond of the year 9999, after which there are no dates, is not rounded up.
      writer.integer(
        min(Int64((date.timeIntervalSince1970 * 1000).rounded()), 253_402_300_799_999))
      writer.literal(#""}}"#)
    case .array(let elements):
      writer.literal("[")
      for (index, element) in elements.enumerated() {
        if index > 0 { writer.literal(",") }
        write(element, &writer)
      }
      writer.literal("]")
    case .object(let object):
      writer.literal("{")
      if object.count == 1, let (name, value) = object.first, plainNumbers.contains(name) {
        writer.string(name)
        writer.literal(":")
        writer.text(value, dialect: .plain)
      } else {
        writeFields(object, &writer)
      }
      writer.literal("}")
    }
  }
}
