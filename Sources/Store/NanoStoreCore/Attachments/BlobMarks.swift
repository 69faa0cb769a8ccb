// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
package import NanoEngine
import NanoQuery

/// The digests that documents contain, in whatever field. Content with one of them is in use.
package struct BlobMarks {
  package private(set) var digests: Set<BlobDigest> = []

  /// Reads every document of the store.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` for a document that cannot be read.
  package init(_ reader: any EngineReader) throws {
    for collection in try reader.collections() {
      try reader.contents(Query(), in: collection.name, withKeys: false) { content in
        digests.formUnion(Self.digests(in: content.body))
        return true
      }
    }
  }

  /// Returns the digests that occur in a body.
  static func digests(in body: UnsafeRawBufferPointer) -> Set<BlobDigest> {
    var found: Set<BlobDigest> = []
    BlobDigest.each(in: body) { found.insert($0) }
    // Another program may have spelled any character as an escape.
    if hasEscapes(body) {
      var reader = JSONReader(body)
      if let object = try? reader.object() { collect(.object(object), &found) }
    }
    return found
  }

  private static func hasEscapes(_ body: UnsafeRawBufferPointer) -> Bool {
    guard let base = body.baseAddress else { return false }
    let end = base + body.count
    var at = base
    while at < end, let found = memchr(at, 0x5C, end - at) {
      let next = UnsafeRawPointer(found) + 1
      guard next < end else { return false }
      if next.load(as: UInt8.self) == UInt8(ascii: "u") { return true }
      at = next + 1
    }
    return false
  }

  private static func collect(_ value: DocumentValue, _ found: inout Set<BlobDigest>) {
    switch value {
    case .string(let text):
      var text = text
      text.withUTF8 { bytes in
        BlobDigest.each(in: UnsafeRawBufferPointer(bytes)) { found.insert($0) }
      }
    case .array(let array): for element in array { collect(element, &found) }
    case .object(let object): for (_, field) in object { collect(field, &found) }
    default: break
    }
  }
}
