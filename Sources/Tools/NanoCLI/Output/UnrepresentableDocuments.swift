// SPDX-License-Identifier: MIT

import NanoStore

/// Reports documents that cannot be written as they are, while the others are.
///
/// Only another program can have written one: with two fields of one name, an integer beyond 64 bits, text that is
/// not valid, or bytes that are not JSON.
struct UnrepresentableDocuments {
  private var count = 0

  /// Runs a block that writes a document, and reports the document if it has no form that an import reads back.
  ///
  /// - Returns: Whether it was written.
  mutating func attempt(_ document: Document, _ write: () throws -> Void) throws -> Bool {
    do {
      try write()
      return true
    } catch let error as StoreError where error.code == .corruptDocument {
      note(document, error)
      return false
    }
  }

  private mutating func note(_ document: Document, _ error: StoreError) {
    count += 1
    let place = [
      document.collection.map { "collection \($0)" }, document.rowID.map { "row id \($0)" },
    ].compactMap(\.self).joined(separator: ", ")
    let reason = error.removing(.collection).removing(.rowID)
    Diagnostics.print(TerminalText.text("\(place): \(FailureReport.sentence(reason))"))
  }

  /// - Throws: If there was one.
  func finish() throws {
    guard count > 0 else { return }
    throw CommandFailure(
      message: "\(Quantity.documents(count)) cannot be written unchanged; verify lists them all")
  }
}
