// SPDX-License-Identifier: MIT

import NanoStore

/// Reports documents that cannot be written unchanged, while the others are written.
///
/// Only other programs write such documents: with duplicate field names, integers beyond 64 bits, invalid UTF-8, or
/// bytes that are not JSON.
struct UnrepresentableDocuments {
  private var count = 0

  /// Runs a closure that writes a document, and reports the document if import could not restore it.
  ///
  /// - Returns: Whether the document was written.
  mutating func attempt(_ document: Document, _ write: () throws -> Void) throws -> Bool {
    do {
      try write()
      return true
    } catch let error as StoreError where error.code == .corruptDocument {
      note(document.collection, document.rowID, error)
      return false
    }
  }

  /// Returns the fields of a document as queries see them; reports a document that has none, and returns nil.
  mutating func object(of document: Document) throws -> DocumentObject? {
    do {
      return try document.object()
    } catch let failure {
      // Writing it finds what import would report.
      var writer = JSONWriter()
      let isWritten = try attempt(document) { try document.write(to: &writer) }
      guard !isWritten else { throw failure }
      return nil
    }
  }

  /// Returns the fields of a document as queries see them, or nil if it has none; reports a document whose fields are
  /// not exactly these.
  mutating func checkedObject(of document: Document) throws -> DocumentObject? {
    var writer = JSONWriter()
    var object: DocumentObject?
    let isWritten = try attempt(document) {
      try document.write(to: &writer)
      object = try document.object()
    }
    return isWritten ? object : try? document.object()
  }

  /// Reports a document that an export skipped.
  mutating func note(_ document: SkippedDocument, in collection: String) throws {
    guard let error = document.error as? StoreError else { throw document.error }
    note(collection, document.rowID, error)
  }

  private mutating func note(_ collection: String?, _ rowID: Int64?, _ error: StoreError) {
    count += 1
    let location = [
      collection.map { "collection \($0)" }, rowID.map { "row ID \($0)" },
    ].compactMap(\.self).joined(separator: ", ")
    let reason = error.removing(.collection).removing(.rowID)
    Diagnostics.print(TerminalText.text("\(location): \(FailureReport.sentence(reason))"))
  }

  /// - Throws: ``CommandFailure`` if any document could not be written.
  func finish() throws {
    guard count > 0 else { return }
    throw CommandFailure(
      message:
        "\(Quantity.documents(count)) cannot be written unchanged; nanostore verify lists all of them"
    )
  }
}
