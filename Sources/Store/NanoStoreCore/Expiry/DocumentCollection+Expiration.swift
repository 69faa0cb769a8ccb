// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
public import NanoEngine

extension DocumentCollection {
  /// Sets when a document expires; nil for never.
  ///
  /// ```swift
  /// try sessions.save(["user": "ada"], key: "s1")
  /// try sessions.setExpiration(.now.addingTimeInterval(3_600), of: "s1")      // true
  /// try sessions.setExpiration(nil, of: "s1")                                 // it stays
  /// ```
  ///
  /// Once it has expired, no read returns the document, as if it had been deleted, and its key can be reused. The store
  /// deletes it soon after, and the change feed then reports a deletion. Live queries stop returning it as soon as it
  /// expires. A date in the past expires it immediately.
  ///
  /// A document keeps its expiration when it is updated or replaced. In a collection with an
  /// ``setExpirationRule(_:)-(ExpirationRule?)`` the next write applies the rule again. Setting an expiration is not a
  /// change of the document: its revision stays the same, and the change feed has no entry for it.
  ///
  /// - Returns: Whether the document exists.
  /// - Throws: ``StoreError/Code/invalidArgument`` for a date beyond the year 9999; ``StoreError/Code/unsupported`` if
  ///   the engine does not support expiration. Nothing has changed.
  @discardableResult
  public func setExpiration(_ date: Date?, of key: String) throws -> Bool {
    try setExpiration(date, .key(DocumentKey(key)))
  }
  /// The asynchronous form of `setExpiration(_:of:)`, which does not block the calling thread.
  @discardableResult
  public func setExpiration(_ date: Date?, of key: String) async throws -> Bool {
    try await onWriter { try self.setExpiration(date, of: key) }
  }

  /// Sets when the document with a row ID expires; see ``setExpiration(_:of:)-(_,String)``.
  @discardableResult
  public func setExpiration(_ date: Date?, rowID: Int64) throws -> Bool {
    try setExpiration(date, .rowID(rowID))
  }
  /// The asynchronous form of `setExpiration(_:rowID:)`, which does not block the calling thread.
  @discardableResult
  public func setExpiration(_ date: Date?, rowID: Int64) async throws -> Bool {
    try await onWriter { try self.setExpiration(date, rowID: rowID) }
  }

  /// Returns when a document expires; nil if it does not, or does not exist.
  public func expiration(of key: String) throws -> Date? {
    try expiration(of: .key(DocumentKey(key)))
  }
  /// The asynchronous form of `expiration(of:)`, which does not block the calling thread.
  public func expiration(of key: String) async throws -> Date? {
    try await onReader { try self.expiration(of: key) }
  }

  /// Returns when the document with a row ID expires; nil if it does not, or does not exist.
  public func expiration(rowID: Int64) throws -> Date? { try expiration(of: .rowID(rowID)) }
  /// The asynchronous form of `expiration(rowID:)`, which does not block the calling thread.
  public func expiration(rowID: Int64) async throws -> Date? {
    try await onReader { try self.expiration(rowID: rowID) }
  }

  /// Sets the rule by which documents of the collection expire; nil for none.
  ///
  /// ```swift
  /// try sessions.setExpirationRule(.after(.seconds(3_600)))      // an hour after the last write
  /// try coupons.setExpirationRule(.field("validUntil"))          // at the date in a field
  /// ```
  ///
  /// The rule is stored with the collection, which is created if needed, and applies to every document that is written
  /// afterward: inserted, saved, updated or imported, by this store, by another process, or on SQLite by another
  /// program. It also applies to existing documents, as if they were written now. Setting a different rule, or none,
  /// first removes the expirations of all documents, including those set with ``setExpiration(_:of:)-(_,String)``;
  /// setting the same rule does nothing.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a duration under a microsecond or over a thousand years, or a
  ///   field whose name contains a quote, a backslash or a control character; ``StoreError/Code/invalidPath``;
  ///   ``StoreError/Code/unsupported``. The rule is unchanged.
  public func setExpirationRule(_ rule: ExpirationRule?) throws {
    try changeSettings { $0.expiration = rule }
  }
  /// The asynchronous form of `setExpirationRule(_:)`, which does not block the calling thread.
  public func setExpirationRule(_ rule: ExpirationRule?) async throws {
    try await onWriter { try self.setExpirationRule(rule) }
  }

  /// Returns the rule by which documents of the collection expire; nil if there is none.
  public func expirationRule() throws -> ExpirationRule? { try settings().expiration }
  /// The asynchronous form of `expirationRule()`, which does not block the calling thread.
  public func expirationRule() async throws -> ExpirationRule? {
    try await onReader { try self.expirationRule() }
  }
}

extension DocumentCollection {
  private func setExpiration(_ date: Date?, _ identity: Identity) throws -> Bool {
    try InternalCollection.refuse(name)
    let time = try date.map { date throws(StoreError) in
      guard let time = date.microsecondsSince1970 else {
        throw StoreError(.invalidArgument, "A date is out of range", [.limit: "the year 9999"])
      }
      return time
    }
    return try writing(atomic: true) { writer in
      guard let rowID = try Self.rowID(identity, in: name, writer) else { return false }
      try writer.setExpirations([(rowID, time)], in: name)
      return true
    }
  }

  private func expiration(of identity: Identity) throws -> Date? {
    try reading(.snapshot) { reader in
      guard let rowID = try Self.rowID(identity, in: name, reader) else { return nil }
      return try reader.expirations(ofRows: [rowID], in: name)[rowID]
        .map { Date(microsecondsSince1970: $0) }
    }
  }

  /// Returns the row ID of an existing document.
  private static func rowID(
    _ identity: Identity, in name: String, _ reader: any EngineReader
  ) throws -> Int64? {
    var rowID: Int64?
    _ = try reader.get(identity, in: name) { rowID = $0.rowID }
    return rowID
  }
}
