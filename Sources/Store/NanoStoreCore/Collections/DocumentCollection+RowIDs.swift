// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

/// For layers that know documents by their row ids, and say them beforehand.
extension DocumentCollection {
  /// The row id of the next new document, inside of a `write` block. Nor had any document one of those that
  /// follow, so that documents which mention each other can be written with the ids that they will have.
  public func nextRowID() throws -> Int64 {
    try writing { try $0.nextRowID(in: name) }
  }

  /// Shows the document with this row id as the engine has it, and says whether there is one.
  @discardableResult
  public func show(
    rowID: Int64, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    if TransactionContext.current(of: store) == nil, !store.queues.isBusy {
      let (engine, isCollecting) = try store.engineAndBuffer()
      if !isCollecting {
        return try engine.get(.rowID(rowID), in: name, Interruption.current, show)
      }
    }
    return try reading(.call) { try $0.get(.rowID(rowID), in: name, show) }
  }

  /// What the row of this id holds at present; nil if there is none, or another program wrote it.
  public func contentVersion(rowID: Int64) throws -> ContentVersion? {
    try reading(.call) { try $0.version(ofRow: rowID, in: name) }
  }

  /// Replaces the body of a document by what the buffer holds, and empties the buffer.
  ///
  /// - Parameter revision: The revision that the document must have; any if nil.
  /// - Returns: False if there is no document with this row id, or one of another revision. It stays what
  ///   it is.
  /// - Throws: ``StoreError/Code/uniqueViolation`` and others. Nothing was replaced.
  public func replace(
    rowID: Int64, revision: Int64?, version: Int64?, _ writer: inout JSONWriter
  ) throws -> Bool {
    try InternalCollection.refuse(name)
    defer { writer.removeAll() }
    try store.checkNames(writer.bytes)
    try writer.checkStorable(limit: store.maximumDocumentSize)
    let document = NewDocument(
      key: nil, version: version, added: 0, replacedRevision: revision, body: writer.bytes)
    return try writing { try $0.replace(.rowID(rowID), with: document, in: name) }
  }
}
