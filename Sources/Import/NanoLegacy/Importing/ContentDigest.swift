// SPDX-License-Identifier: MIT

import Crypto
import NanoDocument
import NanoEngine

/// What a document holds, to compare the stored document with the one that was read.
struct ContentDigest: Equatable {
  private let digest: SHA256Digest

  /// - Parameter isByRowID: Whether the row ID is part of the document's identity.
  init(_ document: StoredDocument, isByRowID: Bool) {
    self.init(
      key: document.key, rowID: isByRowID ? document.rowID : nil, type: document.type,
      version: document.version, added: document.added, body: document.body)
  }

  init(
    key: DocumentKey?, rowID: Int64?, type: String?, version: Int64?, added: Int64?,
    body: UnsafeRawBufferPointer
  ) {
    var hash = SHA256()
    func add(_ number: Int64?) {
      withUnsafeBytes(of: (number == nil ? UInt8(0) : 1, (number ?? 0).littleEndian)) { bytes in
        // The bytes between the two are undefined.
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[..<1]))
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes.suffix(8)))
      }
    }
    func add(_ text: String?) {
      add(text.map { Int64($0.utf8.count) })
      var text = text ?? ""
      text.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    }
    add(key?.description)
    add(rowID)
    add(type)
    add(version)
    add(added)
    hash.update(bufferPointer: body)
    digest = hash.finalize()
  }
}
