// SPDX-License-Identifier: MIT

import NanoDocument

/// Whether a body is a JSON object from its first to its last byte.
enum BodyValidator {
  /// - Throws: ``StoreError/Code/corruptDocument``.
  static func check(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    let reader = try readObject(body)
    guard reader.isAtEnd else {
      throw StoreError(
        .corruptDocument, "Something follows a stored document",
        [.byteOffset: "\(reader.offset)"])
    }
    guard String(validating: body, as: UTF8.self) != nil else {
      throw StoreError(.corruptDocument, "A stored document holds bytes that are no text")
    }
  }

  /// What a store reads of a body: the object that it begins with, whatever follows.
  ///
  /// - Throws: As ``check(_:)``.
  @discardableResult
  static func readObject(_ body: UnsafeRawBufferPointer) throws(StoreError) -> JSONReader {
    var reader = JSONReader(body)
    guard reader.kind() == .object else {
      throw StoreError(
        .corruptDocument, "A stored document is not an object", [.byteOffset: "0"])
    }
    _ = try reader.object()
    return reader
  }
}
