// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension FuzzTarget {
  /// The bytes of a stored document, damaged or written by another program. Every reader must terminate, and return
  /// the same value as the strict parser if that accepts the bytes.
  static let storedForm = FuzzTarget("stored-form", maximumLength: 512) { bytes in
    var reader = JSONReader(bytes)
    let whole = try? reader.value()
    let isWhole = whole != nil && reader.isAtEnd
    reader = JSONReader(bytes)
    _ = try? reader.skipValue()
    try? useEverything(bytes)
    let decoder = DocumentDecoder()
    _ = try? decoder.decode(Shape.self, from: bytes)
    _ = try? decoder.decode([String: DocumentValue].self, from: bytes)

    // Extended values of other programs are plain objects here, and all of them contain a dollar sign.
    guard !bytes.contains(UInt8(ascii: "$")), case .success(let strict) = parsed(bytes, .plain)
    else { return }
    try require(isWhole, "The reader rejects what the strict parser accepts")
    try require(
      whole.map { isSame($0, strict) } == true,
      "\(strict.jsonString()) is read as \(whole?.jsonString() ?? "nothing")")
    guard case .object(let object) = strict else { return }
    let document = Document(Document.Header(), copying: bytes)
    for (name, value) in object where name != DocumentObject.rowIDName {
      let field = document[FieldPath(components: [name])]
      try require(
        field.map { isSame($0, value) } == true,
        "The field \(name) of \(strict.jsonString()) is \(field?.jsonString() ?? "missing")")
    }
  }

  /// Uses every way of reading a document, whatever it contains.
  private static func useEverything(_ bytes: UnsafeRawBufferPointer) throws {
    let document = Document(Document.Header(), copying: bytes)
    for path in ["name", "inner.x", "list.0.x", "$a", "a\"b", ""] { _ = document[path] }
    var changed = document
    changed["name"] = "other"
    _ = try? changed.object()
    var reader = JSONReader(bytes)
    _ = try? reader.date()
    reader = JSONReader(bytes)
    _ = try? reader.data()
    reader = JSONReader(bytes)
    _ = try? reader.url()
    reader = JSONReader(bytes)
    try reader.fields { (reader, name) throws(StoreError) in
      _ = try name.text
      try reader.skipValue()
    }
  }

  private struct Shape: Codable {
    struct Inner: Codable {
      var x: Int?
      var list: [String]?
    }
    var name: String?
    var born: Date?
    var inner: Inner?
    var list: [Inner]?
    var blob: Data?
    var link: URL?
    var any: DocumentValue?
    var map: [String: Double]?
    var small: UInt8?
    var wide: Float?
  }
}
