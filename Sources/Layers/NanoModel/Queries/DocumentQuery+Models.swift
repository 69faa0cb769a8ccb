// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine
public import NanoStoreCore

/// The calls for values with a codec of their own. A model also has a key, a version and upgrades, so
/// they do the same as those of ``ModelQuery``.
extension DocumentQuery {
  /// Returns the matching documents decoded as a model.
  ///
  /// ```swift
  /// let films = try store["films"].find("[year] < 1980").decoded(as: Film.self)
  /// ```
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` with the document and the field if a document does
  ///   not decode, and the errors of the model's upgrades.
  public func decoded<M: Model>(as type: M.Type = M.self) throws -> [M] {
    var models: [M] = []
    try eachContent(of: type) { content, decoder in models.append(try decoder.value(content)) }
    return models
  }
  /// The asynchronous form of `decoded(as:)`, which does not block the calling thread.
  public func decoded<M: Model>(as type: M.Type = M.self) async throws -> sending [M] {
    try await collection.fromReader { try self.decoded(as: type) }
  }

  /// Calls a closure with each matching document decoded as a model.
  ///
  /// Values are not kept in memory, except inside a write block, where all are read before the closure is first called.
  ///
  /// - Throws: The errors of `decoded(as:)`, and those of the closure, which end the query.
  public func each<M: Model>(as type: M.Type, _ show: (M) throws -> Void) throws {
    if isInWriteBlock {
      for model in try decoded(as: type) { try show(model) }
      return
    }
    try eachContent(of: type) { content, decoder in try show(try decoder.value(content)) }
  }
  /// The asynchronous form of `each(as:_:)`, which does not block the calling thread. The closure
  /// runs on a thread of the store.
  public func each<M: Model>(
    as type: M.Type, _ show: @escaping @Sendable (M) throws -> Void
  ) async throws {
    try await collection.onReader { try self.each(as: type, show) }
  }

  /// Returns the matching documents decoded as a model, skipping those that do not decode.
  public func decodedSkippingFailures<M: Model>(
    as type: M.Type = M.self
  ) throws -> (values: [M], skipped: [SkippedDocument]) {
    var (values, skipped): ([M], [SkippedDocument]) = ([], [])
    try scan(type, { skipped.append($0) }, { values.append($0) })
    return (values, skipped)
  }
  /// The asynchronous form of `decodedSkippingFailures(as:)`, which does not block the calling
  /// thread.
  public func decodedSkippingFailures<M: Model>(
    as type: M.Type = M.self
  ) async throws -> sending (values: [M], skipped: [SkippedDocument]) {
    try await collection.fromReader { try self.decodedSkippingFailures(as: type) }
  }

  /// Calls a closure with each matching document decoded as a model.
  ///
  /// Documents that do not decode are reported and skipped. Values are not kept in memory, except inside a write block,
  /// where all are read before a closure is first called, and the skipped documents are reported first.
  ///
  /// - Throws: An error thrown by a closure, which ends the query.
  public func each<M: Model>(
    as type: M.Type, onFailure: (SkippedDocument) throws -> Void, _ show: (M) throws -> Void
  ) throws {
    guard isInWriteBlock else { return try scan(type, onFailure, show) }
    let (models, skipped) = try decodedSkippingFailures(as: type)
    for document in skipped { try onFailure(document) }
    for model in models { try show(model) }
  }

  private func scan<M: Model>(
    _ type: M.Type, _ onFailure: (SkippedDocument) throws -> Void, _ show: (M) throws -> Void
  ) throws {
    let decoder = ModelDecoder<M>(collection.name)
    try visitStored { stored in
      let value: M
      do throws(StoreError) {
        value = try decoder.value(stored)
      } catch {
        try onFailure(SkippedDocument(stored, error))
        return true
      }
      try show(value)
      return true
    }
  }
  /// The asynchronous form of `each(as:onFailure:_:)`, which does not block the calling thread. The
  /// closures run on a thread of the store.
  public func each<M: Model>(
    as type: M.Type, onFailure: @escaping @Sendable (SkippedDocument) throws -> Void,
    _ show: @escaping @Sendable (M) throws -> Void
  ) async throws {
    try await collection.onReader { try self.each(as: type, onFailure: onFailure, show) }
  }

  /// Returns a live query whose results are decoded as a model; see
  /// ``NanoStoreCore/DocumentQuery/updates()``.
  ///
  /// - Throws: During iteration, also the errors of `decoded(as:)`.
  public func updates<M: Model & Sendable>(as type: M.Type) -> DocumentUpdates<M> {
    let decoder = ModelDecoder<M>(collection.name)
    return decodedUpdates { try decoder.value($0) }
  }

  /// Passes the content of each result to a closure that decodes it.
  ///
  /// Only the columns that decoding needs are read. If a document does not decode, the query reads
  /// complete rows again to identify the document in the error.
  package func eachContent<M: Model>(
    of type: M.Type, _ body: (StoredContent, ModelDecoder<M>) throws -> Void
  ) throws {
    let decoder = ModelDecoder<M>(collection.name)
    do {
      try visitContents(withKeys: M.fieldTable.hasKey) { content in
        try body(content, decoder)
        return true
      }
    } catch let error as StoreError
      where error.code == .typeMismatch || error.code == .corruptDocument
    {
      try visitStored { stored in
        _ = try decoder.value(stored)
        return true
      }
      throw error
    }
  }
}
