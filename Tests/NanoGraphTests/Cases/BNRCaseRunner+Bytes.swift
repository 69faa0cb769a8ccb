// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport

@testable import NanoLegacy

/// The bytes of items and objects, as the original writes them.
extension BNRCaseRunner {
  func content(_ items: [Item]) throws -> [UInt8] {
    var writer = BNRBufferWriter()
    for item in items { try write(item, &writer) }
    return writer.bytes
  }

  private func write(_ item: Item, _ writer: inout BNRBufferWriter) throws {
    let (name, value) = item
    let names = (value.array ?? []).map(\.string)
    switch name {
    case "uint8": writer.uint8(UInt8(clamping: try number(value)))
    case "uint32": writer.uint32(UInt32(clamping: try number(value)))
    case "float32": writer.float32(Float(value.double ?? 0))
    case "float64": writer.float64(value.double ?? 0)
    case "string": writer.text(value.string ?? "")
    case "data": writer.data(try bytes(value))
    case "date": writer.float64(try value.isNull ? 0 : seconds(value))
    case "reference": writer.uint32(try rowID(value.string))
    case "unknownReference": try writeReference(to: value.string, &writer)
    case "array":
      writer.uint32(UInt32(names.count))
      for name in names { writer.uint32(try rowID(name)) }
    case "heteroArray":
      writer.uint32(UInt32(names.count))
      for name in names { try writeReference(to: name, &writer) }
    case "archive": writer.data(KeyedArchiveWriter.archive(Archived(value)))
    default: throw failure("the runner does not know the item \(name)")
    }
  }

  private func writeReference(to name: String?, _ writer: inout BNRBufferWriter) throws {
    let id = try name.map { try classID(className(of: $0)) } ?? 0
    writer.uint8(id)
    writer.uint32(try rowID(name))
  }

  private func number(_ value: DocumentValue) throws -> Int64 {
    guard let number = value.int64 else { throw failure("\(value.jsonString()) is no integer") }
    return number
  }

  func classID(_ className: String) throws -> UInt8 {
    guard let id = old.classes.firstIndex(of: className) else {
      throw failure("the class \(className) is not registered")
    }
    return UInt8(id)
  }

  func className(of name: String) throws -> String {
    Swift.type(of: try object(name)).collectionName
  }

  /// Returns the row ID as the original counts it, and 0 for no object.
  private func rowID(_ name: String?) throws -> UInt32 {
    guard let name else { return 0 }
    return UInt32(clamping: try originalRow(of: object(name)))
  }

  /// Returns the name of an object, or its row ID if the case has not named it.
  func name(ofRow rowID: Int64, _ className: String) throws -> DocumentValue {
    guard let type = classes[className] ?? Original.classes[className]?.first,
      let object = try get(type, rowID, isLoaded: true), let name = name(of: object)
    else { return .int(rowID) }
    return .string(name)
  }

  // MARK: Objects

  /// Returns the fields of a record in the order in which the original writes them.
  ///
  /// - Parameter version: The version byte; nil if the record has none, and therefore all fields.
  func fields(_ className: String, version: UInt8?) throws -> [BNRSchema.Field] {
    guard let fields = old.fields[className] ?? Original.fields[className] else {
      throw failure("the runner does not know the fields of \(className)")
    }
    guard let version else { return fields.map { BNRSchema.Field($0.name, $0.type) } }
    return fields.filter { $0.exists(inVersion: version) }
  }

  /// Returns the content of an object.
  func content(_ object: any CaseObject, _ fields: [BNRSchema.Field]) throws -> [UInt8] {
    try content(
      fields.map { field in
        let value = try value(field.name, of: object)
        switch field.type {
        case .reference: return ("reference", value)
        case .array: return ("array", value)
        case .float32: return ("float32", value)
        case .uint32: return ("uint32", value)
        case .text: return ("string", value)
        default: throw failure("objects have no such field")
        }
      })
  }

  // MARK: Values of the case file

  func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Decodes bytes: text in hexadecimal digits, or data.
  func bytes(_ value: DocumentValue?) throws -> [UInt8] {
    switch value {
    case nil, .null: return []
    case .data(let data): return Array(data)
    case .object(let object):
      guard let data = Data(base64Encoded: object["$data"]?.string ?? "?") else { break }
      return Array(data)
    case .string(let text):
      let digits = text.compactMap(\.hexDigitValue)
      guard digits.count == text.count, digits.count % 2 == 0 else { break }
      return stride(from: 0, to: digits.count, by: 2).map {
        UInt8(digits[$0] * 16 + digits[$0 + 1])
      }
    default: break
    }
    throw failure("\(value?.jsonString() ?? "") are no bytes")
  }

  /// Decodes a date: text, or seconds since 2001-01-01 00:00:00 UTC.
  func seconds(_ value: DocumentValue) throws -> Double {
    if let seconds = value.double { return seconds }
    let text = value.string ?? value["$date"]?.string ?? ""
    let styles = [true, false].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
    guard let date = styles.lazy.compactMap({ try? Date(text, strategy: $0) }).first else {
      throw failure("\(value.jsonString()) is no date")
    }
    return date.timeIntervalSinceReferenceDate
  }
}

extension Original {
  /// What the classes write, in order.
  static let fields: [String: [BNRSchema.Field]] = [
    "Song": [.init("title", .text), .init("seconds", .uint32)],
    "Playlist": [.init("title", .text), .init("songs", .array(of: "Song"))],
    "Person": [.init("name", .text)],
    "GRLNode": [.init("x", .float32), .init("y", .float32)],
    "GRLEdge": [
      .init("source", .reference(to: "GRLNode")), .init("destination", .reference(to: "GRLNode")),
    ],
  ]
}

extension Archived {
  /// An object of a Foundation class with this value.
  init(_ value: DocumentValue) {
    self =
      switch value {
      case .null: .null
      case .bool(let flag): .bool(flag)
      case .int(let number): .int(number)
      case .double(let number): .real(number)
      case .decimal(let number): .text(number.description)
      case .string(let text): .text(text)
      case .date(let date): .date(date.timeIntervalSinceReferenceDate)
      case .data(let data): .data(Array(data))
      case .url(let url): .url(url.absoluteString)
      case .array(let elements): .array(elements.map { Archived($0) })
      case .object(let object): .dictionary(object.map { ($0.name, Archived($0.value)) })
      }
  }
}
