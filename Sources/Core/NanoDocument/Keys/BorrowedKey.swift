// SPDX-License-Identifier: MIT

/// The key of a stored document, borrowed from the engine's row.
///
/// A text key becomes a ``DocumentKey`` only on request, so that rows whose key is not read do not
/// allocate a string.
@frozen public enum BorrowedKey {
  /// The document has no key.
  case none
  /// A UUID as its high and low 64 bits.
  case uuid(UInt64, UInt64)
  /// A text key in UTF-8, valid for the duration of the call that receives the row.
  case text(UnsafeRawBufferPointer)

  /// An owned copy of the key, or `nil` for a document without a key.
  @inlinable
  public var key: DocumentKey? {
    switch self {
    case .none: nil
    case .uuid(let high, let low): .uuid(high, low)
    case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    }
  }
}

extension DocumentKey {
  /// Calls the closure with the key, without copying it. The borrowed key is valid only during the
  /// call.
  package static func withBorrowed<Result>(
    _ key: DocumentKey?, _ use: (BorrowedKey) throws -> Result
  ) rethrows -> Result {
    switch key {
    case nil: return try use(.none)
    case .uuid(let high, let low)?: return try use(.uuid(high, low))
    case .text(var text)?: return try text.withUTF8 { try use(.text(UnsafeRawBufferPointer($0))) }
    }
  }
}
