// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine

// For layers that identify documents by row ID and assign row IDs in advance.
extension DocumentCollection {
  /// Returns the row ID of the next new document. Call it inside a `write` block.
  ///
  /// No document has ever had this row ID or a later one, so documents that refer to each other can
  /// be written with the row IDs that they will have.
  public func nextRowID() throws -> Int64 {
    try writing { try $0.nextRowID(in: name) }
  }

  /// Passes the document with this row ID to the closure, as the engine stores it, and returns
  /// whether it exists.
  @discardableResult
  package func visit(
    rowID: Int64, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try checkFailure()
    if TransactionContext.current(of: store) == nil, !store.queues.isBusy {
      let (engine, isCollecting) = try store.engineAndBuffer()
      if !isCollecting {
        return try engine.get(.rowID(rowID), in: name, Interruption.current, visit)
      }
    }
    return try reading(.call) { try $0.get(.rowID(rowID), in: name, visit) }
  }

  /// Returns the current content version of this row; nil if the row does not exist or another
  /// program wrote it.
  package func contentVersion(rowID: Int64) throws -> ContentVersion? {
    try reading(.call) { try $0.version(ofRow: rowID, in: name) }
  }
}
