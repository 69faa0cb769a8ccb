// SPDX-License-Identifier: MIT

import Crypto
import CryptoExtras
import Foundation
import NanoDocument
import NanoEngine
import Testing

@testable import NanoEncryption

@Suite("Cryptographic test vectors")
struct KnownAnswerTests {
  private func hex(_ key: SymmetricKey) -> String {
    key.withUnsafeBytes { $0.map { String(format: "%02x", $0) }.joined() }
  }
  private func data(_ hex: String) -> Data {
    var bytes: [UInt8] = []
    var rest = hex[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return Data(bytes)
  }

  @Test("scrypt matches the test vectors of RFC 7914")
  func scrypt() throws {
    let key = try KDF.Scrypt.deriveKey(
      from: Data("password".utf8), salt: Data("NaCl".utf8), outputByteCount: 64, rounds: 1_024,
      blockSize: 8, parallelism: 16)
    #expect(
      hex(key)
        == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
        + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
  }

  @Test("Wrapping keys from a passphrase and from a raw key match independent derivations")
  func wrappingKeys() throws {
    let salt = DocumentValue.data(Data("0123456789abcdef".utf8))
    let passphrase = try #require(
      KeyDerivation(["kdf": "scrypt", "n": 1024, "r": 8, "p": 1, "salt": salt]))
    #expect(
      hex(try passphrase.wrappingKey(.passphrase("pa\u{308}ssword")))
        == "62f5200171699b355738d4f4f61d94affd1c8690b4ba676fc8045b911ec31b36")
    let raw = try #require(KeyDerivation(["kdf": "hkdf-sha256", "salt": salt]))
    #expect(
      hex(try raw.wrappingKey(.key((0..<32).map { UInt8($0) })))
        == "0778731799bb7151902fd1b4a6202a1ffe5e330e3db020bb8f7b6aedf80bcdd3")
    let key = DataKey(number: 1, secret: SymmetricKey(data: (0..<32).map { UInt8($0) }))
    #expect(
      hex(key.documents) == "4db026b6e8c5c5a1fb328727f5091eda28d5383a8c6deafc5a2e1aa6fede7e09")
  }

  @Test("Scrypt costs of any size in a file's header are refused without a trap")
  func hostileCosts() {
    let salt = DocumentValue.data(Data("0123456789abcdef".utf8))
    for number in [Int64.min, -1, 0, 1 << 31, 1 << 56, .max] {
      for name in ["n", "r", "p"] {
        var header: DocumentObject = ["kdf": "scrypt", "n": 1024, "r": 8, "p": 1, "salt": salt]
        header[name] = .int(number)
        #expect(KeyDerivation(header) == nil, "\(name) \(number)")
      }
    }
  }

  @Test("A scrypt cost in a file's header that would take an hour is refused")
  func hostileTime() {
    let salt = DocumentValue.data(Data("0123456789abcdef".utf8))
    func header(_ parallelism: Int64) -> DocumentObject {
      ["kdf": "scrypt", "n": 131_072, "r": 8, "p": .int(parallelism), "salt": salt]
    }

    #expect(KeyDerivation(header(64)) != nil)
    #expect(KeyDerivation(header(65)) == nil)
    #expect(KeyDerivation(header(1_024)) == nil)
  }

  @Test("The default scrypt cost can be computed")
  func defaultCost() throws {
    let derivation = try KeyDerivation(for: .passphrase("x"), ScryptCost())
    #expect(try derivation.wrappingKey(.passphrase("x")).bitCount == 256)
  }

  /// Test case 16 of McGrew and Viega, "The Galois/Counter Mode of Operation".
  @Test("AES-256-GCM matches the published test vector")
  func aes() throws {
    let box = try AES.GCM.seal(
      data(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
          + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"),
      using: SymmetricKey(
        data: data("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")),
      nonce: AES.GCM.Nonce(data: data("cafebabefacedbaddecaf888")),
      authenticating: data("feedfacedeadbeeffeedfacedeadbeefabaddad2"))
    #expect(
      box.ciphertext
        == data(
          "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
            + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"))
    #expect(box.tag == data("76fc6ece0f4e1768cddf8853bb2d551b"))
  }

  @Test("A sealed body can be opened as docs/ENCRYPTION.md specifies, and in no other way")
  func format() throws {
    let key = DataKey(number: 258, secret: SymmetricKey(data: Data(repeating: 7, count: 32)))
    let fields = Data(#"{"name":"Ada"}"#.utf8)
    let body = try fields.withUnsafeBytes { fields in
      let new = NewDocument(key: nil, version: 3, added: 0, body: fields)
      return try SealedBody.RowContext.with(
        new, key: try DocumentKey("ada"), rowID: 5, Array("people".utf8)
      ) {
        try SealedBody.seal(fields, at: $0, hashes: Array(#","nano_f1":"x""#.utf8), key)
      }
    }
    let text = String(decoding: body, as: UTF8.self)
    #expect(text.hasPrefix(#"{"$sealed":"AQAAAQ"#) && text.hasSuffix(#"","nano_f1":"x"}"#))
    let sealed = try #require(Data(base64Encoded: text.components(separatedBy: "\"")[3]))
    #expect(sealed.count == fields.count + Ciphertext.overhead)

    func part(_ bytes: String) -> Data {
      withUnsafeBytes(of: UInt64(bytes.utf8.count).bigEndian) { Data($0) } + Data(bytes.utf8)
    }
    let row = withUnsafeBytes(of: Int64(5).bigEndian) { Data($0) }
    let version = withUnsafeBytes(of: Int64(3).bigEndian) { Data($0) }
    var context = Data([1, 0, 0, 1, 2])
    context += part("document") + part("people") + row
    context += Data([1]) + part("ada")
    context += Data([0])
    context += Data([1]) + version
    context += part(#","nano_f1":"x""#)
    let box = try AES.GCM.SealedBox(combined: sealed.dropFirst(5))
    #expect(try AES.GCM.open(box, using: key.documents, authenticating: context) == fields)
    #expect(throws: (any Error).self) {
      try AES.GCM.open(box, using: key.documents, authenticating: context + [0])
    }
  }
}
