// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteWriter {
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a progress closure, while indexes are inconsistent.
  func requireFree() throws {
    try connection.requireTransaction()
    guard !isReorganizing else {
      throw StoreError(
        .invalidArgument, "The store cannot be used while indexes are being built",
        [.hint: "do not use the store in a progress closure"])
    }
  }

  /// Writes a new document, whose scalar values are collected by the block, and updates the wildcard index.
  func indexing(
    _ wildcardIndex: WildcardIndex, _ write: () throws -> Int64
  ) throws -> Int64 {
    do {
      let id = try write()
      wildcardIndex.buffer.commit(id: id)
      if wildcardIndex.buffer.isFull { try wildcardIndex.flush(connection) }
      return id
    } catch {
      wildcardIndex.buffer.discard()
      throw error
    }
  }

  /// Changes or deletes a document, which may not exist, and updates the wildcard index. Nothing is indexed if
  /// the block throws.
  ///
  /// - Parameters:
  ///   - body: The new body; `nil` if the document is deleted.
  ///   - write: Returns the document's row ID, or `nil` if there is no such document.
  func indexing(
    _ wildcardIndex: WildcardIndex, replacing identity: Identity,
    with body: UnsafeRawBufferPointer?,
    in table: CollectionTable, _ write: (_ existingID: Int64?) throws -> Int64?
  ) throws -> Int64? {
    let buffer = wildcardIndex.buffer
    do {
      let existingID = try collectOld(identity, buffer, table)
      guard let id = try write(existingID) else {
        buffer.discard()
        return nil
      }
      if existingID != nil { buffer.commit(id: id) } else { buffer.discard() }
      if let body {
        try table.paths.observe(body, buffer)
        buffer.commit(id: id)
      }
      if buffer.isFull { try wildcardIndex.flush(connection) }
      return id
    } catch {
      buffer.discard()
      throw error
    }
  }

  /// Returns the row ID of a document, and collects its indexed values for removal.
  private func collectOld(
    _ identity: Identity, _ buffer: WildcardIndexBuffer, _ table: CollectionTable
  ) throws -> Int64? {
    let kind: CollectionTable.Statement = identity.isKey ? .bodyByKey : .bodyByRowID
    return try connection.with(table, kind) { row in
      try bind(identity, row)
      guard try row.step() else { return nil }
      let id = row.int(0)
      // The row of another program that could not be adopted has no entries. To remove them and insert them again would
      // be nothing to do, as for a document that is replaced by one with the same values.
      guard row.int(2) == 0 else { return id }
      buffer.isRemoving = true
      do throws(StoreError) {
        try table.paths.observe(row.storedBytes(1), buffer)
      } catch {
        // A document of another program that does not decode was never indexed.
        buffer.discard()
      }
      return id
    }
  }
}
