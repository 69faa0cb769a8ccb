// SPDX-License-Identifier: MIT

import Foundation

/// Normalizes document bodies written by other programs to the canonical stored form.
///
/// The same document has many JSON encodings: whitespace, escapes, `1e2` for `100.0`, the fields of
/// `$binary` in a different order. SQLite's JSON functions, and therefore its indexes, distinguish some
/// of them. In stored form, every document has exactly one encoding.
package enum CanonicalBody {
  /// Returns the stored form of a body, or `nil` if the body already has that form.
  ///
  /// The result has the same values as the body for every query, and parses from JSON text as the same
  /// document.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if there is no such form: the body is not a JSON
  ///   object, or contains a duplicate name, an integer that does not fit in 64 bits or invalid text.
  package static func rewritten(_ body: UnsafeRawBufferPointer) throws(StoreError) -> [UInt8]? {
    var writer = JSONWriter(capacity: body.count + 64)
    writer.object(try object(body))
    if writer.failure == nil, writer.bytes.elementsEqual(body) { return nil }
    if isSealed(body, rewritten: writer.bytes) { return nil }
    // The lenient reader accepts more than JSON. Anything it repairs or drops would be lost, so the
    // body must also pass the strict parser.
    do throws(StoreError) {
      try requireDistinctNames(.object(DocumentObject(json: body, dialect: .plain)))
      if let failure = writer.failure { throw failure }
      try requireReadable(writer.bytes)
    } catch {
      throw error.details.reduce(StoreError(.corruptDocument, error.message)) {
        $0.adding($1.name, $1.value)
      }
    }
    return writer.withBytes { Array($0) }
  }

  /// Returns whether the body belongs to an encrypted store, whose first name intentionally begins with
  /// a single `$`.
  private static func isSealed(
    _ body: UnsafeRawBufferPointer, rewritten: UnsafeRawBufferPointer
  ) -> Bool {
    body.starts(with: #"{"$sealed":""#.utf8)
      && body.dropFirst(2).elementsEqual(rewritten.dropFirst(3))
  }

  private static func object(
    _ body: UnsafeRawBufferPointer
  ) throws(StoreError) -> DocumentObject {
    var reader = JSONReader(body)
    do throws(StoreError) {
      return try reader.object()
    } catch {
      guard error.code == .typeMismatch else { throw error }
      throw StoreError(
        .corruptDocument, "A stored document is not an object", [.byteOffset: "0"])
    }
  }

  /// Rejects objects in which a name occurs with one leading `$` and with two; their stored forms are
  /// equal.
  private static func requireDistinctNames(_ value: DocumentValue) throws(StoreError) {
    switch value {
    case .object(let object):
      for (name, value) in object {
        if name.utf8.starts(with: "$$".utf8), object[String(name.unicodeScalars.dropFirst())] != nil
        {
          throw StoreError(.corruptDocument, "An object has two fields with the same name")
        }
        try requireDistinctNames(value)
      }
    case .array(let array): for element in array { try requireDistinctNames(element) }
    default: break
    }
  }

  /// Verifies that an import of the body reads the same document.
  private static func requireReadable(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    var writer = JSONWriter(capacity: body.count + 64)
    writer.object(try DocumentObject(json: body, dialect: .extended))
    guard writer.failure == nil, writer.bytes.elementsEqual(body) else {
      throw StoreError(
        .corruptDocument, "A value does not survive a round trip through its stored form")
    }
  }

  /// The error for a row, written by another program, with a column value that cannot be represented.
  package static var alteredRow: StoreError {
    StoreError(
      .corruptDocument,
      "A row has a key, class, version or date added that a document cannot have")
  }

  /// Returns whether the body can be written as one line of JSON: it is enclosed in braces and contains
  /// no line breaks or other control characters.
  package static func isOneLine(_ body: UnsafeRawBufferPointer) -> Bool {
    guard body.first == ASCII.openBrace, body.last == ASCII.closeBrace else { return false }
    // Without a branch in the loop, the compiler vectorizes it.
    return body.reduce(UInt8.max) { min($0, $1) } >= ASCII.space
  }
}
