// SPDX-License-Identifier: MIT

import ArgumentParser
import BenchmarkKit
import Foundation
import NanoStore

/// The transfers of one document with a large attachment.
struct AttachmentTransfer {
  var megabytes: Int
  var push: TransferResult
  var pull: TransferResult
  /// The server's memory in kilobytes.
  var server: Int?

  static func measure(
    _ megabytes: Int, server program: String, in folder: Folder
  ) async throws -> Self {
    let server = try await ServerProcess(program, file: folder.file("server-attachment.db"))
    defer { server.stop() }
    let (first, second) = (folder.file("a-attachment.db"), folder.file("b-attachment.db"))
    _ = try TransferStep.attach.inProcess(server.url, first, megabytes)
    let push = try TransferStep.push.inProcess(server.url, first, 1)
    let pull = try TransferStep.pull.inProcess(server.url, second, 1)
    let digests = try await (digest(first), digest(second))
    guard digests.0 == digests.1 else {
      throw ValidationError("The attachment is not the same on both devices.")
    }
    return Self(megabytes: megabytes, push: push, pull: pull, server: server.peak)
  }

  /// Stores an attachment that does not compress.
  static func fill(_ store: Store, megabytes: Int) async throws {
    let films = store[Sample.collection]
    try await films.save(Sample.film(0), key: Sample.key(0))
    let pieces = AsyncStream<Data> { continuation in
      var random = SplitMix(seed: 7)
      let piece = Data(
        (0..<1 << 17).flatMap { _ in withUnsafeBytes(of: random.next(), Array.init) })
      for _ in 0..<megabytes { continuation.yield(piece) }
      continuation.finish()
    }
    try await films.attachments(of: Sample.key(0)).add(pieces: pieces, named: "film")
  }

  /// The digest in the reference, after the content was read and compared with it.
  private static func digest(_ file: String) async throws -> String? {
    let store = try Store(.file(file))
    let attachments = store[Sample.collection].attachments(of: Sample.key(0))
    for try await _ in attachments.stream("film") {}
    let digest = try await attachments.get("film")?.digest
    try store.close()
    return digest.map { "\($0)" }
  }

  var table: String {
    Table(
      header: ["an attachment of \(megabytes) MB", "time", "most memory of the device"],
      rows: [("push to a server", push), ("pull into another store", pull)].map {
        [$0, String(format: "%.1f s", $1.seconds), MemoryWatch.text($1.kilobytes)]
      } + [["server, most memory", "", MemoryWatch.text(server)]]
    ).markdown
  }
}
