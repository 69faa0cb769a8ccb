// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting
import Testing

// Swift Testing has a type of this name.
private typealias Attachment = NanoStore.Attachment

@Suite("Attachments")
struct AttachmentTests {
  static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var random = SplitMix(seed: seed)
    return Data(
      (0..<(count + 7) / 8).flatMap { _ in
        withUnsafeBytes(of: random.next()) { Array($0) }
      }.prefix(count))
  }

  private func films(_ store: Store) throws -> DocumentCollection {
    try store["films"].save(["title": "Alien"], key: "alien")
    try store["films"].save(["title": "Brazil"], key: "brazil")
    return store["films"]
  }

  /// Around the length that is stored whole, the length of a chunk, and that of a batch.
  static let lengths = [
    0, 1, 4_096, 65_536, 65_537, 262_143, 262_144, 262_145, 524_288, 2_097_152, 2_097_153,
    2_621_440, 5_000_000,
  ]

  @Test(
    "An attachment is read as it was written, whole, as a stream and to a file", arguments: lengths)
  func roundTrip(length: Int) async throws {
    let films = try films(anyStore())
    let data = Self.bytes(length)
    let attachments = films.attachments(of: "alien")

    let attachment = try await films.attach(
      .data(data), named: "poster", contentType: "image/jpeg", to: "alien")

    #expect(attachment.length == Int64(length))
    #expect(attachment.contentType == "image/jpeg")
    #expect(
      try await attachments.all() == [NamedAttachment(name: "poster", attachment: attachment)])
    #expect(try await attachments.data("poster") == data)
    var pieces = Data()
    for try await piece in attachments.stream("poster") { pieces.append(piece) }
    #expect(pieces == data)
    let scratch = try Scratch()
    try await films.store.export(attachment, to: scratch.file("out"))
    #expect(try scratch.bytes("out") == data)
    #expect(try await films.store.verify() == [])
  }

  @Test("Every source stores the same content", arguments: [0, 1_000, 3_000_000])
  func sources(length: Int) async throws {
    let films = try films(anyStore())
    let data = Self.bytes(length, seed: 2)
    let scratch = try Scratch()
    let path = try scratch.write(data, "in")
    let attachments = films.attachments(of: "alien")
    let pieces = AsyncStream<Data> { continuation in
      for start in stride(from: 0, to: length, by: 700_000) {
        continuation.yield(data[start..<min(length, start + 700_000)])
      }
      continuation.finish()
    }
    let bytes = AsyncStream<UInt8> { continuation in
      for byte in data { continuation.yield(byte) }
      continuation.finish()
    }

    var all = try films.store.blocking {
      [
        try attachments.add(.data(data), named: "a"),
        try attachments.add(.file(path: path), named: "b"),
        try attachments.add(.file(URL(fileURLWithPath: path)), named: "c"),
        try films.store.addAttachment(.data(data)),
      ]
    }
    all += [
      try await attachments.add(.file(path: path), named: "d"),
      try await attachments.add(.data(data), named: "e"),
      try await attachments.add(pieces: pieces, named: "f"),
      try await attachments.add(bytes: bytes, named: "g"),
      try await films.store.addAttachment(.file(path: path)),
    ]

    #expect(Set(all).count == 1)
    #expect(try await attachments.all().map(\.name) == ["a", "b", "c", "d", "e", "f", "g"])
    #expect(try await attachments.data("g") == data)
  }

  @Test("Any range of bytes is the same range of the whole, also at the borders of chunks")
  func ranges() throws {
    let films = try films(anyStore())
    var random = SplitMix(seed: 3)
    for length in [1, 65_536, 262_144, 262_145, 1_000_000] {
      let data = Self.bytes(length, seed: UInt64(length))
      try films.attach(.data(data), named: "a", to: "alien")
      let borders = [0, 1, 65_536, 262_143, 262_144, 262_145, 524_288, length - 1, length]
      for _ in 0..<40 {
        let two = (0..<2).map { _ in
          Bool.random(using: &random)
            ? borders.randomElement(using: &random) ?? 0
            : Int.random(in: 0...length, using: &random)
        }.map { max(0, min(length, $0)) }.sorted()
        let range = two[0]..<two[1]
        #expect(try films.attachments(of: "alien").data("a", in: range) == data[range])
      }
      for beyond in [0..<length + 1, length + 1..<length + 2] {
        #expect(
          code { _ = try films.attachments(of: "alien").data("a", in: beyond) }
            == .invalidArgument)
      }
    }
  }

  @Test(
    "Equal content is stored once, and attachments are renamed, replaced and removed without copying it",
    .sqlite)
  func deduplication() throws {
    let store = try anyStore()
    let films = try films(store)
    let data = Self.bytes(1_000_000)
    func rows() throws -> Int? {
      try store.sql("SELECT count(*) AS n FROM nano_blobs").first?["n"]?.int
    }
    try films.attach(.data(data), named: "a", to: "alien")
    try films.attach(.data(data), named: "b", to: "brazil")
    #expect(try rows() == 1)
    let attachments = films.attachments(of: "alien")

    try attachments.rename("a", to: "c.jpg")
    #expect(try attachments.all().map(\.name) == ["c.jpg"])
    #expect(try attachments.data("c.jpg") == data)
    try attachments.add(.data(Data([1])), named: "c.jpg", contentType: "x/y")
    #expect(try attachments.data("c.jpg") == Data([1]))
    #expect(try attachments.get("c.jpg")?.contentType == "x/y")
    #expect(try attachments.remove("c.jpg"))
    #expect(try !attachments.remove("c.jpg"))
    #expect(try films.get("alien")?["_attachments"] == nil)

    #expect(try rows() == 2)
    try store.compact()
    #expect(try rows() == 1)
    #expect(try films.attachments(of: "brazil").data("b") == data)
    #expect(try store.sql("SELECT count(*) AS n FROM nano_chunks").first?["n"]?.int == 4)
  }

  @Test("Names that are unusual are kept apart")
  func names() throws {
    let films = try films(anyStore())
    let attachments = films.attachments(of: "alien")
    let names = ["a.b", "0", "a b", "\"", "[0]", "é", "e\u{301}", "$a", "a/b", "'"]
    for (index, name) in names.enumerated() {
      try attachments.add(.data(Data([UInt8(index)])), named: name)
    }
    #expect(try attachments.all().map { Array($0.name.utf8) } == names.map { Array($0.utf8) })
    for (index, name) in names.enumerated() {
      #expect(try attachments.data(name) == Data([UInt8(index)]))
    }
    for name in names { #expect(try attachments.remove(name)) }
    #expect(try films.get("alien")?["_attachments"] == nil)
    for name in ["", "_a", "a\0b"] {
      #expect(code { try attachments.add(.data(Data()), named: name) } == .invalidName)
      #expect(code { try attachments.rename("a", to: name) } == .invalidName)
    }
  }

  @Test(
    "Updates keep attachments, a save without the field drops them, and queries use the reference")
  func documents() throws {
    let films = try films(anyStore())
    try films.attach(.data(Self.bytes(100)), named: "poster", contentType: "image/png", to: "alien")

    try films.update("alien", set: ["year": 1979])
    #expect(try films.find("[_attachments.poster.length] > 50").keys() == ["alien"])
    #expect(try films.find("[_attachments.poster.content_type] = 'image/png'").count() == 1)
    #expect(try films.find("[_attachments.poster.length] > 100").count() == 0)

    var document = try #require(try films.get("alien"))
    document["year"] = 1980
    try films.save(document)
    #expect(try films.attachments(of: "alien").data("poster").count == 100)
    try films.save(["title": "Alien"], key: "alien")
    #expect(try films.attachments(of: "alien").all() == [])
  }

  @Test("What does not exist is reported, and nothing is stored")
  func missing() async throws {
    let store = try anyStore()
    let films = try films(store)
    let large = Self.bytes(3_000_000)
    #expect(code { try films.attach(.data(Data()), named: "a", to: "none") } == .notFound)
    #expect(code { try films.attach(.data(large), named: "a", to: "none") } == .notFound)
    #expect(code { try films.attach(.file(path: "/none"), named: "a", to: "alien") } == .cannotOpen)
    #expect(code { _ = try films.attachments(of: "alien").data("a") } == .notFound)
    #expect(code { _ = try films.attachments(of: "none").all() } == .notFound)
    #expect(code { try films.attachments(of: "alien").rename("a", to: "b") } == .notFound)
    #expect(
      await asyncCode { for try await _ in films.attachments(of: "alien").stream("a") {} }
        == .notFound)
    let unknown = Attachment(
      digest: "sha256-" + String(repeating: "0", count: 64), length: 1, contentType: "a/b")
    #expect(code { _ = try store.data(of: unknown) } == .notFound)
    let invalid = Attachment(digest: "md5-1", length: 1, contentType: "a/b")
    #expect(code { _ = try store.data(of: invalid) } == .invalidArgument)
    #expect(try await films.get("alien")?["_attachments"] == nil)
  }

  @Test("The content of a URL that is not that of a file cannot be attached")
  func otherURLs() async throws {
    let store = try anyStore()
    let films = try films(store)
    let scratch = try Scratch()
    let path = try scratch.write(Data([1]), "in")
    let source = AttachmentSource.file(try #require(URL(string: "https://localhost" + path)))

    #expect(code { try films.attach(source, named: "a", to: "alien") } == .invalidArgument)
    #expect(await asyncCode { _ = try await store.addAttachment(source) } == .invalidArgument)
    #expect(try await films.attachments(of: "alien").all() == [])
  }

  @Test("A write block attaches with its other writes, or not at all", arguments: [100, 3_000_000])
  func transactions(length: Int) throws {
    struct Stop: Error {}
    let store = try anyStore()
    let films = try films(store)
    let data = Self.bytes(length)
    _ = try? store.write {
      try films.attach(.data(data), named: "a", to: "alien")
      #expect(try films.attachments(of: "alien").data("a") == data)
      throw Stop()
    }
    #expect(try films.attachments(of: "alien").all() == [])

    try store.write {
      let attachment = try store.addAttachment(.data(data), contentType: "a/b")
      try films.update("alien", set: ["poster": attachment.documentValue])
    }
    try store.compact()
    let stored = try films.get("alien")?["poster"]
    #expect(try Attachment(stored ?? .null).map { try store.data(of: $0) } == data)
    #expect(try store.verify() == [])
  }

  @Test("A reference is a property of a Codable value")
  func codable() throws {
    struct Film: Codable, Equatable {
      var title: String
      var poster: Attachment?
    }
    let store = try anyStore()
    let films = store["films"]
    let poster = try store.addAttachment(.data(Self.bytes(10)), contentType: "image/png")
    let film = Film(title: "Alien", poster: poster)
    try films.save(film, key: "alien")
    #expect(try films.get("alien", as: Film.self) == film)
    #expect(try films.find("[poster.length] = 10").count() == 1)
    try store.compact(attachmentLease: .zero)
    #expect(try store.data(of: poster).count == 10)
  }

  @Test("Canceling a write leaves nothing behind")
  func cancellation() async throws {
    let store = try anyStore()
    let films = try films(store)
    let (pieces, continuation) = AsyncStream.makeStream(of: Data.self)
    continuation.yield(Self.bytes(5_000_000))
    let writing = Task {
      try await films.attachments(of: "alien").add(pieces: pieces, named: "a")
    }
    try await Task.sleep(for: .milliseconds(50))
    writing.cancel()
    continuation.finish()
    await #expect(throws: CancellationError.self) { try await writing.value }
    #expect(try await films.attachments(of: "alien").all() == [])
    try await store.compact()
    #expect(try await store.verify() == [])
  }
}
