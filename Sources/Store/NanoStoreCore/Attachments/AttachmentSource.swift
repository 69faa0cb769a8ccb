// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine

/// Where the content of a new attachment comes from.
public struct AttachmentSource: Sendable {
  private enum Form {
    case data(Data)
    case file(String)
    /// A URL that is not that of a file.
    case other(URL)
  }
  private let form: Form

  /// Bytes in memory.
  public static func data(_ data: Data) -> AttachmentSource { AttachmentSource(form: .data(data)) }

  /// The contents of a file, with only a few megabytes in memory at a time.
  ///
  /// Storing the contents of a URL with another scheme than `file` throws ``StoreError/Code/invalidArgument``.
  public static func file(_ url: URL) -> AttachmentSource {
    url.isFileURL ? .file(path: url.path) : AttachmentSource(form: .other(url))
  }

  /// The contents of a file, addressed by its path.
  public static func file(path: String) -> AttachmentSource { AttachmentSource(form: .file(path)) }

  /// Whether the content is in memory and small enough to be written in one transaction.
  var isSmall: Bool {
    if case .data(let data) = form { data.count <= BlobWriter.batchLength } else { false }
  }

  /// Passes the content to a writer, piece by piece.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen``, ``StoreError/Code/inputOutput`` for the file,
  ///   ``StoreError/Code/invalidArgument`` for a URL that is not that of a file, and errors of writing.
  func fill(_ writer: BlobWriter) throws {
    switch form {
    case .data(let data): try data.withUnsafeBytes { try writer.append($0) }
    case .file(let path):
      let source = try ByteSource(path: path)
      while let piece = try source.read() {
        try Interruption.current?.check()
        try writer.append(piece)
      }
    case .other(let url):
      throw StoreError(
        .invalidArgument, "The content of an attachment can be read only from files",
        [.path: url.absoluteString])
    }
  }
}
