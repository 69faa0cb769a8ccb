// SPDX-License-Identifier: MIT

import Foundation
public import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentQuery {
  /// Returns the matching documents decoded to a type.
  ///
  /// - Throws: `DecodingError` for a document whose fields do not match the type.
  @_disfavoredOverload
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> [Value] {
    let decoder = DocumentDecoder()
    var values: [Value] = []
    try eachBody { values.append(try decoder.decode(type, from: $0)) }
    return values
  }
  /// The asynchronous form of `decoded(as:)`, which does not block the calling thread.
  @_disfavoredOverload
  public func decoded<Value: Decodable & SendableMetatype>(
    as type: Value.Type = Value.self
  ) async throws -> sending [Value] {
    try await fromReader { try $0.decoded(as: type) }
  }

  /// Returns the matching documents decoded by the type's own codec.
  @inlinable
  public func decoded<Value: DocumentRepresentable>(
    as type: Value.Type = Value.self
  ) throws -> [Value] {
    var values: [Value] = []
    try eachBody { body in
      var reader = JSONReader(body)
      values.append(try Value(reading: &reader))
    }
    return values
  }
  /// The asynchronous form of `decoded(as:)`, which does not block the calling thread.
  public func decoded<Value: DocumentRepresentable>(
    as type: Value.Type = Value.self
  ) async throws -> sending [Value] {
    try await fromReader { try $0.decoded(as: type) }
  }

  /// Calls a closure with each matching document decoded by the type's own codec.
  ///
  /// Values are not kept in memory, except inside a write block, where all are read before the closure is first called.
  @inlinable
  public func each<Value: DocumentRepresentable>(
    as type: Value.Type, _ visit: (Value) throws -> Void
  ) throws {
    if isInWriteBlock {
      for value in try decoded(as: type) { try visit(value) }
      return
    }
    try eachBody { body in
      var reader = JSONReader(body)
      try visit(try Value(reading: &reader))
    }
  }
  /// The asynchronous form of `each(as:_:)`, which does not block the calling thread. The closure
  /// runs on a thread of the store.
  public func each<Value: DocumentRepresentable>(
    as type: Value.Type, _ visit: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await onReader { try $0.each(as: type, visit) }
  }

  /// Calls a closure with each matching document decoded to a type.
  ///
  /// Values are not kept in memory, except inside a write block, where all are read before the closure is first called.
  @_disfavoredOverload
  public func each<Value: Decodable>(
    as type: Value.Type, _ visit: (Value) throws -> Void
  ) throws {
    if isInWriteBlock {
      for value in try decoded(as: type) { try visit(value) }
      return
    }
    let decoder = DocumentDecoder()
    try eachBody { try visit(try decoder.decode(type, from: $0)) }
  }
  /// The asynchronous form of `each(as:_:)`, which does not block the calling thread. The closure
  /// runs on a thread of the store.
  @_disfavoredOverload
  public func each<Value: Decodable & SendableMetatype>(
    as type: Value.Type, _ visit: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await onReader { try $0.each(as: type, visit) }
  }
}

extension DocumentQuery {
  /// Whether the current code runs inside a write block of the store.
  ///
  /// A scan could find there what a closure writes, without end.
  @usableFromInline package var isInWriteBlock: Bool {
    TransactionContext.current(of: collection.store)?.writer != nil
  }
}
