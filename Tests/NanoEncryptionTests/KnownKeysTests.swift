// SPDX-License-Identifier: MIT

import Crypto
import NanoDocument
import Testing

@testable import NanoEncryption

@Suite("The keys that an engine knows")
struct KnownKeysTests {
  /// Returns the keys of a store that a new key opens.
  private func ring(_ number: UInt32) throws -> Keyring {
    let key = EncryptionKey.key(SymmetricKey(size: .bits256))
    let derivation = try KeyDerivation(for: key, ScryptCost())
    let wrapping = try derivation.wrappingKey(key)
    let header = try EncryptionHeader(
      derivation, first: DataKey(number: number), .all, isStrict: true, wrapping)
    return try Keyring(header.authenticated(with: wrapping), wrapping)
  }

  @Test("Keys that follow replaced ones do not replace the newest ones")
  func order() throws {
    let (first, second, third) = (try ring(1), try ring(2), try ring(3))
    let known = KnownKeys(first)
    known.add(second.wrapping, second.header.derivation)

    known.replace(first, with: third)
    known.replace(first, with: second)
    let found = try known.keyring(second.value, after: first)

    #expect(found.current.number == 2)
    #expect(known.ring.current.number == 3)
  }

  @Test("A header is opened by the key that was added for it, and by no other one")
  func added() throws {
    let (first, second) = (try ring(1), try ring(2))
    let known = KnownKeys(first)
    for _ in 0..<2 {
      let failure = #expect(throws: StoreError.self) {
        try known.keyring(second.value, after: first)
      }
      #expect(failure?.code == .wrongKey)
    }

    known.add(second.wrapping, second.header.derivation)

    #expect(try known.keyring(second.value, after: first).current.number == 2)
    #expect(known.ring.current.number == 2)
    #expect(try known.keyring(first.value, after: nil).current.number == 1)
    #expect(known.ring.current.number == 2)
  }
}
