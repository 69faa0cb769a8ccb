// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEncryption
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Previous bodies of encrypted documents")
struct EncryptedPreviousBodyTests {
  private let scratch: Scratch
  private var path: String { scratch.file("a.db") }

  init() throws { scratch = try Scratch() }

  private func plain() throws -> SQLiteEngine {
    var configuration = SQLiteConfiguration()
    configuration.durability = .fast
    configuration.allowsInternalWrites = true
    return try SQLiteEngine(.file(path), configuration)
  }

  private func encrypted(_ passphrase: String = "correct horse") throws -> EncryptedEngine {
    try EncryptedEngine(plain(), .test(passphrase))
  }

  private func save(_ text: String, _ key: String, _ engine: any Engine) throws {
    let document = GeneratedDocument(
      ["text": .string(text)], key: try DocumentKey(key), type: "Film", version: 2)
    try engine.write(nil) { writer in
      _ = try document.new { try writer.save($0, into: "films") }
    }
  }

  private func kept(_ rowID: Int64, _ engine: any Engine) throws -> String? {
    var found: String?
    try engine.read(.snapshot, nil) { reader in
      _ = try reader.previousBody(ofRow: rowID, in: "films") {
        found = String(decoding: $0.body, as: UTF8.self)
      }
    }
    return found
  }

  /// Returns the stored form of all kept bodies.
  private func stored() throws -> [String] {
    let engine = try plain()
    defer { try? engine.close() }
    var found: [String] = []
    try engine.read(.snapshot, nil) { reader in
      try reader.previousBodies(after: nil, limit: 1_000, in: "films") {
        found.append(String(decoding: $0.body, as: UTF8.self))
      }
    }
    return found
  }

  private func run(_ sql: String) throws {
    let engine = try plain()
    defer { try? engine.close() }
    try engine.write(nil) { writer in
      _ = try (writer as? any SQLReader)?.sql(sql, SQLArguments([])) { _ in true }
    }
  }

  private func filled(_ engine: any Engine) throws {
    for key in ["a", "b"] { try save("secret " + key, key, engine) }
    try engine.write(nil) { try $0.setKeepsPreviousBodies(true, of: "films") }
    try save("later", "a", engine)
    try save("latest", "a", engine)
  }

  @Test("They are encrypted in the file, and decrypted when they are read")
  func encryption() throws {
    let engine = try encrypted()
    try filled(engine)
    #expect(try kept(1, engine) == "{\"text\":\"secret a\"}")
    #expect(try kept(2, engine) == nil)
    #expect(try engine.verify() == [])
    try engine.close()
    #expect(try stored().allSatisfy { $0.hasPrefix("{\"$sealed\"") && !$0.contains("secret") })
    #expect(try stored().count == 1)
    #expect(try scratch.bytes("a.db").range(of: Data("secret a".utf8)) == nil)
  }

  @Test("A rotation encrypts them with the new key, with which they are read afterward")
  func rotation() throws {
    let engine = try encrypted()
    try filled(engine)
    try engine.rotate()
    #expect(try kept(1, engine) == "{\"text\":\"secret a\"}")
    // The rotation wrote the document again.
    #expect(try kept(2, engine) == "{\"text\":\"secret b\"}")
    #expect(try engine.verify() == [])
    try engine.close()
    #expect(try stored().map(SealedFile.keyNumber) == [2, 2])
    let again = try encrypted()
    #expect(try kept(1, again) == "{\"text\":\"secret a\"}")
    try again.close()
  }

  @Test("Encrypting a plain store encrypts them too")
  func encryptAll() throws {
    let engine = try plain()
    try filled(engine)
    try engine.close()
    let sealed = try encrypted()
    #expect(try kept(1, sealed) == "{\"text\":\"secret a\"}")
    try sealed.encryptAll()
    #expect(try kept(1, sealed) == "{\"text\":\"secret a\"}")
    #expect(try kept(2, sealed) == "{\"text\":\"secret b\"}")
    #expect(try sealed.verify() == [])
    try sealed.close()
    #expect(try stored().allSatisfy { $0.hasPrefix("{\"$sealed\"") })
  }

  @Test(
    "One that was changed or moved to another row does not decrypt, is reported, and does not stop a rotation"
  )
  func tampering() throws {
    for sql in [
      "UPDATE nano_previous_films SET id = 2 WHERE id = 1",
      "UPDATE nano_previous_films SET key = 'b'", "UPDATE nano_previous_films SET type = NULL",
      "UPDATE nano_previous_films SET version = 3",
      "UPDATE nano_previous_films SET body = '{\"text\":\"forged\"}'",
    ] {
      let engine = try encrypted()
      try filled(engine)
      try engine.encryptAll()
      try engine.close()
      try run(sql)
      let again = try encrypted()
      let row: Int64 = sql.contains("id = 2") ? 2 : 1
      #expect(code { _ = try kept(row, again) } == .corruptDocument, "\(sql)")
      #expect(try again.verify().count == 1, "\(sql)")
      try again.rotate()
      #expect(try again.verify() == [], "\(sql)")
      #expect(try kept(1, again) != "{\"text\":\"forged\"}")
      _ = try again.write(nil) { try $0.dropCollection("films") }
      try again.close()
    }
  }

  @Test(
    "The revisions that sync keeps of an encrypted collection are encrypted like its documents",
    arguments: [false, true])
  func revisions(addsCollection: Bool) throws {
    let records = InternalCollection.revisions(of: "Films")
    func open(_ names: Set<String>) throws -> EncryptedEngine {
      try EncryptedEngine(plain(), .test(encrypting: .only(names)))
    }
    func saveRecord(_ text: String, _ key: String, _ engine: any Engine) throws {
      let document = GeneratedDocument(["text": .string(text)], key: try DocumentKey(key))
      try engine.write(nil) { writer in
        try writer.createCollection(records.description)
        _ = try document.new { try writer.save($0, into: records.rawValue) }
      }
    }
    func bodies(_ engine: any Engine) throws -> [String] {
      var found: [String] = []
      try engine.read(.snapshot, nil) { reader in
        try reader.find(Query(), in: records.rawValue) { stored in
          found.append(String(decoding: stored.body, as: UTF8.self))
          return true
        }
      }
      return found
    }
    func areEncrypted() throws -> [Bool] {
      let engine = try plain()
      defer { try? engine.close() }
      return try bodies(engine).map { $0.hasPrefix("{\"$sealed\"") }
    }
    // As long as the collection is not encrypted, neither are its revisions.
    let before: any Engine = addsCollection ? try open(["other"]) : try plain()
    try saveRecord("secret a", "a", before)
    try before.close()

    let engine = try open(["films"])
    try saveRecord("secret b", "b", engine)

    #expect(try bodies(engine) == ["{\"text\":\"secret a\"}", "{\"text\":\"secret b\"}"])
    try engine.close()
    #expect(try areEncrypted() == [false, true])
    let again = try open(["films"])
    try again.encryptAll()
    #expect(try bodies(again) == ["{\"text\":\"secret a\"}", "{\"text\":\"secret b\"}"])
    #expect(try again.verify() == [])
    try again.close()
    #expect(try areEncrypted() == [true, true])
  }
}
