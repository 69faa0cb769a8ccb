// SPDX-License-Identifier: MIT

import Foundation

/// Bodies that other programs wrote, in the form in which a store writes them.
///
/// JSON has many spellings of one document: white space, escapes, `1e2` for `100.0`, the fields of
/// `$binary` in another order. SQLite's JSON functions distinguish some of them, and so do indexes that
/// SQLite keeps. In stored form every document has one spelling.
package enum CanonicalBody {
  /// The stored form of a body; nil if it already has that form.
  ///
  /// What is returned has the same values as the body for every query, and is read from JSON text as
  /// the same document.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if there is no such form: the body is not a JSON
  ///   object, holds a name twice in an object, an integer beyond 64 bits or text that is not valid.
  package static func rewritten(_ body: UnsafeRawBufferPointer) throws(StoreError) -> [UInt8]? {
    var writer = JSONWriter(capacity: body.count + 64)
    writer.object(try object(body))
    if writer.failure == nil, writer.bytes.elementsEqual(body) { return nil }
    if isSealed(body, rewritten: writer.bytes) { return nil }
    // The reader of stored documents takes more than JSON; what it repairs or leaves out is lost.
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

  /// Whether a body is one of an encrypted store, whose first name begins with one `$` on purpose.
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

  /// A name that begins with one `$` and the same name with two are one name in stored form.
  private static func requireDistinctNames(_ value: DocumentValue) throws(StoreError) {
    switch value {
    case .object(let object):
      for (name, value) in object {
        if name.utf8.starts(with: "$$".utf8), object[String(name.unicodeScalars.dropFirst())] != nil
        {
          throw StoreError(.corruptDocument, "An object has two fields of one name")
        }
        try requireDistinctNames(value)
      }
    case .array(let array): for element in array { try requireDistinctNames(element) }
    default: break
    }
  }

  /// An import reads the same document.
  private static func requireReadable(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    var writer = JSONWriter(capacity: body.count + 64)
    writer.object(try DocumentObject(json: body, dialect: .extended))
    guard writer.failure == nil, writer.bytes.elementsEqual(body) else {
      throw StoreError(.corruptDocument, "A value has no form that reads back as the same")
    }
  }

  /// The error for a row of another program with a column that cannot be represented.
  package static var alteredRow: StoreError {
    StoreError(
      .corruptDocument,
      "A row holds a key, a class, a version or a moment that no document can have")
  }

  /// Whether a body may be written as one line of JSON: it begins with a brace and has no line breaks or
  /// other control characters.
  package static func isOneLine(_ body: UnsafeRawBufferPointer) -> Bool {
    guard body.first == ASCII.openBrace, body.last == ASCII.closeBrace else { return false }
    // Without a branch in the loop, the compiler compares many bytes at once.
    return body.reduce(UInt8.max) { min($0, $1) } >= ASCII.space
  }
}
