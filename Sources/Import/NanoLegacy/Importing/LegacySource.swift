// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// An old store, as a sequence of sections whose records are read one at a time.
///
/// Records come in the same order each time, so that an import can be resumed. Confined to the
/// thread of the import.
protocol LegacySource: AnyObject {
  var kind: LegacyStore.Kind { get }
  /// Changes when the store changes, or a passphrase decrypts other records of it, so that an import is not resumed
  /// with different contents.
  var fingerprint: String { get }
  /// The collections that the documents go to.
  var collections: [LegacyCollection] { get }
  /// The metadata to store, with names that are unique.
  var metadata: [(name: String, value: DocumentValue)] { get }
  /// Damage and other facts, complete once everything was read.
  var notes: [String] { get }
  var sectionCount: Int { get }
  /// The fraction of the store that was read.
  var fraction: Double { get }

  func summary() throws -> LegacySummary
  /// Checks the passphrase.
  ///
  /// - Throws: ``StoreError/Code/wrongKey``.
  func check() throws
  /// Passes the records of a section to a closure.
  func read(_ section: Int, _ visit: (LegacyRecord) throws -> Void) throws
}

/// A record that is not decoded yet.
struct LegacyRecord {
  /// The class in the report.
  let className: String
  let collection: String?
  /// The position for the report, such as `row 17`.
  let position: String
  /// Decodes the record.
  let content: () throws(LegacyFailure) -> LegacyContent
}

/// The reason why a record is skipped.
struct LegacyFailure: Error {
  var key: String?
  let reason: String

  init(_ reason: String, key: String? = nil) {
    self.reason = reason
    self.key = key
  }
}

extension LegacyFailure {
  /// Checks that the store accepts a metadata value under a name.
  static func checkMetadata(_ name: String, _ value: DocumentValue) throws(LegacyFailure) {
    let own = ["nano_copy", ImportCheckpoint.name, EncryptionMarker.name]
    guard !own.contains(where: { $0.hasSameBytes(as: name) }), !name.hasExactPrefix("nano_sealed:")
    else {
      throw LegacyFailure("the name is reserved for the store", key: name)
    }
    do throws(StoreError) {
      try StoredNames.validate(nil, name: name)
    } catch {
      throw LegacyFailure(error[.hint] ?? error.reason, key: name)
    }
    guard !value.isNull else {
      throw LegacyFailure("a null value cannot be stored under a name", key: name)
    }
    var writer = JSONWriter()
    writer.value(value)
    if let failure = writer.failure { throw LegacyFailure(failure.reason, key: name) }
  }
}

/// What a record becomes; nothing if another section contains it.
struct LegacyContent {
  var document: LegacyDocument?
  var bag: LegacyBag?
  var notes = ConversionNotes()
}

struct LegacyDocument {
  /// The key; nil if the store must generate one, or documents of the collection have none.
  var key: DocumentKey?
  /// The row ID; nil if the store must assign one.
  var rowID: Int64?
  var type: String?
  var version: Int64?
  /// Microseconds since 1970; nil for the time of the import.
  var added: Int64?
  var object: DocumentObject
}

enum LegacyBag {
  /// A bag without its members.
  case bag(key: DocumentKey, name: String?)
  /// The members of a bag, as keys of documents or bags.
  case members(of: DocumentKey, [String])
}

/// A collection with its definitions.
struct LegacyCollection {
  struct Index {
    var keys: [IndexDefinition.Column]
    var isUnique: Bool
  }
  var name: String
  var identity: CollectionIdentity
  /// Whether documents without a key have the same row IDs as in the old store.
  var keepsRowIDs = true
  /// The name in the old store, for the report.
  var className: String
  var indexes: [Index] = []
  /// Fields whose texts had an index of substrings.
  var textIndexes: [FieldPath] = []
  var settings = CollectionSettings()
  /// The highest row ID ever used; nil if unknown.
  var highestRowID: Int64?
  var notes = ConversionNotes()
}
