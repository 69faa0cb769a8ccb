// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine

/// An asynchronous sequence of the bytes of an attachment, in pieces.
///
/// ```swift
/// for try await piece in films.attachments(of: "alien").stream("trailer") { … }
/// ```
///
/// Each piece is verified before it is returned. After the first piece, the attachment stays readable until the loop
/// ends, even if it is removed from the document and the store is compacted. Until then, the stream holds a connection,
/// and a snapshot in files with a write-ahead log and on a server.
public struct AttachmentStream: AsyncSequence, Sendable {
  /// A piece of the content; all but the last have the same length.
  public typealias Element = Data
  let store: Store
  private let find: @Sendable () throws -> Attachment

  /// - Parameter find: Finds the attachment when the first piece is requested.
  init(store: Store, _ find: @escaping @Sendable () throws -> Attachment) {
    self.store = store
    self.find = find
  }

  /// Returns an iterator, which finds the attachment with its first call.
  public func makeAsyncIterator() -> Iterator { Iterator(store, find) }

  /// Iterates over the pieces of an attachment.
  public final class Iterator: AsyncIteratorProtocol {
    private let store: Store
    private let find: @Sendable () throws -> Attachment
    private var reading: (blob: any KeptBlob, verifier: BlobVerifier)?
    private var isOver = false

    init(_ store: Store, _ find: @escaping @Sendable () throws -> Attachment) {
      self.store = store
      self.find = find
    }

    deinit { reading?.blob.close() }

    /// Returns the next piece, or nil at the end.
    ///
    /// - Throws: ``StoreError/Code/notFound`` if there is no such attachment,
    ///   ``StoreError/Code/corruptFile`` instead of a piece that is damaged,
    ///   ``StoreError/Code/closed`` if the store was closed; `CancellationError` if the task is
    ///   canceled.
    public func next() async throws -> Data? {
      guard !isOver else { return nil }
      do {
        let found = try await read()
        if found == nil { end() }
        return found
      } catch {
        end()
        throw error
      }
    }

    private func end() {
      isOver = true
      reading?.blob.close()
      reading = nil
    }

    private func read() async throws -> Data? {
      let (store, find, before) = (store, find, reading)
      if let before, before.verifier.isAtEnd { return nil }
      let (blob, verifier, piece) = try await store.onReader {
        let blob = try before?.blob ?? store.keep(Store.digest(of: find()))
        do {
          return try blob.read(Interruption.current) { reader in
            var verifier = try before?.verifier ?? BlobVerifier(blob.record, reader)
            var piece = Data()
            try verifier.next(reader) { piece = Data($0) }
            return (blob, verifier, piece)
          }
        } catch {
          blob.close()
          throw error
        }
      }
      reading = (blob, verifier)
      return piece
    }
  }
}
