// SPDX-License-Identifier: MIT

import NanoDocument

/// How far an import has progressed. A resumable import stores it in the target's metadata, in the
/// transaction of each batch.
struct ImportCheckpoint: Codable {
  static let name = "nano_import"
  private static let currentFormat = 1

  var format = currentFormat
  /// The fingerprint of the old store.
  var source: String
  var section = 0
  /// The number of records of the section that were processed.
  var records = 0
  var report: LegacyImportReport
  /// The state of each collection of the old store.
  var collections: [Collection] = []
  /// The highest row ID of a bag that existed before the import.
  var lastBag: Int64 = 0

  struct Collection: Codable {
    var name: String
    /// The highest row ID of a document that existed before the import.
    var last: Int64 = 0
    var wasEmpty = true
    /// The documents imported so far.
    var checksum = ContentChecksum()
  }

  init(source: String, report: LegacyImportReport) {
    self.source = source
    self.report = report
  }

  /// Reads a stored checkpoint; nil for any other value that a program stored under the name.
  init?(_ value: DocumentValue?) {
    guard let checkpoint = try? value?.object?.decoded(as: ImportCheckpoint.self),
      checkpoint.format == Self.currentFormat
    else { return nil }
    self = checkpoint
  }

  func value() throws -> DocumentValue { .object(try DocumentObject(encoding: self)) }
}
