// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import Testing

@Suite("Values with a codec of their own")
struct DocumentRepresentableTests {
  /// Both `Codable`, which would store `name` and `size`, and a codec of its own, which stores `n` and `s`.
  private struct Box: Codable, DocumentRepresentable, Equatable, Sendable {
    var name: String
    var size: UInt64

    init(name: String, size: UInt64) { (self.name, self.size) = (name, size) }
    func write(to writer: inout JSONWriter) {
      writer.literal(#"{"n":"#)
      writer.string(name)
      writer.literal(#","s":"#)
      writer.integer(size)
      writer.literal("}")
    }
    init(reading reader: inout JSONReader) throws(StoreError) {
      var (name, size) = (String?.none, UInt64?.none)
      try reader.fields { (reader: inout JSONReader, field) throws(StoreError) in
        if field.matches("n") {
          name = try reader.string()
        } else if field.matches("s") {
          size = try reader.integer()
        } else {
          try reader.skipValue()
        }
      }
      guard let name else { throw reader.missingField("n") }
      guard let size else { throw reader.missingField("s") }
      self.init(name: name, size: size)
    }
  }

  /// A codec that writes any text.
  private struct Wrong: DocumentRepresentable {
    let text: StaticString
    init(_ text: StaticString) { self.text = text }
    func write(to writer: inout JSONWriter) { writer.literal(text) }
    init(reading reader: inout JSONReader) throws(StoreError) {
      throw StoreError(.unsupported, "Not read")
    }
  }

  private let store: Store
  private let boxes: DocumentCollection

  init() throws {
    store = try anyStore()
    boxes = store["boxes"]
  }

  @Test("A single value is inserted, saved and read by its own codec, which precedes Codable")
  func single() throws {
    let inserted = try boxes.insert(Box(name: "a", size: 1), key: "a")
    #expect(inserted.key == "a" && inserted["n"] == "a" && inserted["name"] == nil)
    #expect(try boxes.get("a", as: Box.self) == Box(name: "a", size: 1))

    let saved = try boxes.save(Box(name: "b", size: 2), key: "a")
    #expect(saved["s"] == 2)
    #expect(try boxes.get("a", as: Box.self) == Box(name: "b", size: 2))
    #expect(try boxes.get("missing", as: Box.self) == nil)

    let generated = try boxes.insert(Box(name: "c", size: 3))
    #expect(try boxes.get(try #require(generated.key), as: Box.self)?.name == "c")
    #expect(try boxes.find().decoded(as: Box.self).map(\.name) == ["b", "c"])
    #expect(try boxes.get("a")?.decoded(as: Box.self) == Box(name: "b", size: 2))
  }

  @Test("The calls with await do the same")
  func asynchronous() async throws {
    try await boxes.insert(Box(name: "a", size: 1), key: "a")
    let duplicate = await #expect(throws: StoreError.self) {
      try await boxes.insert(Box(name: "b", size: 2), key: "a")
    }
    #expect(duplicate?.code == .duplicateKey)
    #expect(try await boxes.get("a", as: Box.self) == Box(name: "a", size: 1))
    try await boxes.save(Box(name: "b", size: 2), key: "a")
    #expect(try await boxes.get("a", as: Box.self) == Box(name: "b", size: 2))
    for try await values in boxes.find().updates(as: Box.self) {
      #expect(values == [Box(name: "b", size: 2)])
      break
    }
  }

  @Test("A value that the codec cannot write is rejected, and nothing is stored")
  func valueNotStorable() throws {
    try boxes.save(Box(name: "a", size: 1), key: "a")
    let error = #expect(throws: StoreError.self) {
      try boxes.save(Box(name: "a", size: .max), key: "a")
    }
    #expect(error?.code == .valueNotStorable)
    #expect(try boxes.get("a", as: Box.self)?.size == 1)
  }

  @Test("A document that does not decode is reported with its field, collection and key")
  func located() throws {
    try boxes.save(["n": "a", "s": "big"], key: "a")
    let error = #expect(throws: StoreError.self) { try boxes.get("a", as: Box.self) }
    #expect(error?.code == .typeMismatch)
    #expect(error?[.field] == "s" && error?[.collection] == "boxes" && error?[.key] == "a")
    #expect(error?[.byteOffset] == nil)
  }

  @Test(
    "A codec that writes anything but one object in stored form is rejected with its type",
    arguments: [
      "", "[]", "1", "{", #"{"a":1"#, #"{"a":1}}"#, #"{"a":1,}"#, #"{"a" :1}"#, #"{ "a":1}"#,
      #"{"a":1,"a":2}"#, #"{"a":nil}"#, #"{a:1}"#, #"{"a":1}{"b":2}"#, #"{"a":1e2}"#,
      #"{"a":99999999999999999999}"#, #"{"$a":1}"#,
    ] as [StaticString])
  func wrongCodec(text: StaticString) throws {
    try boxes.save(["a": 0], key: "a")
    let save = #expect(throws: StoreError.self) { try boxes.save(Wrong(text), key: "a") }
    let insert = #expect(throws: StoreError.self) { try boxes.insert(Wrong(text)) }
    for error in [save, insert] {
      #expect(error?.code == .valueNotStorable)
      #expect(error?[.operation] == "write(to:) of Wrong")
    }
    #if DEBUG
      let list = #expect(throws: StoreError.self) {
        try boxes.insert([Wrong(#"{"a":1}"#), Wrong(text)])
      }
      #expect(list?.code == .valueNotStorable)
      #expect(list?[.position] == "document 2 of the batch")
    #endif
    #expect(try boxes.fetch().map { try $0.object() } == [["a": 0]])
  }
}
