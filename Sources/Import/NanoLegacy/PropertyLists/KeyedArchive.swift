// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// Decodes property lists, and the archives of `NSKeyedArchiver` in them, to document values.
package enum KeyedArchive {
  /// The levels of nesting that a document may have. It also ends a list that contains itself.
  static let maximumDepth = DocumentValue.maximumDepth

  /// Decodes a document: a property list or keyed archive, in XML or binary, whose root is a
  /// dictionary.
  static func document(_ bytes: [UInt8]) throws(PropertyListError) -> DecodedContent {
    let (value, notes) = try value(bytes)
    guard case .object(let object) = value else {
      throw PropertyListError("the value is not a dictionary")
    }
    return DecodedContent(object: object, notes: notes)
  }

  /// Decodes any value.
  static func value(
    _ bytes: [UInt8]
  ) throws(PropertyListError) -> (value: DocumentValue, notes: ConversionNotes) {
    if BinaryPropertyList.isLikely(bytes) {
      return try value(of: try BinaryPropertyList(bytes), size: bytes.count)
    }
    guard XMLPropertyList.isLikely(bytes) else {
      throw PropertyListError(
        bytes.isEmpty
          ? "the content is empty" : "the content is neither an archive nor a property list")
    }
    return try value(of: try XMLPropertyList(bytes), size: bytes.count)
  }

  /// Returns the decoded value; nil if the bytes are not a readable property list or archive.
  package static func decoded(_ bytes: [UInt8]) -> DocumentValue? { try? value(bytes).value }

  private static func value(
    of list: some PropertyList, size: Int
  ) throws(PropertyListError) -> (value: DocumentValue, notes: ConversionNotes) {
    var decoder = PropertyListDecoder(list, size: size)
    let value = try decoder.rootValue()
    return (value, decoder.notes)
  }
}
