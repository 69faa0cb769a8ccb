// SPDX-License-Identifier: MIT

public import NanoDocument

/// A document as an engine passes it to a closure. Its bytes are borrowed and valid only until the closure
/// returns.
///
/// It holds no references, so passing it between closures involves no reference counting.
@usableFromInline package struct StoredDocument {
  @usableFromInline package var rowID: Int64
  @usableFromInline package var borrowedKey: BorrowedKey
  /// The class name as UTF-8; `nil` for the collection's default class.
  @usableFromInline package var borrowedType: UnsafeRawBufferPointer?
  /// The version of the class; `nil` for the first version.
  @usableFromInline package var version: Int64?
  /// The creation date in microseconds since 1970; `nil` if another program wrote the document.
  @usableFromInline package var added: Int64?
  /// Increases with each write of this document, starting at 1, or at any number after another program has
  /// written it; `nil` while another program was the last to write it.
  @usableFromInline package var revision: Int64?
  /// See ``ContentVersion/incarnation``; `nil` if the engine does not report it.
  @usableFromInline package var incarnation: Int64?
  /// The fields as stored JSON.
  @usableFromInline package var body: UnsafeRawBufferPointer
  /// Whether another program wrote a key, class, version, or creation date that no document can have, and that
  /// is replaced here.
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

  /// A copy of the key; `nil` if the document has none.
  @inlinable
  package var key: DocumentKey? { borrowedKey.key }
  /// A copy of the class name; `nil` for the collection's default class.
  @inlinable
  package var type: String? { borrowedType.map { String(decoding: $0, as: UTF8.self) } }

  /// The version of the row's content; `nil` if another program wrote the document or the engine does not track
  /// versions.
  @inlinable
  package var contentVersion: ContentVersion? {
    guard let incarnation, let revision else { return nil }
    return ContentVersion(incarnation: incarnation, revision: revision)
  }
}

extension StoredDocument {
  /// Passes the document to a closure with its body in stored form, which the body of another program's document
  /// need not have.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` with the row ID, for a body that has no stored form, and for
  ///   a document whose attributes differ from those in its row.
  package func inStoredForm<Result>(
    _ visit: (StoredDocument) throws -> Result
  ) throws -> Result {
    guard revision == nil else { return try visit(self) }
    let rewritten: [UInt8]?
    do throws(StoreError) {
      if isAltered { throw CanonicalBody.alteredRow }
      rewritten = try CanonicalBody.rewritten(body)
    } catch {
      throw error.adding(.rowID, "\(rowID)")
    }
    guard let rewritten else { return try visit(self) }
    return try rewritten.withUnsafeBytes { bytes in
      var document = self
      document.body = bytes
      return try visit(document)
    }
  }
}

/// The parts of a document needed to decode a value, borrowed until the closure returns.
@usableFromInline package struct StoredContent {
  @usableFromInline package var key: BorrowedKey
  /// The version of the class; `nil` for the first version.
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

/// A document to be written. Its bytes are borrowed for the call and are validated JSON in stored form.
package struct NewDocument {
  package var key: DocumentKey?
  package var type: String?
  package var version: Int64?
  /// The creation date in microseconds since 1970; used only if the document is new.
  @usableFromInline package var added: Int64
  /// The row ID to assign to a new document; the next one if `nil`. See ``EngineDocumentWriter/nextRowID(in:)``. With
  /// ``replacedRevision``, the row ID of the only document that may be replaced; any if `nil`.
  package var rowID: Int64?
  /// The revision of the only document that may be replaced; any if `nil`. One that was deleted and inserted again may have
  /// the same, but not the same row ID.
  package var replacedRevision: Int64?
  package var body: UnsafeRawBufferPointer
  /// The fields that may differ from those of the document that is replaced; any if `nil`.
  package var changedFields: [[StoredName]]?
  /// Whether the document that is replaced keeps its type.
  package var keepsType: Bool
}

extension NewDocument {
  // In an extension, to use the memberwise initializer: one that sets the properties ends with a copy of all of them, which
  // retains each.
  package init(
    key: consuming DocumentKey?, type: consuming String? = nil, version: Int64? = nil, added: Int64,
    rowID: Int64? = nil, replacedRevision: Int64? = nil, body: UnsafeRawBufferPointer
  ) {
    self.init(
      key: key, type: type, version: version, added: added, rowID: rowID,
      replacedRevision: replacedRevision, body: body, changedFields: nil, keepsType: false)
  }

  /// Returns whether the document may replace a stored one; see ``replacedRevision``.
  package func mayReplace(rowID: Int64, revision: Int64?) -> Bool {
    guard let replacedRevision else { return true }
    return replacedRevision == revision && (self.rowID ?? rowID) == rowID
  }

  /// The preferred number of documents per insert. Arbitrary: larger batches gain little, and a SQLite statement
  /// for this many documents has 60 or 100 parameters.
  package static let batchSize = 20
}

/// What identifies a document in a call.
package enum Identity: Sendable, Hashable {
  case key(DocumentKey)
  case rowID(Int64)

  package var isKey: Bool {
    switch self {
    case .key: true
    case .rowID: false
    }
  }
}
