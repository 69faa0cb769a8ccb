// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument
import NanoEngine

/// The encryption of the content of one attachment.
///
/// Each attachment has its own random key, which is stored beside it, encrypted with a key of the store. The content of
/// an attachment never changes, and new content has a new key. Therefore, the nonces of chunks are their positions
/// instead of random numbers, and key rotation does not have to encrypt chunks again.
struct BlobCipher {
  private let secret: [UInt8]
  private let key: SymmetricKey

  /// Creates a cipher with a new key.
  init() {
    self.init(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
  }

  init(_ secret: [UInt8]) {
    self.secret = secret
    key = SymmetricKey(data: secret)
  }

  /// The key, for a write that takes several transactions.
  var bytes: [UInt8] { secret }

  /// Encrypts a chunk. Its position is the nonce, so that chunks cannot be exchanged.
  func seal(_ chunk: UnsafeRawBufferPointer, _ position: Int) throws(StoreError) -> [UInt8] {
    guard let nonce = try? AES.GCM.Nonce(data: Self.nonce(position)),
      let box = try? AES.GCM.seal(chunk, using: key, nonce: nonce)
    else { throw StoreError(.valueNotStorable, "An attachment cannot be encrypted") }
    var sealed: [UInt8] = []
    sealed.reserveCapacity(box.ciphertext.count + box.tag.count)
    sealed.append(contentsOf: box.ciphertext)
    sealed.append(contentsOf: box.tag)
    return sealed
  }

  /// - Throws: ``StoreError/Code/corruptFile``.
  func open(
    _ sealed: UnsafeRawBufferPointer, _ position: Int, of blob: BlobRecord
  ) throws(StoreError) -> Data {
    let length = sealed.count - Self.tagLength
    guard length >= 0, let nonce = try? AES.GCM.Nonce(data: Self.nonce(position)),
      let box = try? AES.GCM.SealedBox(
        nonce: nonce, ciphertext: UnsafeRawBufferPointer(rebasing: sealed[..<length]),
        tag: UnsafeRawBufferPointer(rebasing: sealed[length...])),
      let plain = try? AES.GCM.open(box, using: key)
    else { throw StoreError.damagedBlob(blob.digest, "chunk \(position) does not decrypt") }
    return plain
  }

  private static let tagLength = 16

  private static func nonce(_ position: Int) -> [UInt8] {
    [0, 0, 0, 0] + withUnsafeBytes(of: UInt64(position).bigEndian) { Array($0) }
  }
}

/// What is stored beside an encrypted attachment: its key, digest and length.
struct BlobHeader {
  let cipher: BlobCipher
  let digest: BlobDigest
  let length: Int64

  /// The digest for the inner engine, which reveals only equality within the store.
  static func identity(of digest: BlobDigest, _ key: DataKey) -> BlobDigest {
    let code = HMAC<SHA256>.authenticationCode(
      for: Data("attachment".utf8) + digest.bytes, using: key.hashes)
    guard let identity = BlobDigest(Array(code)) else { preconditionFailure("32 bytes") }
    return identity
  }

  private static func context(_ identity: BlobDigest, _ keyNumber: UInt32) -> AuthenticatedContext {
    var context = AuthenticatedContext(keyNumber: keyNumber)
    context.append(part: "attachment".utf8)
    context.append(part: identity.bytes)
    return context
  }

  func sealed(_ key: DataKey) throws(StoreError) -> [UInt8] {
    var plain = cipher.bytes + digest.bytes
    plain.append(number: UInt64(length))
    let context = Self.context(Self.identity(of: digest, key), key.number)
    let result = plain.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in try Ciphertext.encrypt(bytes, key.values, context) }
    }
    return try result.get()
  }

  /// Decrypts the header of a record of the inner engine.
  ///
  /// - Throws: ``StoreError/Code/corruptFile``.
  init(_ inner: BlobRecord, _ ring: Keyring) throws(StoreError) {
    guard let sealed = inner.sealed, let identity = inner.digest,
      let number = sealed.withUnsafeBytes({ Ciphertext.keyNumber($0) }),
      let key = ring.keys[number],
      let plain = sealed.withUnsafeBytes({
        Ciphertext.decrypt($0, key.values, Self.context(identity, number))
      }),
      plain.count == 32 + BlobDigest.length + 8,
      let digest = BlobDigest(Array(plain.dropFirst(32).prefix(BlobDigest.length)))
    else { throw StoreError.damagedBlob(inner.digest, "its key does not decrypt") }
    cipher = BlobCipher(Array(plain.prefix(32)))
    self.digest = digest
    length = plain.suffix(8).reduce(0) { $0 << 8 | Int64($1) }
    guard length == inner.length, Self.identity(of: digest, key) == identity else {
      throw StoreError.damagedBlob(inner.digest, "its record was changed")
    }
  }

  init(_ cipher: BlobCipher, _ digest: BlobDigest, _ length: Int64) {
    self.cipher = cipher
    self.digest = digest
    self.length = length
  }
}
