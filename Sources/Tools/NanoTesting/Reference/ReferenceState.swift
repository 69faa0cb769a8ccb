// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

/// The complete contents of a reference engine, as a value.
struct ReferenceState {
  /// The collections by name, case-insensitive for ASCII letters.
  private(set) var collections: [ExactName: ReferenceCollection] = [:]
  var metadata: [ExactName: DocumentValue] = [:]
  /// The blobs by row ID.
  var blobs: [Int64: ReferenceBlob] = [:]
  /// The number of commits.
  var commits: UInt32 = 0

  subscript(name: String) -> ReferenceCollection? {
    get { collections[name.folded] }
    set { collections[name.folded] = newValue }
  }
}

struct ReferenceCollection {
  let description: CollectionDescription
  /// Unique to each collection, including one recreated under the same name.
  let incarnation: Int64 = .random(in: 0...(.max))
  /// The documents in order of row ID.
  var documents: [ReferenceDocument] = []
  /// The largest row ID ever assigned.
  var lastRowID: Int64 = 0
  var indexes: [IndexDefinition] = []
  var fullTextIndexes: [FullTextIndexDefinition] = []
  /// Stored only so that it can be read; it does not affect results.
  var indexing = IndexingPolicy.declared
  var settings = CollectionSettings()
  /// Whether a document has ever been given an expiration.
  var hasExpirations = false
  /// Every path ever observed; paths are never removed.
  var observed: [ExactName: ObservedTypes] = [:]

  func position(of identity: Identity) -> Int? {
    switch identity {
    case .rowID(let id): documents.firstIndex { $0.rowID == id }
    case .key(let key): documents.firstIndex { $0.key == key }
    }
  }
}

struct ReferenceDocument {
  let rowID: Int64
  let key: DocumentKey?
  var type: String?
  var version: Int64?
  let added: Int64
  var revision: Int64 = 1
  var body: [UInt8]
  var object: DocumentObject
  /// When the document expires; `nil` for never.
  var expires: Int64?

  func hasExpired(at time: Int64) -> Bool { expires.map { $0 <= time } ?? false }

  init(_ new: NewDocument, rowID: Int64) throws(StoreError) {
    self.rowID = rowID
    key = new.key
    type = new.type
    version = new.version
    added = new.added
    body = Array(new.body)
    object = try Self.object(new.body)
  }

  /// Returns the document with a new body and the next revision.
  func replaced(by new: NewDocument) throws(StoreError) -> ReferenceDocument {
    var copy = self
    if !new.keepsType { copy.type = new.type }
    copy.version = new.version
    copy.revision += 1
    copy.body = Array(new.body)
    copy.object = try Self.object(new.body)
    return copy
  }

  private static func object(_ body: UnsafeRawBufferPointer) throws(StoreError) -> DocumentObject {
    var reader = JSONReader(body)
    return try reader.object()
  }

  /// Returns the document as the subject of a condition.
  func subject(_ defaults: FieldDefaults?) -> DocumentSubject {
    DocumentSubject(
      object, key: key.map { .string($0.description) } ?? .null, rowID: rowID,
      type: type.map { .string($0) } ?? .null, version: version.map { .int($0) } ?? .null,
      added: .date(Date(microsecondsSince1970: added)), defaults: defaults)
  }

  func withStored<Result>(
    _ incarnation: Int64, _ work: (StoredDocument) throws -> Result
  ) rethrows -> Result {
    try body.withUnsafeBytes { body in
      try DocumentKey.withBorrowed(key) { key in
        try Array((type ?? "").utf8).withUnsafeBytes { bytes in
          try work(
            StoredDocument(
              rowID: rowID, key: key, type: type == nil ? nil : bytes, version: version,
              added: added, revision: revision, incarnation: incarnation, body: body))
        }
      }
    }
  }
}
