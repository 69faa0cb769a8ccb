// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption
import NanoTestSupport
import Testing

@Suite("Copying encrypted stores")
struct CopyTests {
  @Test("A copy is stored in the form of its target: plain, or sealed with the key of the target")
  func copies() throws {
    let file = try SealedFile()
    let store = try file.open(.test(indexes: .blind))
    let people = store["people"]
    try people.insert((0..<50).map { ["name": .string("Secret\($0)")] })
    try people.createIndex("name", unique: true)
    try people.setDefaults(["age": 1])
    try store.setMetadata("SecretValue", "entry")
    let plain = try Store.file(file.scratch.file("plain.db"))
    let other = try SealedFile()
    let sealed = try other.open(.test("another horse", indexes: .blind))

    #expect(try store.copy(to: plain, CopyOptions(batchDocuments: 20)).isEqual)
    #expect(try plain.copy(to: sealed, CopyOptions(batchDocuments: 20)).isEqual)

    #expect(try plain.metadataNames() == ["entry"])
    #expect(try plain["people"].find(Field("name") == "Secret7").fetch().map(\.rowID) == [8])
    #expect(try plain["people"].find(Field("age") == 1).count() == 50)
    #expect(try sealed["people"].find(Field("name") == "Secret7").fetch().map(\.rowID) == [8])
    #expect(try sealed.metadata("entry") == "SecretValue")
    #expect(try store.compare(with: sealed).isEqual)
    try sealed.close()
    for (name, bytes) in try other.bytes() {
      #expect(bytes.range(of: Data("Secret".utf8)) == nil, "\(name)")
    }
    #expect(code { _ = try Store(.file(other.path)) } == .wrongKey)
    #expect(try other.open(.test("another horse"))["people"].count() == 50)
  }

  @Test("A copy that an encrypted store does not support is rejected before anything is written")
  func unsupported() throws {
    let store = try Store(.memory)
    try store["people"].insert(["name": "Ada"])
    try store["people"].createFullTextIndex("name")
    let file = try SealedFile()
    let sealed = try file.open()

    #expect(code { try store.copy(to: sealed) } == .unsupported)
    #expect(try sealed.collections().isEmpty && sealed.metadataNames().isEmpty)

    let report = try store.copy(to: sealed, CopyOptions(skippingUnsupported: true))
    #expect(report.isEqual && report.omitted.map(\.definition) == ["name_text"])
    // `file` deletes its folder when it is deallocated.
    withExtendedLifetime(file) {}
  }
}
