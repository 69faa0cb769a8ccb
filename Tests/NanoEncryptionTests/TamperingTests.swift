// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption
import NanoTestSupport
import Testing

/// Modifications by an attacker who can write to the file but does not have the key.
@Suite("Tampering with an encrypted file")
struct TamperingTests {
  let file: SealedFile

  init() throws {
    file = try SealedFile()
    let store = try file.open()
    for name in ["ada", "grace", "alan"] {
      try store["people"].save(["name": .string(name)], key: name)
    }
    try store["films"].save(["title": "Brazil"], key: "ada")
    try store.setMetadata(1, "entry")
    try store["people"].setDefaults(["active": true])
    try store.close()
  }

  /// Expects that one document is reported as corrupt by every way of reading it, and that the others can be read.
  private func expectDamage(to key: String, _ rowID: Int64, line: Int = #line) throws {
    let store = try file.open()
    let people = store["people"]
    let place = SourceLocation(
      fileID: #fileID, filePath: #filePath, line: line, column: 1)
    let found = error { _ = try people.get(key) }
    #expect(found?.code == .corruptDocument, sourceLocation: place)
    #expect(found?[.collection] == "people" && found?[.rowID] == "\(rowID)", sourceLocation: place)
    #expect(
      code { _ = try people.find(Field("name") == "nobody").count() } == .corruptDocument,
      sourceLocation: place)
    for other in ["ada", "grace", "alan"] where other != key {
      #expect(try people.get(other)?["name"]?.string == other, sourceLocation: place)
    }
    let problems = try store.verify()
    #expect(problems.map(\.subject) == ["people"], sourceLocation: place)
    #expect(problems.first?.message.contains("rowID: \(rowID)") == true, sourceLocation: place)
    #expect(try people.delete(key), sourceLocation: place)
    #expect(try people.fetch().count == 2, sourceLocation: place)
    #expect(try store.verify() == [], sourceLocation: place)
  }

  @Test("A changed byte is detected at any position", arguments: [15, 17, 22, 30, 45, 60, 70])
  func changedByte(position: Int) throws {
    var body = Array(try file.body(1).utf8)
    body[position] = body[position] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    try file.setBody(1, String(decoding: body, as: UTF8.self))
    try expectDamage(to: "ada", 1)
  }

