// SPDX-License-Identifier: MIT

import Foundation
import NanoSQLite
import NanoStoreModels

/// Passphrases, and the encrypted content of the file.
extension BNRCaseRunner {
  func performSealing(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "setPassphrase": try setPassphrase(step["value"]?.string ?? "")
    case "rawRecords":
      _ = try store
      let name = try type(step).collectionName
      let stored = try storedBodies(name)
      let areSealed = stored.allSatisfy { row, body in
        Self.isSealed(body) || plainRows[name]?.contains(row) == true
      }
      guard passphrase.isEmpty || areSealed else { throw failure("a document is not sealed") }
      let bodies = Array(stored.values)
      return [
        "count": .int(Int64(bodies.count)),
        "allDifferent": .bool(Set(bodies).count == bodies.count),
        "sameLength": .bool(Set(bodies.map(\.utf8.count)).count <= 1),
      ]
    default: return nil
    }
    return ["ok": true]
  }

  /// Sets the passphrase. It is checked when something is read.
  private func setPassphrase(_ new: String) throws {
    if isOpen, try context.hasUnsavedChanges {
      throw failure("a passphrase is given before there are changes to save")
    }
    try close()
    if passphrase.isEmpty, !new.isEmpty { try dropIndexes() }
    passphrase = new
  }

  /// Drops the indexes of a plain store, which would expose encrypted values and are rejected, and notes its documents,
  /// which remain plain until they are saved again.
  private func dropIndexes() throws {
    guard FileManager.default.fileExists(atPath: folder.file("case.db")) else { return }
    do {
      let plain = try openFile("case.db")
      for collection in try plain.collections() {
        try plain[collection.name].dropIndexes()
        let bodies = try storedBodies(collection.name).filter { !Self.isSealed($0.value) }
        plainRows[collection.name] = Set(bodies.keys)
      }
      try plain.close()
    } catch let error as StoreError where error.code == .wrongKey {
      // The store is encrypted already.
    }
  }

  /// Returns whether a document is stored in encrypted form.
  func isSealed(_ row: Int64, _ collection: String) throws -> Bool {
    guard !passphrase.isEmpty else { return false }
    return try storedBodies(collection)[row].map { Self.isSealed($0) } ?? false
  }

  private static func isSealed(_ body: String) -> Bool { body.hasPrefix(#"{"$sealed":"#) }

  /// Returns the bodies by row ID as stored, without decryption.
  private func storedBodies(_ collection: String) throws -> [Int64: String] {
    let engine = try SQLiteEngine(.file(folder.file("case.db")), SQLiteConfiguration())
    defer { try? engine.close() }
    var bodies: [Int64: String] = [:]
    try engine.read(.call, nil) { reader in
      try reader.find(Query(), in: collection) { stored in
        bodies[stored.rowID] = String(decoding: stored.body, as: UTF8.self)
        return true
      }
    }
    return bodies
  }
}
