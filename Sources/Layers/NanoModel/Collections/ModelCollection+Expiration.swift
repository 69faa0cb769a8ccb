// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine
import NanoStoreCore

extension ModelCollection {
  /// Sets when the value with a key expires; nil for never.
  ///
  /// See ``NanoStoreCore/DocumentCollection/setExpiration(_:of:)-(_,String)``. A rule for all values is an argument of
  /// ``Model(collection:version:expires:)``.
  ///
  /// - Returns: Whether the value exists.
  /// - Throws: ``StoreError/Code/invalidArgument`` for a date beyond the year 9999. Nothing has changed.
  @discardableResult
  public func setExpiration(_ date: Date?, of key: String) throws -> Bool {
    try documents.setExpiration(date, of: key)
  }
  /// The asynchronous form of `setExpiration(_:of:)`, which does not block the calling thread.
  @discardableResult
  public func setExpiration(_ date: Date?, of key: String) async throws -> Bool {
    try await documents.setExpiration(date, of: key)
  }

  /// Sets when the value with a typed key expires; nil for never.
  @discardableResult
  public func setExpiration(_ date: Date?, of key: some ModelKey) throws -> Bool {
    guard let key = try key.documentKey else { return false }
    return try documents.setExpiration(date, of: key.description)
  }
  /// The asynchronous form of `setExpiration(_:of:)` for a typed key, which does not block the calling thread.
  @discardableResult
  public func setExpiration(_ date: Date?, of key: some ModelKey & Sendable) async throws -> Bool {
    try await documents.onWriter { try self.setExpiration(date, of: key) }
  }

  /// Sets when the value with a row ID expires; nil for never.
  @discardableResult
  public func setExpiration(_ date: Date?, rowID: Int64) throws -> Bool {
    try documents.setExpiration(date, rowID: rowID)
  }
  /// The asynchronous form of `setExpiration(_:rowID:)`, which does not block the calling thread.
  @discardableResult
  public func setExpiration(_ date: Date?, rowID: Int64) async throws -> Bool {
    try await documents.setExpiration(date, rowID: rowID)
  }

  /// Returns when the value with a key expires; nil if it does not, or does not exist.
  public func expiration(of key: String) throws -> Date? { try documents.expiration(of: key) }
  /// The asynchronous form of `expiration(of:)`, which does not block the calling thread.
  public func expiration(of key: String) async throws -> Date? {
    try await documents.expiration(of: key)
  }

  /// Returns when the value with a typed key expires; nil if it does not, or does not exist.
  public func expiration(of key: some ModelKey) throws -> Date? {
    guard let key = try key.documentKey else { return nil }
    return try documents.expiration(of: key.description)
  }
  /// The asynchronous form of `expiration(of:)` for a typed key, which does not block the calling thread.
  public func expiration(of key: some ModelKey & Sendable) async throws -> Date? {
    try await documents.onReader { try self.expiration(of: key) }
  }

  /// Returns when the value with a row ID expires; nil if it does not, or does not exist.
  public func expiration(rowID: Int64) throws -> Date? { try documents.expiration(rowID: rowID) }
  /// The asynchronous form of `expiration(rowID:)`, which does not block the calling thread.
  public func expiration(rowID: Int64) async throws -> Date? {
    try await documents.expiration(rowID: rowID)
  }
}

extension ModelCollection {
  /// Applies the rule that the model declares to the collection. Does nothing if it is the same.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a field that the model does not have, with which no value
  ///   would ever expire.
  func prepareExpiration() throws {
    guard let rule = M.expirationRule else { return }
    if case .field(let path, _) = rule {
      let name = path.components.first ?? ""
      guard M.modelFields.contains(where: { $0.name.hasSameBytes(as: name) }) else {
        throw StoreError(
          .invalidArgument, "The expiration of a model names a field that the model does not have",
          [.collection: self.name, .field: path.description])
      }
    }
    try documents.setExpirationRule(rule)
  }
}
