// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine

/// For layers that know documents by their row ids, and say them beforehand.
extension DocumentCollection {
  /// The row id of the next new document, inside of a `write` block. Nor had any document one of those that
  /// follow, so that documents which mention each other can be written with the ids that they will have.
  public func nextRowID() throws -> Int64 {
    try writing { try $0.nextRowID(in: name) }
  }

  /// Shows the document with this row id as the engine has it, and says whether there is one.
  @discardableResult
  package func show(
    rowID: Int64, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try checkFailure()
    if TransactionContext.current(of: store) == nil, !store.queues.isBusy {
      let (engine, isCollecting) = try store.engineAndBuffer()
      if !isCollecting {
        return try engine.get(.rowID(rowID), in: name, Interruption.current, show)
      }
    }
    return try reading(.call) { try $0.get(.rowID(rowID), in: name, show) }
  }

  /// What the row of this id holds at present; nil if there is none, or another program wrote it.
  package func contentVersion(rowID: Int64) throws -> ContentVersion? {
    try reading(.call) { try $0.version(ofRow: rowID, in: name) }
  }
}
