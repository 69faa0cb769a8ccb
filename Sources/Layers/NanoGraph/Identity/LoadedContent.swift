// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// The number that stands for the content of a loaded document, by which a save detects what others have changed: its
/// revision, or a hash of a document that another program wrote, which has no revision until a store adopts it.
enum LoadedContent {
  /// The number of content that is unknown.
  static let unknown: Int64 = 0
  /// The number of a document that did not exist; no document has it.
  static let missing: Int64 = -1

  /// Returns the number of a document.
  static func number(of document: StoredDocument) -> Int64 {
    document.revision ?? hash(of: document)
  }

  /// Returns whether a document has no revision, given its number.
  static func isHash(_ number: Int64) -> Bool { number < missing }

  /// Returns whether a document still has the content that was loaded; true if that is unknown.
  static func isCurrent(
    _ number: Int64, rowID: Int64, in documents: DocumentCollection
  ) throws -> Bool {
    guard isHash(number) else {
      return try number == unknown || documents.contentVersion(rowID: rowID)?.revision == number
    }
    var current: Int64?
    try documents.visit(rowID: rowID) { current = hash(of: $0) }
    return current == number
  }

  /// The hash is that of the stored form, which an adoption gives the document.
  static func hash(of document: StoredDocument) -> Int64 {
    var hasher = Hasher()
    hasher.combine(document.version ?? 1)
    // A document without a stored form is never adopted. Whether its row has attributes that no document can have does
    // not matter: a document that was read asynchronously is passed without this information.
    if document.revision == nil, let rewritten = try? CanonicalBody.rewritten(document.body) {
      rewritten.withUnsafeBytes { hasher.combine(bytes: $0) }
    } else {
      hasher.combine(bytes: document.body)
    }
    return missing - 1 - Int64(hasher.finalize() & (.max >> 1))
  }
}
