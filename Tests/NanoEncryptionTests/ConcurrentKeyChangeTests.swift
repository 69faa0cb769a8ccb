// SPDX-License-Identifier: MIT

import NanoEncryption
import NanoTesting
import Testing

@Suite("Concurrent key changes")
struct ConcurrentKeyChangeTests {
  @Test("After two concurrent key changes, a store reopens with the key that was set last")
  func reopening() throws {
    let inner = HookEngine(ReferenceEngine())
    let session = EncryptionSession(.test())
    let engine = try EncryptedEngine(inner, session)
    inner.onNextCommit { try engine.changeKey(to: .passphrase("second"), cost: .small) }

    try engine.changeKey(to: .passphrase("first"), cost: .small)

    #expect(code { _ = try EncryptedEngine(inner, .test("second")) } == nil)
    #expect(code { _ = try EncryptedEngine(inner, session) } == nil)
  }
}