  @Test("A truncated body is detected")
  func truncated() throws {
    let body = try file.body(2)
    try file.setBody(2, String(body.dropLast(10)) + #""}"#)
    try expectDamage(to: "grace", 2)
    try file.setBody(1, #"{"$sealed":""}"#)
    #expect(code { _ = try file.open()["people"].get("ada") } == .corruptDocument)
    try file.setBody(1, #"{"$sealed":7}"#)
    #expect(code { _ = try file.open()["people"].get("ada") } == .corruptDocument)
  }

  @Test("A body moved to a different document or collection is detected")
  func moved() throws {
    let ada = try file.body(1)
    try file.setBody(3, ada)
    try expectDamage(to: "alan", 3)
    try file.setBody(1, ada, in: "films")
    #expect(code { _ = try file.open()["films"].get("ada") } == .corruptDocument)
  }

  @Test("Swapped bodies of two rows without keys are detected")
  func exchanged() throws {
    let store = try file.open()
    let rows = try store.createCollection("rows", identity: .rowID)
    let ids = try [1, 2].map { try rows.insert(["n": $0]).rowID ?? 0 }
    try store.close()
    let (first, second) = (try file.body(ids[0], in: "rows"), try file.body(ids[1], in: "rows"))
    try file.setBody(ids[0], second, in: "rows")
    try file.setBody(ids[1], first, in: "rows")
    for id in ids {
      #expect(code { _ = try file.open()["rows"].get(rowID: id) } == .corruptDocument)
    }
  }

  @Test(
    "A changed key, type or version, and additional fields in the sealed body are detected",
    arguments: [
      "key = 'eve'", "type = 'Admin'", "version = 7",
      #"body = replace(body, '"}', '","nano_f1":"AAAAAAAAAAAAAAAAAAAAAA=="}')"#,
      #"body = replace(body, '"}', '" }')"#,
    ])
  func changedRow(change: String) throws {
    try file.sql("UPDATE people SET \(change) WHERE id = 2")
    let store = try file.open()
    let found = error { _ = try store["people"].fetch() }
    #expect(found?.code == .corruptDocument)
    #expect(found?[.rowID] == "2")
    #expect(try store["people"].get("ada")?["name"] == "ada")
  }

  @Test("An unsealed document is detected in a fully sealed collection")
  func insertedDocument() throws {
    try file.setBody(1, #"{"name":"eve"}"#)
    try expectDamage(to: "ada", 1)
    try file.sql("INSERT INTO people(key, body) VALUES ('eve', '{}')")
    let store = try file.open()
    #expect(code { _ = try store["people"].get("eve") } == .corruptDocument)
    #expect(code { try store.rotateKeys() } == .corruptDocument)
    // To trust the document anyway, seal it.
    try store.encryptAll()
    #expect(try store["people"].get("eve") != nil)
  }

  @Test("A modified key record does not open the store and is not replaced")
  func changedKeys() throws {
    let mark =
      "UPDATE nano_metadata SET value = replace(value, '\"strict\":true', '\"strict\":false')"
    try file.sql(mark)
    let damage = error { _ = try file.open() }
    #expect(damage?.code == .corruptFile)
    #expect(damage?[.table] == "nano_metadata")
    // A wrong passphrase is still reported as such.
    #expect(code { _ = try file.open(.test("another horse")) } == .wrongKey)
    try file.sql("UPDATE nano_metadata SET value = replace(value, '\"n\":16', '\"n\":1073741824')")
    #expect(code { _ = try file.open() } == .corruptFile)
    try file.sql("DELETE FROM nano_metadata WHERE name = 'nano_encryption'")
    let before = try file.bytes()["a.db"]
    let missing = error { _ = try file.open() }
    #expect(missing?.code == .corruptFile)
    #expect(missing?[.table] == "nano_metadata")
    #expect(try file.bytes()["a.db"] == before)
  }

  @Test("A store whose keys were removed is not new, even if plain documents were inserted first")
  func removedKeys() throws {
    try file.sql(
      "DELETE FROM nano_metadata WHERE name = 'nano_encryption' OR name LIKE 'nano_sealed:%'")
    try file.sql("UPDATE nano_collections SET settings = '{}'")
    for name in ["people", "films"] {
      try file.sql("INSERT INTO \(name)(id, key, body) VALUES (-1, 'eve', '{}')")
    }

    let missing = error { _ = try file.open() }

    #expect(missing?.code == .corruptFile && missing?[.table] == "nano_metadata")
    #expect(
      try file.sql("SELECT name FROM nano_metadata WHERE name = 'nano_encryption'").isEmpty)
  }

  @Test("A store whose keys were removed is not new if only attachments were encrypted")
  func removedKeysOfAttachments() throws {
    let file = try SealedFile()
    try file.open(.test(encrypting: .only(["people"]))).using { store in
      try store["films"].save(["title": "Brazil"], key: "brazil")
      try store["films"].attach(.data(Data("poster".utf8)), named: "poster", to: "brazil")
    }
    try file.sql(
      "DELETE FROM nano_metadata WHERE name = 'nano_encryption' OR name LIKE 'nano_sealed:%'")

    let missing = error { _ = try file.open(.test(encrypting: .only(["people"]))) }

    #expect(missing?.code == .corruptFile && missing?[.table] == "nano_metadata")
  }

  @Test(
    "A key record that is modified or removed while the store is open is one problem",
    arguments: [
      "UPDATE nano_metadata SET value = replace(value, '\"strict\":true', '\"strict\":false')",
      "DELETE FROM nano_metadata WHERE name = 'nano_encryption'",
    ])
  func changedWhileOpen(statement: String) throws {
    let store = try file.open()
    try file.sql(statement)

    let problems = try store.verify()

    #expect(problems.count { $0.subject == "metadata" } == 1)
    #expect(try store["people"].get("ada")?["name"] == "ada")
  }

  @Test("A change of any byte of the key record's authentication code is detected")
  func authenticationCode() throws {
    let rows = try file.sql("SELECT value FROM nano_metadata WHERE name = 'nano_encryption'")
    let value = try #require(rows.first?["value"]?.string)
    let match = try #require(try /"mac":\{"\$binary":\{"base64":"([^"]+)"/.firstMatch(in: value))
    let code = try #require(Data(base64Encoded: String(match.1)))
    #expect(code.count == 32)
    for position in code.indices {
      var changed = code
      changed[position] ^= 1 << (position % 8)
      let text = value.replacing(match.1, with: changed.base64EncodedString())
      try file.sql("UPDATE nano_metadata SET value = '\(text)' WHERE name = 'nano_encryption'")
      #expect(error { _ = try file.open() }?.code == .corruptFile, "byte \(position)")
    }
  }

  @Test("Changed metadata and changed settings are detected")
  func changedValues() throws {
    let rows = try file.sql("SELECT name FROM nano_metadata WHERE name LIKE 'nano_sealed:m:%'")
    #expect(rows.count == 1)
    try file.sql(
      "UPDATE nano_metadata SET value = replace(value, 'AQAAAA', 'AQAAAB') WHERE name LIKE '%:m:%'"
    )
    #expect(code { _ = try file.open().metadata("entry") } == .corruptFile)
    #expect(try file.open().verify().map(\.subject) == ["metadata"])
    try file.sql(
      "UPDATE nano_collections SET settings = '{\"defaults\":{\"active\":false}}' WHERE name = 'people'"
    )
    let store = try file.open()
    #expect(code { _ = try store["people"].find(Field("active") == true).count() } == .corruptFile)
    #expect(try store["people"].get("ada")?["name"] == "ada")
  }

  @Test("A changed list of blind indexes is a problem, and hides no others")
  func changedBlindIndexes() throws {
    try file.open(.test(indexes: .blind)).using { try $0["people"].createIndex("name") }
    try file.sql(
      "UPDATE nano_metadata SET value = replace(value, 'AQAAAA', 'AQAAAB') WHERE name LIKE '%:i:%'"
    )

    let problems = try file.open(.test(indexes: .blind)).verify()

    #expect(problems.contains { $0.subject == "people" })
  }

  @Test("A damaged page of a collection is a problem, and hides no others")
  func damagedPage() throws {
    let store = try file.open()
    try store["people"].insert((0..<500).map { ["n": .int($0)] as DocumentObject })
    try store.close()
    try file.setBody(1, try file.body(2), in: "films")
    // A page in the middle of the table.
    let rows = try file.sql(
      "SELECT pageno FROM dbstat WHERE name = 'people' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 5"
    )
    let page = try Int(#require(rows.first?["pageno"]?.int))
    var bytes = try file.scratch.bytes("a.db")
    // The page size is in the header of the file.
    let size = Int(bytes[16]) << 8 | Int(bytes[17])
    bytes.replaceSubrange((page - 1) * size..<page * size, with: Data(count: size))
    _ = try file.scratch.write(bytes, "a.db")

    let problems = try file.open().verify()

    #expect(problems.contains { $0.subject == "people" })
    #expect(problems.contains { $0.subject == "films" && $0.message.contains("rowID: 1") })
    #expect(Set(problems).count == problems.count)
  }

  @Test("A collection whose name is not text is a problem, and hides no others")
  func damagedName() throws {
    let store = try file.open()
    try file.sql(
      "UPDATE nano_metadata SET value = replace(value, 'AQAAAA', 'AQAAAB') WHERE name LIKE '%:m:%'"
    )
    try file.sql("UPDATE nano_collections SET name = x'ff00' WHERE name = 'films'")

    let problems = try store.verify()

    #expect(problems.contains { "\($0.subject): \($0.message)".contains("nano_collections") })
    #expect(problems.contains { $0.subject == "metadata" })
  }
}
