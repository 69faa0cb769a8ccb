// SPDX-License-Identifier: MIT

/// The text identity of a stored document as its engine has it: a text is borrowed and becomes a
/// ``DocumentKey`` when it is asked for, so that rows whose key nobody wants cost nothing for it.
@frozen public enum BorrowedKey {
  /// The document has no key.
  case none
  case uuid(UInt64, UInt64)
  /// UTF-8, for as long as the row is shown.
  case text(UnsafeRawBufferPointer)

  /// A copy that may be kept; nil for a document without a key.
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
  /// The key without a copy, for as long as the closure runs.
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
