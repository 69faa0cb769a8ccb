// SPDX-License-Identifier: MIT

import Crypto
import CryptoExtras
import Foundation
import NanoDocument

/// Decrypts records of BNRPersistence: AES-128 in CBC mode with a zero IV, and a key that is the MD5 digest
/// of the record's salt and the passphrase.
///
/// Encryption is a property of each record: a class can have encrypted and plain records.
struct BNRCipher {
  let passphrase: String
  let salt: BNRSalt

  /// Returns `nil` for an empty passphrase, which turned encryption off.
  init?(passphrase: String, salt: BNRSalt) {
    guard !passphrase.isEmpty else { return nil }
    self.passphrase = passphrase
    self.salt = salt
  }

  private static let blockSize = 16

  /// Returns whether a record can be encrypted, judging by its length.
  static func canBeEncrypted(_ record: [UInt8]) -> Bool {
    !record.isEmpty && record.count % blockSize == 0
  }

  /// Returns whether the record was encrypted with the passphrase: it then begins with its salt.
  func isEncrypted(_ record: [UInt8], rowID: UInt32) -> Bool {
    guard Self.canBeEncrypted(record) else { return false }
    return (try? decipher(record[..<Self.blockSize], rowID))?.starts(with: salt.ofRow(rowID).bytes)
      ?? false
  }

  /// Returns the version byte, if there is one, and the content of a record, or `nil` if the record was
  /// not encrypted with the passphrase.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if the record's padding is damaged.
  func decrypt(_ record: [UInt8], rowID: UInt32) throws(StoreError) -> [UInt8]? {
    guard isEncrypted(record, rowID: rowID) else { return nil }
    let plain: Data
    do {
      plain = try decipher(record[...], rowID)
    } catch {
      throw Self.damaged(rowID)
    }
    let saltSize = 8
    // The salt is never padding.
    guard let padding = plain.last.map({ Int($0) }), 1...Self.blockSize ~= padding,
      padding <= plain.count - saltSize, plain.suffix(padding).allSatisfy({ $0 == padding })
    else { throw Self.damaged(rowID) }
    return [UInt8](plain.dropFirst(saltSize).dropLast(padding))
  }

  func key(rowID: UInt32) -> [UInt8] {
    [UInt8](Insecure.MD5.hash(data: salt.ofRow(rowID).bytes + Array(passphrase.utf8)))
  }

  private func decipher(_ ciphertext: ArraySlice<UInt8>, _ rowID: UInt32) throws -> Data {
    try AES._CBC.decrypt(
      ciphertext, using: SymmetricKey(data: key(rowID: rowID)),
      iv: AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: Self.blockSize)), noPadding: true)
  }

  private static func damaged(_ rowID: UInt32) -> StoreError {
    StoreError(.corruptDocument, "The encrypted record is damaged", [.rowID: "\(rowID)"])
  }
}
