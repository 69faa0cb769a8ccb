// SPDX-License-Identifier: MIT

public import NanoDocument

/// A document as an engine shows it: its bytes are borrowed and gone when the closure returns.
///
/// It holds no reference to anything, so that handing it from closure to closure counts none.
@usableFromInline package struct StoredDocument {
  @usableFromInline package var rowID: Int64
  @usableFromInline package var borrowedKey: BorrowedKey
  /// The class name as UTF-8, nil for the collection's own.
  @usableFromInline package var borrowedType: UnsafeRawBufferPointer?
  /// The version of the class, nil for its first.
  @usableFromInline package var version: Int64?
  /// Microseconds since 1970; nil if another program wrote the document.
  @usableFromInline package var added: Int64?
  /// Goes up with each write of this document, from 1, or from anywhere if another program wrote it
  /// meanwhile; nil as long as another program wrote it last.
  @usableFromInline package var revision: Int64?
  /// See ``ContentVersion/incarnation``; nil if the engine does not tell.
  @usableFromInline package var incarnation: Int64?
  /// The fields as stored JSON.
  @usableFromInline package var body: UnsafeRawBufferPointer
  /// Whether another program wrote a key, a class, a version or a moment that no document can have, and that is
  /// shown as something else.
  package var isAltered = false

  @inlinable
  package init(
    rowID: Int64, key: BorrowedKey, type: UnsafeRawBufferPointer?, version: Int64?, added: Int64?,
    revision: Int64?, incarnation: Int64? = nil, body: UnsafeRawBufferPointer
  ) {
    self.rowID = rowID
    borrowedKey = key
    borrowedType = type
    self.version = version
    self.added = added
    self.revision = revision
    self.incarnation = incarnation
    self.body = body
  }

  /// A copy of the key, nil if the document has none.
  @inlinable
  package var key: DocumentKey? { borrowedKey.key }
  /// A copy of the class name, nil for the collection's own.
  @inlinable
  package var type: String? { borrowedType.map { String(decoding: $0, as: UTF8.self) } }

  /// Nil if another program wrote the document, or the engine does not tell.
  @inlinable
  package var contentVersion: ContentVersion? {
    guard let incarnation, let revision else { return nil }
    return ContentVersion(incarnation: incarnation, revision: revision)
  }
}

extension StoredDocument {
  /// Shows the document with its body in stored form, in which another program need not have written it.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` with the row id, for a body without such a form, and for a
  ///   document that is shown as something else than what stands in its row.
  package func inStoredForm<Result>(
    _ show: (StoredDocument) throws -> Result
  ) throws -> Result {
    guard revision == nil else { return try show(self) }
    let rewritten: [UInt8]?
    do throws(StoreError) {
      if isAltered { throw CanonicalBody.alteredRow }
      rewritten = try CanonicalBody.rewritten(body)
    } catch {
      throw error.adding(.rowID, "\(rowID)")
    }
    guard let rewritten else { return try show(self) }
    return try rewritten.withUnsafeBytes { bytes in
      var document = self
      document.body = bytes
      return try show(document)
    }
  }
}

/// What a value is made of: a part of what an engine shows, borrowed until the closure returns.
@usableFromInline package struct StoredContent {
  @usableFromInline package var key: BorrowedKey
  /// The version of the class, nil for its first.
  @usableFromInline package var version: Int64?
  /// The fields as stored JSON.
  @usableFromInline package var body: UnsafeRawBufferPointer

  @inlinable
  package init(key: BorrowedKey, version: Int64?, body: UnsafeRawBufferPointer) {
    self.key = key
    self.version = version
    self.body = body
  }
}

/// A document to be written; the bytes are borrowed for the call and are stored JSON, already
/// checked.
package struct NewDocument {
  package var key: DocumentKey?
  package var type: String?
  package var version: Int64?
  /// Microseconds since 1970; counts only if the document is new.
  @usableFromInline package var added: Int64
  /// The row id that a new document is to have; the next one if nil. See
  /// ``EngineWriter/nextRowID(in:)``.
  @usableFromInline package var rowID: Int64?
  /// Replaces only a document of this revision; any if nil.
  package var replacedRevision: Int64?
  package var body: UnsafeRawBufferPointer

  @inlinable
  package init(
    key: DocumentKey?, type: String? = nil, version: Int64? = nil, added: Int64,
    rowID: Int64? = nil, replacedRevision: Int64? = nil, body: UnsafeRawBufferPointer
  ) {
    self.rowID = rowID
    self.replacedRevision = replacedRevision
    self.key = key
    self.type = type
    self.version = version
    self.added = added
    self.body = body
  }
}

extension NewDocument {
  /// How many are best inserted by one call. Arbitrary; the gain grows little beyond, and SQLite's
  /// statement for so many has 60 parameters or 100, of which ours keeps account.
  package static let together = 20
}

/// How a document is addressed.
package enum Identity: Sendable, Hashable {
  case key(DocumentKey)
  case rowID(Int64)
}
