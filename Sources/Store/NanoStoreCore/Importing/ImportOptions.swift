// SPDX-License-Identifier: MIT

public import NanoDocument

/// How ``DocumentCollection/importDocuments(from:options:progress:)`` stores the documents of a file.
public struct ImportOptions: Sendable, Hashable {
  /// The field that gives each document its key, a text or an integer; if nil, keys are generated,
  /// except for documents of an export, which keep theirs.
  public var keyField: FieldPath?
  /// Whether a document replaces one with the same key; if not, it is an invalid record.
  public var replacesDocuments: Bool
  /// Whether records that cannot be stored are left out and counted; if not, the first one ends the import.
  public var skipsInvalidRecords: Bool
  /// Whether objects such as `{"$date": …}` become values; see docs/EXTENDED-JSON.md.
  public var dialect: JSONDialect
  /// Bytes of the longest record. A longer one ends the import, and memory does not grow further: a bracket
  /// or quote is probably missing.
  public var maximumRecordLength: Int

  /// Eight times MongoDB's longest document. Arbitrary.
  public static let defaultMaximumRecordLength = 128 << 20

  public init(
    keyField: FieldPath? = nil, replacesDocuments: Bool = false, skipsInvalidRecords: Bool = false,
    dialect: JSONDialect = .extended,
    maximumRecordLength: Int = ImportOptions.defaultMaximumRecordLength
  ) {
    self.keyField = keyField
    self.replacesDocuments = replacesDocuments
    self.skipsInvalidRecords = skipsInvalidRecords
    self.dialect = dialect
    self.maximumRecordLength = maximumRecordLength
  }
}

/// What an import has done so far, or in all.
public struct ImportReport: Sendable, Hashable {
  /// Documents that were stored.
  public internal(set) var documents = 0
  /// Records that were left out.
  public internal(set) var skipped = 0
  /// Why the first 100 of them were left out, each with `record`, `line` and `byteOffset`.
  public internal(set) var skippedRecords: [StoreError] = []
  /// Bytes of the file that were read.
  public internal(set) var bytesRead = 0
  /// Bytes of the file in all; nil if it has no size, such as a pipe.
  public internal(set) var totalBytes: Int?

  /// Errors that are kept; arbitrary, so that a file of invalid records does not fill the memory.
  static let maximumErrors = 100
}
