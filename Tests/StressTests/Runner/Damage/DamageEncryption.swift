// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption

/// The sample ``DamageSamples/Kind/encrypted``, and what encryption promises in addition.
///
/// Each document is authenticated together with its collection, row ID, key and class name (docs/ENCRYPTION.md). So a
/// changed document is never returned, whether or not `verify` reports a problem. A deletion, or an earlier version of a
/// document in its place, is not detected; the sample has no earlier versions.
enum DamageEncryption {
  static func fill(_ store: Store) throws {
    try DamageAttachments.add(to: store["people"])
    // Removes earlier versions of documents from free space.
    try store.compact()
  }

  /// Returns the documents of a collection that can be decrypted. There is none if a value about the collection, such as
  /// the fields of its blind indexes, cannot be decrypted.
  static func readable(_ store: Store, _ collection: String) throws -> [String] {
    do {
      // Row IDs are read without decrypting documents.
      return try store[collection].find().rowIDs().compactMap { row in
        do {
          return try store[collection].get(rowID: row).map { try DamageUse.text([$0]) }
        } catch let error as StoreError where error.code == .corruptDocument {
          return nil
        }
      }
    } catch let error as StoreError
      where error.code == .corruptFile && messages.contains(error.message)
    {
      return []
    }
  }

  /// Returns documents and values that the store returns, although they were not written with its key.
  static func forgeries(_ store: Store, _ expected: Expected) -> [String] {
    var found: [String] = []
    for name in DamageSamples.collections {
      guard let lines = try? readable(store, name) else { continue }
      found += lines.filter { expected.documents[name]?.contains($0) != true }
    }
    let metadata = Set((expected.results["metadata"] ?? "").split(separator: "\n").map(String.init))
    for name in (try? store.metadataNames()) ?? [] {
      guard let value = try? store.metadata(name) else { continue }
      let line = "\(name)=\(String(describing: Optional(value)))"
      if !metadata.contains(line) { found.append(line) }
    }
    return found
  }

  /// Whether a problem of a recovered store is that something cannot be decrypted: a recovery has no key, and saves what
  /// only looks encrypted, or was never encrypted.
  static func isUndecryptable(_ problem: VerificationProblem) -> Bool {
    messages.contains { problem.message.hasPrefix($0) }
      || problem.subject == "attachments"
        && problem.message.contains("The content of an attachment is damaged")
  }

  private static let messages = [
    "An encrypted document is corrupt", "An encrypted document was modified",
    "A document is not encrypted",
    "A document was encrypted with a key that the store does not have",
    "An encrypted value of the store does not decrypt",
    "The settings of a collection are not encrypted",
  ]

  static let rotation = DamageUse.Operation("rotate keys") { store in
    try store.rotateKeys()
    return ""
  }

  /// A text that ``DamageUse/changes(_:_:)`` saves.
  private static let marker = Data("tonic new".utf8)

  /// Whether a text that was saved is in the file without encryption.
  static func hasPlainText(_ file: String) -> Bool {
    DamageSamples.suffixes.contains { suffix in
      FileManager.default.contents(atPath: file + suffix)?.range(of: marker) != nil
    }
  }
}
