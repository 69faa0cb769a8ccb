// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument
import NanoEngine

/// The unwrapped keys of a store at one point in time, and what is encrypted with them.
struct Keyring: Sendable {
  /// The stored form, compared to detect changes by other processes.
  let value: DocumentValue
  let header: EncryptionHeader
  /// The key that wraps the other keys.
  let wrapping: SymmetricKey
  let keys: [UInt32: DataKey]
  /// The key that encrypts documents.
  let current: DataKey
  /// The key that encrypts metadata entries and derives their names.
  let values: DataKey

  /// - Throws: ``StoreError/Code/wrongKey``, ``StoreError/Code/corruptFile``,
  ///   ``StoreError/Code/newerFormat``.
  init(_ value: DocumentValue, _ wrapping: SymmetricKey) throws(StoreError) {
    header = try EncryptionHeader(value)
    self.value = value
    self.wrapping = wrapping
    keys = try header.unwrapped(wrapping, from: value)
    guard let current = keys[header.current], let values = keys[header.values] else {
      throw EncryptionHeader.damaged
    }
    self.current = current
    self.values = values
  }

  func encrypts(_ collection: String) -> Bool { header.encrypts(collection) }

  /// Returns whether these keys read everything that is stored with a header, except documents that were encrypted
  /// with newer keys.
  func reads(_ header: EncryptionHeader) -> Bool {
    header.values == values.number && header.collections == self.header.collections
  }

  /// Whether metadata is encrypted.
  var encryptsMetadata: Bool { header.collections == nil }
  var isStrict: Bool { header.isStrict }
}

/// The metadata entries that encryption stores for itself. They are hidden from all other code.
enum EncryptedEntry {
  static let prefix = "nano_sealed:"

  static func isHidden(_ name: String) -> Bool {
    name == EncryptionMarker.name || name.utf8.starts(with: prefix.utf8)
  }

  /// The content of an entry.
  enum Kind: String {
    case metadata = "m"
    /// The blind indexes of a collection.
    case indexes = "i"
    /// The path catalog of a collection.
    case paths = "p"
    /// The settings of a collection, stored among its settings.
    case settings = "s"

    var prefix: String { EncryptedEntry.prefix + rawValue + ":" }
  }

  /// Returns the name of an entry, which reveals nothing.
  static func name(_ kind: Kind, _ subject: String, _ key: DataKey) -> String {
    kind.prefix + Base64.text(key.hash(context(kind, subject)))
  }

  private static func context(_ kind: Kind, _ subject: String) -> [UInt8] {
    var context: [UInt8] = []
    context.append(part: kind.rawValue.utf8)
    context.append(part: subject.utf8)
    return context
  }

  private static func authenticatedContext(
    _ kind: Kind, _ subject: String, _ key: DataKey
  ) -> AuthenticatedContext {
    var context = AuthenticatedContext(keyNumber: key.number)
    context.append(part: kind.rawValue.utf8)
    context.append(part: subject.utf8)
    return context
  }

  static func encrypt(
    _ value: DocumentValue, _ kind: Kind, _ subject: String, _ key: DataKey
  ) throws(StoreError) -> DocumentValue {
    var writer = JSONWriter()
    writer.value(value)
    if let failure = writer.failure { throw failure }
    return .data(
      Data(
        try Ciphertext.encrypt(writer.bytes, key.values, authenticatedContext(kind, subject, key))))
  }

  /// - Throws: ``StoreError/Code/corruptFile``.
  static func decrypt(
    _ value: DocumentValue, _ kind: Kind, _ subject: String, _ key: DataKey
  ) throws(StoreError) -> DocumentValue {
    let context = authenticatedContext(kind, subject, key)
    guard
      let plain = value.data?.withUnsafeBytes({ Ciphertext.decrypt($0, key.values, context) })
    else {
      throw StoreError(
        .corruptFile, "An encrypted value of the store does not decrypt",
        [.hint: "it was modified or damaged"])
    }
    return try read(plain)
  }

  private static func read(_ plain: Data) throws(StoreError) -> DocumentValue {
    let result = plain.withUnsafeBytes { bytes -> Result<DocumentValue, StoreError> in
      var reader = JSONReader(bytes)
      do throws(StoreError) { return .success(try reader.value()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

extension Base64 {
  static func text(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: encodedLength(bytes.count)) { out in
      guard let base = out.baseAddress else { return 0 }
      bytes.withUnsafeBytes { encode($0, to: base) }
      return encodedLength(bytes.count)
    }
  }
}

extension EncryptionHeader {
  /// Returns whether the documents of a collection are encrypted. What sync knows about a collection is encrypted like
  /// the collection, whose content it repeats.
  func encrypts(_ collection: String) -> Bool {
    guard let names = collections else { return true }
    if names.contains(collection.folded) { return true }
    guard case .revisions(of: let base)? = InternalCollection(named: collection) else {
      return false
    }
    return names.contains(base.folded)
  }
}
