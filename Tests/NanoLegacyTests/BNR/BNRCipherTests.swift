// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoTestSupport
import Testing

@testable import NanoLegacy

extension BNRCipher {
  /// Encrypts a record as BNRPersistence does.
  func encrypt(_ record: [UInt8], rowID: UInt32) throws -> [UInt8] {
    try BNRBufferWriter.encrypt(record, salt: salt.ofRow(rowID).bytes, passphrase: passphrase)
  }
}

@Suite("Encrypted records of BNRPersistence")
struct BNRCipherTests {
  private let salt = BNRSalt(word0: 0x1122_3344, word1: 0x5566_7788)

  private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).map { index in
      UInt8(hex.dropFirst(index).prefix(2), radix: 16)!
    }
  }

  @Test("A record that the original encrypted is decrypted")
  func vector() throws {
    let cipher = try #require(BNRCipher(passphrase: "howdy", salt: salt))
    let ciphertext = bytes("d13f9b9ac10a0c5f571fccd4fcd8443f5c9a258618db5c1beeb9b55275f71eb3")

    #expect(cipher.key(rowID: 2) == bytes("7c4baa9b2a6b68ffa19132b9756692ea"))
    #expect(cipher.isEncrypted(ciphertext, rowID: 2))
    #expect(try cipher.decrypt(ciphertext, rowID: 2) == bytes("000400000046726564"))
    #expect(try cipher.encrypt(bytes("000400000046726564"), rowID: 2) == ciphertext)
  }

  @Test("A record under another passphrase or row ID, and a plain record, are not encrypted")
  func others() throws {
    let cipher = try #require(BNRCipher(passphrase: "howdy", salt: salt))
    let other = try #require(BNRCipher(passphrase: "Howdy", salt: salt))
    let ciphertext = try cipher.encrypt([1, 2, 3], rowID: 2)

    #expect(try other.decrypt(ciphertext, rowID: 2) == nil)
    #expect(try cipher.decrypt(ciphertext, rowID: 3) == nil)
    for length in 0...48 {
      #expect(try cipher.decrypt(Array(repeating: 7, count: length), rowID: 2) == nil)
    }
    #expect(BNRCipher(passphrase: "", salt: salt) == nil)
  }

  @Test("Contents of any length are decrypted, and damage at the end is detected")
  func lengths() throws {
    let cipher = try #require(BNRCipher(passphrase: "zażółć", salt: salt))
    for length in 0...40 {
      let content = (0..<length).map { UInt8($0) }
      let ciphertext = try cipher.encrypt(content, rowID: 9)
      #expect(try cipher.decrypt(ciphertext, rowID: 9) == content)

      guard ciphertext.count > 16 else { continue }
      var damaged = ciphertext
      damaged[damaged.count - 17] ^= 0x40
      if length != 0 && ciphertext.count > 32 {
        #expect(throws: StoreError.self) { try cipher.decrypt(damaged, rowID: 9) }
      }
    }
  }
}
