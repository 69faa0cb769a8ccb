// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteWriter {
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a progress closure, where indexes are not
  ///   what they say.
  func requireFree() throws {
    try connection.requireTransaction()
    guard !isReorganizing else {
      throw StoreError(
        .invalidArgument, "Indexes are being made",
        [.hint: "a progress closure cannot use the store"])
    }
  }

  /// Writes a new document, whose leaves the block gathers.
  func indexing(
    _ leaves: WildcardIndex, _ write: () throws -> Int64
  ) throws -> Int64 {
    do {
      let id = try write()
      leaves.buffer.commit(id: id)
      if leaves.buffer.isFull { try leaves.flush(connection) }
      return id
    } catch {
      leaves.buffer.discard()
      throw error
    }
  }

  /// Changes a document that exists, or perhaps not, and keeps its leaves in step. Nothing of it
  /// counts if the block throws.
  ///
  /// - Parameters:
  ///   - body: What the document will be; nil if it goes away.
  ///   - write: Gives the document's row id, nil if there is no such document.
  func indexing(
    _ leaves: WildcardIndex, replacing identity: Identity, with body: UnsafeRawBufferPointer?,
    in table: CollectionTable, _ write: (_ known: Int64?) throws -> Int64?
  ) throws -> Int64? {
    let buffer = leaves.buffer
    do {
      let known = try gatherOld(identity, buffer, table)
      guard let id = try write(known) else {
        buffer.discard()
        return nil
      }
      if known != nil { buffer.commit(id: id) } else { buffer.discard() }
      if let body {
        try table.paths.observe(body, buffer)
        buffer.commit(id: id)
      }
      if buffer.isFull { try leaves.flush(connection) }
      return id
    } catch {
      buffer.discard()
      throw error
    }
  }

  /// The row id of a document, whose leaves are gathered to be removed.
  private func gatherOld(
    _ identity: Identity, _ buffer: WildcardIndexBuffer, _ table: CollectionTable
  ) throws -> Int64? {
    let kind: CollectionTable.Statement
    switch identity {
    case .key: kind = .bodyByKey
    case .rowID: kind = .bodyByRowID
    }
    return try connection.with(table, kind) { row in
      try bind(identity, row)
      guard try row.step() else { return nil }
      buffer.isRemoving = true
      do throws(StoreError) {
        try table.paths.observe(row.storedBytes(1), buffer)
      } catch {
        // What another program wrote and does not decode has never been indexed.
        buffer.discard()
      }
      return row.int(0)
    }
  }
}
