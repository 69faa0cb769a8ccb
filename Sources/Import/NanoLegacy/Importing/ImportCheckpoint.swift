// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument

/// How far an import has progressed. A resumable import stores it in the target's metadata, in the
/// transaction of each batch.
struct ImportCheckpoint: Codable {
  static let name = "nano_import"
  private static let currentFormat = 3

  var format = currentFormat
  /// The fingerprint of the old store.
  var source: String
  /// The fingerprint of the options.
  var options: String
  var section = 0
  /// The number of records of the section that were processed.
  var records = 0
  var report: LegacyImportReport
  /// The state of each collection of the old store.
  var collections: [Collection] = []
  /// The bags imported so far.
  var bags = ImportedRows()

  struct Collection: Codable {
    var name: String
    /// The documents imported so far.
    var documents = ImportedRows()
  }

  init(source: String, options: String, report: LegacyImportReport) {
    self.source = source
    self.options = options
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

extension LegacyImportOptions {
  /// Changes when an option changes that determines what is stored of an old store of a kind.
  func fingerprint(_ kind: LegacyStore.Kind) -> String {
    var object: DocumentObject = ["existing": .string(existing.rawValue)]
    switch kind {
    case .nanoStore:
      object["collection"] = .string(collection)
      object["timeZone"] = .string(timeZone.identifier)
      object["calendar"] = .string(String(describing: calendar))
      object["rebuildsFromIndex"] = .bool(rebuildsFromIndex)
    case .ntJsonStore: break
    case .bnrPersistence:
      if let schema { object["schema"] = .object(schema.json) }
      // A hash of the passphrase in the target would help to guess it. The fingerprint of the source depends on the
      // records that it decrypts instead.
      object["isEncrypted"] = .bool(passphrase?.isEmpty == false)
    }
    var writer = JSONWriter()
    writer.object(object)
    var hash = SHA256()
    writer.withBytes { hash.update(bufferPointer: $0) }
    return Data(hash.finalize()).base64EncodedString()
  }
}
