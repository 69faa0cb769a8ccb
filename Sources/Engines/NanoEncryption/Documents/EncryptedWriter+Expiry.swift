// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Expirations, which are stored by row ID and not encrypted. The rule of a collection is encrypted with its settings;
/// the inner engine, which cannot read documents, does not have it.
extension EncryptedReader {
  func expiringCollections() throws -> [String] { try inner.expiringCollections() }

  func expirations(ofRows rowIDs: [Int64], in collection: String) throws -> [Int64: Int64] {
    try inner.expirations(ofRows: rowIDs, in: collection)
  }

  func earliestExpiration(after time: Int64?, in collection: String) throws -> Int64? {
    try inner.earliestExpiration(after: time, in: collection)
  }
}

extension EncryptedWriter {
  var expiry: ExpiryLog {
    get { writer.expiry }
    set { writer.expiry = newValue }
  }

  func setExpirations(_ times: [(rowID: Int64, time: Int64?)], in collection: String) throws {
    try writer.setExpirations(times, in: collection)
  }

  func sweepExpired(limit: Int, from collection: String) throws -> Int {
    try writer.sweepExpired(limit: limit, from: collection)
  }

  /// Applies the rule of an encrypted collection to documents that were written.
  func applyRule(
    _ documents: some Sequence<(rowID: Int64, body: UnsafeRawBufferPointer)>, in collection: String
  ) throws {
    guard let rule = try expirationRule(of: collection) else { return }
    try writer.setExpirations(
      try documents.map { ($0.rowID, try rule.expiration(of: $0.body, at: time)) }, in: collection)
  }

  /// Returns the rule of a collection, whose settings are decrypted once per transaction.
  private func expirationRule(of collection: String) throws -> ExpirationRule? {
    let name = collection.folded
    if let known = rules[name] { return known }
    let rule = try settings(of: collection).expiration
    rules[name] = .some(rule)
    return rule
  }

  /// The time of the transaction.
  private var time: Int64 {
    if let writeTime { return writeTime }
    let now = clock.now()
    writeTime = now
    return now
  }

  /// Takes the rule from before a collection was encrypted from the inner engine, which would apply it to encrypted
  /// documents, and stores it encrypted. The documents expire as before.
  func sealRule(of collection: String) throws {
    guard try inner.settings(of: collection).expiration != nil else { return }
    let settings = try settings(of: collection)
    let times = try allExpirations(in: collection)
    let keepsExpired = writer.expiry.keepsExpired
    writer.expiry.keepsExpired = true
    defer { writer.expiry.keepsExpired = keepsExpired }
    // The inner engine forgets the expirations with the rule.
    try storeSettings(settings, of: collection)
    try writer.setExpirations(times, in: collection)
  }

  /// Returns the row IDs of the documents that have not expired, without reading the documents.
  private func rowIDs(of collection: String) throws -> [Int64] {
    try inner.rowIDs(Query(fields: []), in: collection).rowIDs
  }

  private func allExpirations(
    in collection: String
  ) throws -> [(rowID: Int64, time: Int64?)] {
    let rowIDs = try rowIDs(of: collection)
    var times: [(rowID: Int64, time: Int64?)] = []
    for start in stride(from: 0, to: rowIDs.count, by: Self.batch) {
      let part = Array(rowIDs[start..<min(start + Self.batch, rowIDs.count)])
      for (rowID, time) in try inner.expirations(ofRows: part, in: collection) {
        times.append((rowID, time))
      }
    }
    return times
  }

  /// Changes the rule of an encrypted collection, and applies it to the existing documents.
  func setExpirationRule(_ rule: ExpirationRule?, of collection: String) throws {
    rules[collection.folded] = .some(rule)
    try writer.setExpirations(try expirations(by: rule, in: collection), in: collection)
  }

  private func expirations(
    by rule: ExpirationRule?, in collection: String
  ) throws -> [(rowID: Int64, time: Int64?)] {
    guard case .field? = rule else {
      // The other rules read no field.
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      let expiration = try rule?.expiration(of: none, at: time)
      return try rowIDs(of: collection).map { ($0, expiration) }
    }
    let decryptor = DocumentDecryptor(ring, collection)
    var times: [(rowID: Int64, time: Int64?)] = []
    try inner.find(Query(), in: collection) { stored in
      do {
        let expiration = try decrypt(stored, decryptor, in: collection) {
          try rule?.expiration(of: $0.body, at: time)
        }
        times.append((stored.rowID, expiration))
      } catch let error as StoreError where error.code == .corruptDocument {
        // As in other stores, a document that does not decode does not expire.
        times.append((stored.rowID, nil))
      }
      return true
    }
    return times
  }
}
