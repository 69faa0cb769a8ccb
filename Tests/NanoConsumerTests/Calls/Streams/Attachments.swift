// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

func attachmentStreams(_ store: Store, _ films: DocumentCollection) async throws {
  let pieces = AsyncStream<Data> { $0.finish() }
  let bytes = AsyncThrowingStream<UInt8, any Error> { $0.finish() }
  let attachments = films.attachments(of: "alien")
  try await attachments.add(pieces: pieces, named: "a", contentType: "a/b")
  try await attachments.add(bytes: bytes, named: "b")
  let attachment = try await store.addAttachment(pieces: pieces, contentType: "a/b")
  _ = try await store.addAttachment(bytes: bytes)
  for try await piece in attachments.stream("a") { print(piece.count) }
  for try await piece in store.stream(of: attachment) { print(piece.count) }
}
