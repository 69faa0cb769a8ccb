// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport

@testable import NanoLegacy

/// The state of a case about the original's files.
struct OldBytes {
  /// Whether records begin with a version byte.
  var isVersioned = true
  /// The buffer that the case wrote last.
  var bytes: [UInt8] = [] {
    didSet { buffer = BNRDataBuffer(bytes) }
  }
  /// The position in the buffer.
  var buffer = BNRDataBuffer([])
  /// The bytes that the buffer was made of.
  var input: [UInt8] = []
  var salt = BNRSalt.random()
  /// The salts and versions of classes.
  var salts: [String: BNRSalt] = [:]
  var upgraded: [String: UInt8] = [:]
  /// The classes in the order in which they got their numbers.
  var classes: [String] = []
  /// The fields of classes that the case defines.
  var fields: [String: [BNRSchema.Field]] = [:]
}

extension BNRSalt {
  static func random() -> BNRSalt {
    BNRSalt(word0: .random(in: 0 ... .max), word1: .random(in: 0 ... .max))
  }
}

/// Data buffers in the original's format.
///
/// NanoStore reads this format, but does not write it: the bytes that a case writes are made by `BNRBufferWriter` and
/// compared with those of the case, and the importer has to read the same items from them.
extension BNRCaseRunner {
  typealias Item = (name: String, value: DocumentValue)

  func performBuffers(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    do {
      switch op {
      case "write": return try write(Self.items(step), version: nil)
      case "writeRecord": return try write(Self.items(step), version: version(step))
      case "read": return try read(step)
      case "readHex", "readRecord":
        old.bytes = try bytes(step["hex"])
        return try read(step, hasVersion: op == "readRecord")
      case "roundTrip": _ = try write(Self.items(step), version: nil)
      default: break
      }
      return nil
    } catch let error as StoreError where error.code == .corruptDocument {
      let isShort = ["shorter", "exceeds"].contains { error.message.contains($0) }
      return ["error": isShort ? "endOfBuffer" : .string(error.code.rawValue), "isNil": true]
    }
  }

  static func items(_ step: DocumentObject) -> [Item] {
    (step["items"]?.array ?? []).compactMap { $0.object?.first.map { ($0.name, $0.value) } }
  }

  func version(_ step: DocumentObject) -> UInt8 { UInt8(clamping: step["version"]?.int ?? 0) }

  /// Writes items, and checks that the importer reads them.
  private func write(_ items: [Item], version: UInt8?) throws -> DocumentObject {
    old.bytes = try (version.map { [$0] } ?? []) + content(items)
    let types = try items.map { try fieldType(of: $0) }
    let record = try decode(types, hasVersion: version != nil)
    guard record.version == version, old.buffer.remaining == 0 else {
      throw failure("the importer reads another version, or not everything")
    }
    for (index, item) in items.enumerated() {
      let found = try caseValue(record.object["\(index)"] ?? .null, types[index])
      guard try canonical(item.value, types[index]).matches(found) else {
        throw failure("the importer reads \(found.jsonString()) for \(item.value.jsonString())")
      }
    }
    old.buffer = BNRDataBuffer(old.bytes)
    return ["hex": .string(hex(old.bytes)), "length": .int(Int64(old.bytes.count))]
  }

  private func read(_ step: DocumentObject, hasVersion: Bool = false) throws -> DocumentObject {
    let types = try (step["types"]?.array ?? []).map { try fieldType($0.string ?? "") }
    let record = try decode(types, hasVersion: hasVersion)
    let wanted = step["expect"]?["items"]?.array ?? []
    let items = try types.enumerated().map { index, type in
      let found = try caseValue(record.object["\(index)"] ?? .null, type)
      // Case files have no data, dates and floating-point numbers of 32 bits. Empty text is never read.
      guard wanted.indices.contains(index), wanted[index] != "",
        try canonical(wanted[index], type).matches(found)
      else { return found }
      return wanted[index]
    }
    return [
      "items": .array(items), "isNil": false,
      "version": record.version.map { .int(Int64($0)) } ?? .null,
    ]
  }

