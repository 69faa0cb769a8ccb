// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport

@testable import NanoLegacy

/// Encrypted buffers and records, stored records and metadata, in the original's format. Like buffers, they are written
/// by the tests and read by the importer.
extension BNRCaseRunner {
  func performRecords(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "bufferFromBytes": return try makeBuffer(step["bytes"])
    case "encryptBuffer": return try encryptBuffer(step)
    case "decryptBuffer": return try decryptBuffer(step)
    case "encryptRecord": return try encryptRecord(step)
    case "rawRecord": return try rawRecord(type(step), step["rowID"]?.int64 ?? 0)
    case "rawMetadata": return try rawMetadata(type(step))
    case "setVersioning":
      old.isVersioned = step["value"]?.bool ?? true
      return [:]
    default: return nil
    }
  }

  // MARK: Buffers

  /// Fills the buffer with bytes in hexadecimal digits, or with `random(n)` bytes.
  private func makeBuffer(_ value: DocumentValue?) throws -> DocumentObject {
    if let text = value?.string, text.hasPrefix("random(") {
      let count = Int(text.filter(\.isNumber)) ?? 0
      old.input = (0..<count).map { _ in UInt8.random(in: 0...255) }
    } else {
      old.input = try bytes(value)
    }
    old.bytes = old.input
    let read = try old.input.map { _ in try old.buffer.uint8() }
    old.buffer = BNRDataBuffer(old.bytes)
    return ["equalToInput": .bool(read == old.input), "length": .int(Int64(read.count))]
  }

  /// Buffers have the salts of records; row 0 leaves the salt of the class unchanged.
  private static let bufferRow: UInt32 = 0

  private func encryptBuffer(_ step: DocumentObject) throws -> DocumentObject {
    let before = old.bytes
    let passphrase = step["passphrase"]?.string ?? ""
    try setSalt(step["salt"])
    if let cipher = BNRCipher(passphrase: passphrase, salt: old.salt) {
      old.bytes = try BNRBufferWriter.encrypt(
        before, salt: old.salt.bytes, passphrase: passphrase)
      guard cipher.isEncrypted(old.bytes, rowID: Self.bufferRow) else {
        throw failure("the importer does not recognize the encrypted buffer")
      }
    }
    return buffer(changed: before)
  }

  private func decryptBuffer(_ step: DocumentObject) throws -> DocumentObject {
    let before = old.bytes
    try setSalt(step["salt"])
    if let cipher = BNRCipher(passphrase: step["passphrase"]?.string ?? "", salt: old.salt) {
      guard let plain = try cipher.decrypt(before, rowID: Self.bufferRow) else {
        var result = buffer(changed: before)
        result["ok"] = false
        return result
      }
      old.bytes = plain
    }
    return buffer(changed: before)
  }

  private func buffer(changed before: [UInt8]) -> DocumentObject {
    [
      "changed": .bool(old.bytes != before), "equalToInput": .bool(old.bytes == old.input),
      "length": .int(Int64(old.bytes.count)),
    ]
  }

  /// Sets the salt to 8 bytes, to two words, or to a random one; `same` keeps it.
  private func setSalt(_ value: DocumentValue?) throws {
    switch value {
    case nil, "same": return
    case .array(let words): old.salt = Self.salt(words)
    case .string(let text) where text.count == 16 && text.allSatisfy(\.isHexDigit):
      var buffer = BNRDataBuffer(try bytes(value))
      old.salt = BNRSalt(word0: try buffer.uint32(), word1: try buffer.uint32())
    default: old.salt = .random()
    }
  }

  private static func salt(_ words: [DocumentValue]) -> BNRSalt {
    let words = words.compactMap(\.int).map { UInt32(clamping: $0) } + [0, 0]
    return BNRSalt(word0: words[0], word1: words[1])
  }

  // MARK: Records

  private func encryptRecord(_ step: DocumentObject) throws -> DocumentObject {
    let rowID = UInt32(clamping: step["rowID"]?.int ?? 0)
    let passphrase = step["passphrase"]?.string ?? ""
    let salt = Self.salt(step["classSalt"]?.array ?? [])
    let content =
      try step["contentHex"].map { try bytes($0) } ?? content(Self.items(step))
    let plain = [version(step)] + content
    guard let cipher = BNRCipher(passphrase: passphrase, salt: salt) else {
      return ["plainHex": .string(hex(plain)), "cipherHex": .string(hex(plain)), "changed": false]
    }
    let encrypted = try encrypt(plain, cipher, rowID)
    return [
      "recordSaltHex": .string(hex(salt.ofRow(rowID).bytes)),
      "keyHex": .string(hex(cipher.key(rowID: rowID))), "plainHex": .string(hex(plain)),
      "cipherHex": .string(hex(encrypted)), "length": .int(Int64(encrypted.count)),
      "changed": true,
    ]
  }

  /// Encrypts a record, and checks that the importer decrypts it.
  private func encrypt(
    _ record: [UInt8], _ cipher: BNRCipher, _ rowID: UInt32
  ) throws -> [UInt8] {
    let encrypted = try BNRBufferWriter.encrypt(
      record, salt: cipher.salt.ofRow(rowID).bytes, passphrase: cipher.passphrase)
    guard try cipher.decrypt(encrypted, rowID: rowID) == record else {
      throw failure("the importer does not decrypt the record")
    }
    return encrypted
  }

  /// Returns the record of a stored object as the original writes it. The importer has to read the object's fields
  /// from it.
  private func rawRecord(_ type: any CaseObject.Type, _ rowID: Int64) throws -> DocumentObject {
    let name = type.collectionName
    // In a context of its own, because objects of the case can have unsaved changes.
    let reader = ObjectContext(try store)
    defer { withExtendedLifetime(reader) {} }
    guard let row = storedRow(rowID, name), let object = try stored(type, row, in: reader) else {
      return ["isNil": true]
    }
    // Classes have version 0, unless a case defines them.
    let storedVersion = try store[name].get(rowID: row)?.version ?? 1
    let version = old.fields[name] == nil ? 0 : UInt8(clamping: storedVersion)
    let isVersioned = rows.unversioned[name]?.contains(row) != true
    let fields = try fields(name, version: isVersioned ? version : nil)
    let plain = try (isVersioned ? [version] : []) + content(object, fields)
    let record = try decoder(fields).decode(plain, hasVersion: isVersioned)
    for field in fields {
      let found = try caseValue(record.object[field.name] ?? .null, field.type)
      let wanted = try value(field.name, of: object)
      guard try canonical(wanted, field.type).matches(found) else {
        throw failure("the importer reads \(found.jsonString()) as \(field.name)")
      }
    }
    // A store can have plain and encrypted records.
    let cipher =
      try isSealed(row, name) ? BNRCipher(passphrase: passphrase, salt: salt(of: name)) : nil
    let bytes = try cipher.map { try encrypt(plain, $0, UInt32(clamping: rowID)) } ?? plain
    return [
      "isNil": false, "hex": .string(hex(bytes)), "length": .int(Int64(bytes.count)),
      "version": record.version.map { .int(Int64($0)) } ?? .null,
      "encrypted": .bool(bytes != plain), "fields": .object(record.object),
    ]
  }

  private func stored(
    _ type: any CaseObject.Type, _ row: Int64, in context: ObjectContext
  ) throws -> (any CaseObject)? {
    func open<Object: CaseObject>(_ type: Object.Type) throws -> (any CaseObject)? {
      try context.get(ObjectID<Object>(rowID: row))
    }
    return try open(type)
  }

  /// Returns the metadata of a class with stored objects: the last row ID of its collection, and what the original
  /// stores besides.
  private func rawMetadata(_ type: any CaseObject.Type) throws -> DocumentObject {
    let name = type.collectionName
    guard try store.collections().contains(where: { $0.name == name }) else {
      return ["present": false, "isNil": true]
    }
    let salt = salt(of: name)
    var writer = BNRBufferWriter()
    writer.uint32(UInt32(clamping: originalRow(try nextRow(name), name) - 1))
    writer.uint8(old.upgraded[name] ?? 1)
    writer.uint8(try classID(name))
    writer.uint32(salt.word0)
    writer.uint32(salt.word1)
    let metadata = try BNRClassMetadata(writer.bytes)
    guard metadata.salt == salt else { throw failure("the importer reads another salt") }
    return [
      "present": true, "isNil": false, "lastRowID": .int(Int64(metadata.lastRowID)),
      "version": .int(Int64(metadata.version)), "classVersion": .int(Int64(metadata.version)),
      "classID": .int(Int64(metadata.classID)), "length": .int(Int64(writer.bytes.count)),
      "saltBytes": .int(Int64(salt.bytes.count)), "encrypted": false,
    ]
  }

  private func salt(of className: String) -> BNRSalt {
    let salt = old.salts[className] ?? .random()
    old.salts[className] = salt
    return salt
  }
}
