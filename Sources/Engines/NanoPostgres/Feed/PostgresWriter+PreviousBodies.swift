// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension PostgresReader {
  func keepsPreviousBodies(in collection: String) throws -> Bool {
    // A statement that names a missing table would end the transaction.
    let executed = try execute(collection) { ((), [$0.collection.previousBodies.exists]) }
    return executed?.results.first?.bool(0, 0) ?? false
  }

  func previousBody(
    ofRow rowID: Int64, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    guard try keepsPreviousBodies(in: collection) else { return false }
    let executed = try execute(collection) { ((), [$0.collection.previousBodies.ofRow(rowID)]) }
    guard let rows = executed?.results.first, rows.count > 0 else { return false }
    // Without the incarnation, so that it does not count as a version of the stored document.
    try rows.withDocument(0, nil, visit)
    return true
  }

  func previousBodies(
    after rowID: Int64?, limit: Int, in collection: String,
    _ visit: (StoredDocument) throws -> Void
  ) throws {
    guard try keepsPreviousBodies(in: collection) else { return }
    let executed = try execute(collection) {
      ((), [$0.collection.previousBodies.all(after: rowID, limit: limit)])
    }
    guard let rows = executed?.results.first else { return }
    for row in 0..<rows.count { try rows.withDocument(row, nil, visit) }
  }
}

extension PostgresWriter {
  func setKeepsPreviousBodies(_ keeps: Bool, of collection: String) throws {
    guard
      let table = keeps
        ? try tableForWriting(collection, isWhole: true) : try table(collection, isWhole: true),
      try keepsPreviousBodies(in: collection) != keeps
    else { return }
    noteWrite()
    let objects = table.collection.previousBodies
    guard keeps else {
      _ = try session.run(objects.removal)
      return
    }
    guard table.collection.layout != .distributed else {
      throw StoreError(
        .unsupported, "A distributed collection does not keep previous bodies",
        [.capability: "changeTracking", .collection: collection])
    }
    // What another program left behind would make the creation fail. Earlier versions of the library would leave kept
    // bodies that are encrypted with a former key.
    _ = try session.run(
      objects.removal + objects.creation + [PostgresSchema(names: names).raisingFormat])
  }

  func removePreviousBodies(ofRows rowIDs: [Int64], in collection: String) throws {
    guard !rowIDs.isEmpty, let table = try table(collection),
      try keepsPreviousBodies(in: collection)
    else { return }
    noteWrite()
    _ = try session.run(table.collection.previousBodies.remove(rowIDs))
  }

  func replacePreviousBody(
    ofRow rowID: Int64, with body: UnsafeRawBufferPointer, in collection: String
  ) throws {
    guard let table = try table(collection), try keepsPreviousBodies(in: collection) else {
      return
    }
    noteWrite()
    let json = try QueryableBody.json(body)
    let source: PostgresValue =
      table.collection.keepsSource || json.losesValues ? .utf8(Array(body)) : .null
    _ = try session.run(
      table.collection.previousBodies.replace(
        rowID, .json(json.changed ?? Array(body)), source: source))
  }
}
