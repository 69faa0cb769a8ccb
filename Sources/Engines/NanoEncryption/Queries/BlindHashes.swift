// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument
import NanoQuery

extension BlindIndexes.Field {
  /// Returns the hash of a value. Values that compare as equal in conditions have the same hash, within one
  /// field of one collection.
  func hash(_ value: DocumentValue, _ collection: [UInt8], _ key: DataKey) -> String {
    var bytes: [UInt8] = []
    bytes.append(part: "value".utf8)
    bytes.append(part: collection)
    bytes.append(number: UInt64(bitPattern: Int64(number)))
    SortKey.append(value, to: &bytes)
    return Base64.text(key.hash(bytes))
  }

  /// Returns the hashes of a document: one, or several if the field is or contains an array.
  fileprivate func hashes(
    _ document: DocumentValue, _ collection: [UInt8], _ key: DataKey
  ) -> [String] {
    let values = PathValues.values(in: document, at: path).filter { !$0.isNull }
    switch kind {
    case .elements:
      var seen: Set<String> = []
      return values.filter(Aggregation.counts).map { hash($0, collection, key) }
        .filter { seen.insert($0).inserted }
    case .fields:
      let found = values.map { hash($0, collection, key) }
      guard let first = found.first else { return [] }
      let whole = Self.value(of: path, in: document)
      if let whole, hash(whole, collection, key) == first { return found }
      // An index on fields does not traverse arrays, so no value of this document equals any value of another
      // one: a random hash that no document has represents it.
      return [Base64.text(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })] + found
    }
  }

  /// Returns the value at a path without traversing arrays.
  private static func value(of path: FieldPath, in document: DocumentValue) -> DocumentValue? {
    var value = document
    for name in path.components {
      guard let field = value.object?[name] else { return nil }
      value = field
    }
    // Not in one expression, in which `nil` would be the literal of a null value.
    if value.isNull { return nil }
    return value
  }
}

extension BlindIndexes {
  /// Returns the fields to append to an encrypted body: JSON, each preceded by a comma.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  func hashes(
    _ body: UnsafeRawBufferPointer, _ collection: [UInt8], _ key: DataKey
  ) throws(StoreError) -> [UInt8] {
    guard !fields.isEmpty else { return [] }
    var reader = JSONReader(body)
    let document = try reader.value()
    var text = ""
    for field in fields {
      let hashes = field.hashes(document, collection, key)
      guard let first = hashes.first else { continue }
      text += #","\#(field.name)":"#
      text +=
        hashes.count == 1
        ? "\"\(first)\"" : "[" + hashes.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    }
    return Array(text.utf8)
  }
}
