// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoStoreEncryption
import NanoTestSupport
import Testing

@Suite("Compatibility with files of earlier versions")
struct FormatCompatibilityTests {
  static let names = ["plain", "utf16", "encrypted"]
  static let formats = [1]
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  private func savedFile(_ name: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Kept/format-1/\(name)")
  }

  private func open(_ name: String, isReadOnly: Bool) throws -> Store {
    let path = scratch.file("\(name).db")
    if !FileManager.default.fileExists(atPath: path) {
      try FileManager.default.copyItem(at: savedFile("\(name).db"), to: URL(filePath: path))
    }
    var configuration = Store.Configuration()
    var engine = SQLiteConfiguration()
    configuration.indexTuning = .off
    engine.isReadOnly = isReadOnly
    guard name == "encrypted" else {
      return try Store(.file(path), configuration: configuration, engine: engine)
    }
    return try Store(
      .file(path), configuration: configuration, engine: engine,
      encryption: Encryption(.key(Data(repeating: 7, count: 32))))
  }

  /// As text, because NaN does not equal itself.
  private func description(of store: Store) throws -> [Substring] {
    try SampleStore.description(of: store).jsonString(pretty: true).split(separator: "\n")
  }

  /// Parsed and written again, because older versions may have written different digits of dates.
  private func expected(_ name: String) throws -> [Substring] {
    let text = try String(contentsOf: savedFile("\(name).json"), encoding: .utf8)
    return try DocumentObject(json: text).jsonString(pretty: true).split(separator: "\n")
  }

  @Test(
    "The content is unchanged, with and without write access", arguments: names,
    [true, false])
  func content(name: String, isReadOnly: Bool) throws {
    let store = try open(name, isReadOnly: isReadOnly)
    #expect(try description(of: store) == expected(name))
    #expect(try store.verify().isEmpty)
  }

  @Test("Opening and reading a file in read-only mode does not change it", arguments: names)
  func unwritten(name: String) throws {
    let before = try Data(contentsOf: savedFile("\(name).db"))
    let store = try open(name, isReadOnly: true)
    _ = try SampleStore.description(of: store)
    _ = try store.verify()
    #expect(code { try store["films"].insert(["n": 1]) } == .readOnly)
    #expect(code { try store.compact() } == .readOnly)
    try store.close()
    #expect(try scratch.bytes("\(name).db") == before)
  }

  @Test("An old file can be written, and contains both old and new documents", arguments: names)
  func writing(name: String) throws {
    let store = try open(name, isReadOnly: false)
    let count = try store["films"].count()
    try store["films"].insert(["title": "Alien", "year": 1979, "genres": ["horror"]], key: "alien")
    try store.compact()
    try store.close()
    try store.reopen()
    #expect(try store["films"].count() == count + 1)
    #expect(try store["films"].find(Field("genres") == "horror").keys() == ["alien"])
    #expect(try store["values"].get("all") != nil)
    #expect(try store.verify().isEmpty)
  }

  @Test("This version writes the same content as the earlier version", arguments: names)
  func unchanged(name: String) throws {
    let store =
      name == "encrypted"
      ? try Store(.memory, encryption: Encryption(.key(Data(repeating: 7, count: 32))))
      : try Store(.memory)
    try SampleStore.fill(store, isPlain: name != "encrypted")
    #expect(try description(of: store) == expected(name))
  }

  private func code(_ work: () throws -> some Any) -> StoreError.Code? {
    do { _ = try work() } catch { return (error as? StoreError)?.code }
    return nil
  }
}
