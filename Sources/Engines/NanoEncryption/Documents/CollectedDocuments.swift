// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Copies of the documents of a read that may have to be repeated, to be passed on once it is complete.
struct CollectedDocuments {
  private struct Entry {
    /// Its pointers are no longer valid.
    let document: StoredDocument
    /// The bytes of a text key.
    let key: Range<Int>?
    let type: Range<Int>?
    let body: Range<Int>
  }
  private var entries: [Entry] = []
  private var bytes: [UInt8] = []

  mutating func add(_ document: StoredDocument) {
    var key: Range<Int>?
    if case .text(let text) = document.borrowedKey { key = append(text) }
    var type: Range<Int>?
    if let text = document.borrowedType { type = append(text) }
    let body = append(document.body)
    entries.append(Entry(document: document, key: key, type: type, body: body))
  }

  private mutating func append(_ part: UnsafeRawBufferPointer) -> Range<Int> {
    let start = bytes.count
    bytes.append(contentsOf: part)
    return start..<bytes.count
  }

  func show(_ visit: (StoredDocument) throws -> Void) throws {
    try bytes.withUnsafeBytes { bytes in
      for entry in entries {
        var document = entry.document
        if let key = entry.key {
          document.borrowedKey = .text(UnsafeRawBufferPointer(rebasing: bytes[key]))
        }
        document.borrowedType = entry.type.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }
        document.body = UnsafeRawBufferPointer(rebasing: bytes[entry.body])
        try visit(document)
      }
    }
  }
}