  private func decode(
    _ types: [BNRSchema.FieldType], hasVersion: Bool
  ) throws -> BNRDecodedRecord {
    let fields = types.enumerated().map { BNRSchema.Field("\($0.offset)", $0.element) }
    return try decoder(fields).read(&old.buffer, hasVersion: hasVersion)
  }

  func decoder(_ fields: [BNRSchema.Field]) -> BNRRecordDecoder {
    let names = old.classes.enumerated().map { (UInt8($0.offset), $0.element) }
    return BNRRecordDecoder(fields, classNames: Dictionary(uniqueKeysWithValues: names)) {
      (data) throws(StoreError) in
      do throws(PropertyListError) {
        return try KeyedArchive.value(Array(data)).value
      } catch {
        throw StoreError(.corruptDocument, "The archive cannot be decoded")
      }
    }
  }

  // MARK: Types and values

  private func fieldType(of item: Item) throws -> BNRSchema.FieldType {
    guard ["reference", "array"].contains(item.name) else { return try fieldType(item.name) }
    let target = item.value.string ?? item.value.array?.first?.string
    let name = try target.map { try className(of: $0) } ?? old.classes.first ?? ""
    return try fieldType("\(item.name)(\(name))")
  }

  func fieldType(_ name: String) throws -> BNRSchema.FieldType {
    let parts = name.split(separator: "(")
    let className = parts.count == 2 ? String(parts[1].dropLast()) : old.classes.first ?? ""
    switch parts.first {
    case "uint8": return .uint8
    case "uint32": return .uint32
    case "float32": return .float32
    case "float64": return .float64
    case "string": return .text
    case "data": return .data
    case "date": return .date
    case "reference": return .reference(to: className)
    case "unknownReference": return .anyReference
    case "array": return .array(of: className)
    case "heteroArray": return .mixedArray
    case "archive": return .archive
    default: throw failure("the runner does not know the type \(name)")
    }
  }

  /// Returns what the importer has to read for a value of the case file.
  func canonical(
    _ value: DocumentValue, _ type: BNRSchema.FieldType
  ) throws -> DocumentValue {
    switch (type, value) {
    case (.text, ""), (.data, ""): return .null
    case (.float32, _): return value.double.map { .double(Double(Float($0))) } ?? .null
    case (.data, .string), (.data, .object): return .data(Data(try bytes(value)))
    case (.date, _) where !value.isNull:
      let seconds = try seconds(value)
      return seconds == 0 ? .null : .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (.array, .array(let elements)), (.mixedArray, .array(let elements)):
      return .array(elements.filter { !$0.isNull })
    default: return value
    }
  }

  /// Replaces the row IDs of a decoded value by the names of the objects.
  func caseValue(
    _ value: DocumentValue, _ type: BNRSchema.FieldType
  ) throws -> DocumentValue {
    func named(_ value: DocumentValue, _ className: String?) throws -> DocumentValue {
      let className = className ?? value["collection"]?.string
      guard let rowID = value.int64 ?? value["id"]?.int64, let className else { return value }
      return try name(ofRow: rowID, className)
    }
    return try value.mapReferences(type, named)
  }
}

extension DocumentValue {
  /// Replaces the references of a value of a type, which are given with their class if the type names it.
  func mapReferences(
    _ type: BNRSchema.FieldType, _ replace: (DocumentValue, String?) throws -> DocumentValue
  ) rethrows -> DocumentValue {
    switch type {
    case .reference(let className): try replace(self, className)
    case .anyReference: try replace(self, nil)
    case .array(let className): .array(try (array ?? []).map { try replace($0, className) })
    case .mixedArray: .array(try (array ?? []).map { try replace($0, nil) })
    default: self
    }
  }
}
