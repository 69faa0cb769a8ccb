// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoTesting
import Testing

@Suite("SHA-256 digests of attachments")
struct BlobHasherTests {
  private func digest(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBytes { BlobHasher.digest(of: $0) }.text
  }

  // https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values
  static let vectors: [(text: String, digest: String)] = [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ]

  @Test("The digests of NIST's examples are right", arguments: vectors)
  func examples(text: String, expected: String) {
    #expect(digest(Array(text.utf8)) == "sha256-" + expected)
  }

  @Test("The digest of a million letters is right")
  func million() {
    let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    #expect(
      digest(bytes) == "sha256-cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test(
    "A digest does not depend on the pieces in which the bytes arrive, nor on where they are resumed"
  )
  func pieces() throws {
    var random = SplitMix(seed: 1)
    for _ in 0..<300 {
      let bytes = (0..<Int.random(in: 0...1_000, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let whole = bytes.withUnsafeBytes { BlobHasher.digest(of: $0) }
      var hasher = BlobHasher()
      var at = 0
      while at < bytes.count {
        let end = min(bytes.count, at + Int.random(in: 0...200, using: &random))
        bytes[at..<end].withUnsafeBytes { hasher.update($0) }
        at = end
        if let state = hasher.state, Bool.random(using: &random) {
          hasher = try #require(BlobHasher(resuming: state, after: Int64(at)))
        }
      }
      #expect(hasher.digest() == whole)
    }
  }

  @Test("The text of a digest is read back, and no other text is a digest")
  func text() {
    let digest = [1, 2, 3].withUnsafeBytes { BlobHasher.digest(of: $0) }
    #expect(BlobDigest(text: digest.text) == digest)
    #expect(BlobDigest(digest.bytes) == digest)
    let text = digest.text
    for other in [
      "", "sha256-", text + "0", String(text.dropLast()), text.uppercased(), "x" + text,
    ] { #expect(BlobDigest(text: other) == nil) }
    #expect(BlobDigest([1, 2, 3]) == nil)
    #expect(BlobHasher(resuming: [1], after: 64) == nil)
    #expect(BlobHasher(resuming: digest.bytes, after: 63) == nil)
  }

  @Test("Every digest in a body is found, wherever it is")
  func scanning() {
    var random = SplitMix(seed: 2)
    for _ in 0..<300 {
      var body: [UInt8] = []
      var expected: Set<BlobDigest> = []
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let noise = ["sha256-", "-", "sha25", "\"a\":", "sha256-00", "é", "2026-11-24"]
        body += (noise.randomElement(using: &random) ?? "").utf8
        guard Bool.random(using: &random) else { continue }
        let digest = BlobHasher.digest(
          of: UnsafeRawBufferPointer(start: nil, count: 0))
        let other = [UInt8.random(in: 0...255, using: &random)].withUnsafeBytes {
          BlobHasher.digest(of: $0)
        }
        for found in [digest, other] {
          body += found.text.utf8
          expected.insert(found)
        }
      }
      var found: Set<BlobDigest> = []
      body.withUnsafeBytes { bytes in BlobDigest.each(in: bytes) { found.insert($0) } }
      #expect(found == expected)
    }
  }
}
