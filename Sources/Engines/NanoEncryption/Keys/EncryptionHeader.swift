// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument
import NanoEngine

/// The part of an encrypted store that is not encrypted, so that it can be opened: the key derivation, the
/// wrapped keys of the documents, and the scope of encryption. All of it is authenticated.
struct EncryptionHeader: Sendable {
  var derivation: KeyDerivation
  /// Wrapped keys by number. More than one while a key rotation is in progress.
  var keys: [UInt32: Data]
  /// The number of the key that encrypts documents.
  var current: UInt32
  /// The number of the key that encrypts metadata entries and derives their names.
  var values: UInt32
  /// The folded names of the encrypted collections; `nil` if all are.
  var collections: Set<ExactName>?
  /// Whether every document is encrypted, so that a plain one must have been inserted by a third party.
  var isStrict: Bool

  static let format: Int64 = 1

  /// The authenticated content.
  private var object: DocumentObject {
    [
      "format": .int(Self.format), "cipher": "AES-256-GCM", "key": .object(derivation.object),
      "keys": .array(
        keys.sorted { $0.key < $1.key }.map {
          ["number": .int(Int64($0.key)), "wrapped": .data($0.value)]
        }),
      "current": .int(Int64(current)), "values": .int(Int64(values)),
      "sealed": collections.map { .array($0.sorted().map { .string($0.text) }) } ?? "all",
      "strict": .bool(isStrict),
    ]
  }

  /// Returns the stored form, with its authentication code.
  func authenticated(with wrapping: SymmetricKey) -> DocumentValue {
    var object = object
    object["mac"] = .data(Self.code(object, wrapping))
    return .object(object)
  }

  private static func code(_ object: DocumentObject, _ wrapping: SymmetricKey) -> Data {
    var writer = JSONWriter()
    writer.object(object)
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: wrapping, info: Data("NanoStore header".utf8), outputByteCount: 32)
    return Data(HMAC<SHA256>.authenticationCode(for: Data(writer.bytes), using: key))
  }

  /// - Throws: ``StoreError/Code/newerFormat``, ``StoreError/Code/corruptFile``.
  init(_ value: DocumentValue) throws(StoreError) {
    guard let object = value.object, let format = object["format"]?.int else { throw Self.damaged }
    guard format <= Self.format else {
      throw StoreError(
        .newerFormat, "The store was encrypted by a newer version of NanoStore",
        [.expected: "format \(Self.format) or older", .actual: "format \(format)"])
    }
    guard let derivation = object["key"]?.object.flatMap({ KeyDerivation($0) }),
      let current = object["current"]?.int.flatMap({ UInt32(exactly: $0) }),
      let values = object["values"]?.int.flatMap({ UInt32(exactly: $0) }),
      let isStrict = object["strict"]?.bool, let entries = object["keys"]?.array
    else { throw Self.damaged }
    self.derivation = derivation
    self.current = current
    self.values = values
    self.isStrict = isStrict
    collections = object["sealed"]?.array.map { names in
      Set(names.compactMap { $0.string.map { ExactName($0) } })
    }
    keys = [:]
    for entry in entries {
      guard let number = entry["number"]?.int.flatMap({ UInt32(exactly: $0) }),
        let wrapped = entry["wrapped"]?.data
      else { throw Self.damaged }
      keys[number] = wrapped
    }
    guard keys[current] != nil, keys[values] != nil else { throw Self.damaged }
  }

  /// Unwraps the keys of the documents.
  ///
  /// - Throws: ``StoreError/Code/wrongKey``, or ``StoreError/Code/corruptFile`` if the authenticated content
  ///   was modified.
  func unwrapped(
    _ wrapping: SymmetricKey, from value: DocumentValue
  ) throws(StoreError) -> [UInt32: DataKey] {
    var unwrapped: [UInt32: DataKey] = [:]
    for (number, wrapped) in keys { unwrapped[number] = Self.unwrap(wrapped, number, wrapping) }
    var covered = value.object ?? [:]
    let code = covered["mac"]?.data ?? Data()
    covered["mac"] = nil
    let isIntact = Self.isEqual(code, Self.code(covered, wrapping))
    guard isIntact || !unwrapped.isEmpty else {
      throw StoreError(.wrongKey, "This key does not open the store")
    }
    guard isIntact, unwrapped.count == keys.count else { throw Self.damaged }
    return unwrapped
  }

  mutating func wrap(_ key: DataKey, with wrapping: SymmetricKey) throws(StoreError) {
    let secret = key.secret.withUnsafeBytes { Data($0) }
    guard
      let box = try? AES.GCM.seal(secret, using: wrapping, authenticating: Self.context(key.number))
    else { throw StoreError(.valueNotStorable, "A key cannot be wrapped") }
    keys[key.number] = Data(box.nonce) + box.ciphertext + box.tag
  }

  private static func unwrap(
    _ wrapped: Data, _ number: UInt32, _ wrapping: SymmetricKey
  ) -> DataKey? {
    guard let box = try? AES.GCM.SealedBox(combined: wrapped),
      let secret = try? AES.GCM.open(box, using: wrapping, authenticating: context(number)),
      secret.count == 32
    else { return nil }
    return DataKey(number: number, secret: SymmetricKey(data: secret))
  }

  private static func context(_ number: UInt32) -> Data { Data("NanoStore key \(number)".utf8) }

  /// Compares in constant time.
  private static func isEqual(_ a: Data, _ b: Data) -> Bool {
    a.count == b.count && zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  static let damaged = lost("The store's keys are damaged")
  static let missing = lost("The store's keys are missing")

  private static func lost(_ message: String) -> StoreError {
    StoreError(
      .corruptFile, message, [.table: "nano_metadata", .hint: "restore them from a backup"])
  }
}

extension EncryptionHeader {
  init(
    _ derivation: KeyDerivation, first key: DataKey, _ scope: Encryption.Scope, isStrict: Bool,
    _ wrapping: SymmetricKey
  ) throws(StoreError) {
    self.derivation = derivation
    keys = [:]
    current = key.number
    values = key.number
    self.isStrict = isStrict
    // The state of sync has messages that name fields of documents.
    collections = scope.folded?.union([InternalCollection.syncState.rawValue.folded])
    try wrap(key, with: wrapping)
  }
}

extension Encryption.Scope {
  /// The folded names; `nil` for everything.
  var folded: Set<ExactName>? {
    switch self {
    case .all: nil
    case .only(let names): Set(names.map(\.folded))
    }
  }
}
