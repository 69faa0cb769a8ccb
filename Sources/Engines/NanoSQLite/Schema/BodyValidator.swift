// SPDX-License-Identifier: MIT

import NanoDocument

/// Validates that a body is exactly one JSON object.
enum BodyValidator {
  /// - Throws: ``StoreError/Code/corruptDocument``.
  static func check(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    let reader = try readObject(body)
    guard reader.isAtEnd else {
      throw StoreError(
        .corruptDocument, "A stored document is followed by extra bytes",
        [.byteOffset: "\(reader.offset)"])
    }
    guard String(validating: body, as: UTF8.self) != nil else {
      throw StoreError(
        .corruptDocument, "A stored document contains bytes that are not valid UTF-8")
    }
  }

  /// Reads the object at the start of a body, as a store does, ignoring what follows.
  ///
  /// - Throws: The same errors as ``check(_:)``.
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
