// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine

extension Store {
  /// Passes a source to a writer, on a separate thread.
  func fill(_ writer: BlobWriter, from source: AttachmentSource) async throws {
    let interruption = Interruption()
    try await withTaskCancellationHandler {
      try await onMaintenanceThread {
        do {
          try interruption.stopping { try source.fill(writer) }
        } catch  where interruption.isTriggered {
          throw CancellationError()
        }
      }
    } onCancel: {
      interruption.trigger()
    }
  }

  /// Passes pieces to a writer. The writing does not run on the caller's actor.
  func fill<Pieces: AsyncSequence>(
    _ writer: BlobWriter, pieces: Pieces, isolation: isolated (any Actor)? = #isolation
  ) async throws where Pieces.Element == Data {
    var waiting = Data()
    func write() async throws {
      let bytes = waiting
      waiting = Data()
      try await onWriterAlone { try bytes.withUnsafeBytes { try writer.append($0) } }
    }
    for try await piece in pieces {
      waiting.append(piece)
      if waiting.count >= BlobWriter.batchLength { try await write() }
    }
    try Task.checkCancellation()
    if !waiting.isEmpty { try await write() }
  }
}

extension Store {
  /// Passes bytes to a writer.
  func fill<Bytes: AsyncSequence>(
    _ writer: BlobWriter, bytes: Bytes, isolation: isolated (any Actor)? = #isolation
  ) async throws where Bytes.Element == UInt8 {
    try await fill(writer, pieces: BytePieces(base: bytes))
  }
}

/// Collects single bytes, so that a piece and not each byte has the cost of a call.
private struct BytePieces<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
  typealias Element = Data
  let base: Base

  func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    var base: Base.AsyncIterator
    /// Arbitrary.
    private static var pieceLength: Int { 64 << 10 }

    mutating func next() async throws -> Data? { try await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
      var piece = Data()
      while piece.count < Self.pieceLength, let byte = try await base.next(isolation: actor) {
        piece.append(byte)
      }
      return piece.isEmpty ? nil : piece
    }
  }
}

extension BlobWriter {
  /// Runs the steps of a write, and deletes what was written if one fails.
  func discardingOnFailure<Result>(
    isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Result
  ) async throws -> Result {
    do {
      return try await work()
    } catch {
      await discard()
      throw error
    }
  }
}
