// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

extension Bag {
  /// Returns the bag as an object: its key, its name if it has one, and the keys of its members in
  /// order.
  ///
  /// Documents without keys appear with their row IDs. The collections of the members are available
  /// from ``members(limit:offset:)-(Int?,_)``.
  ///
  /// ```swift
  /// // {"key":"…","name":"favorites","members":["ada","dune"]}
  /// ```
  public func representation() throws -> DocumentObject {
    var object: DocumentObject = ["key": .string(key)]
    if let name { object["name"] = .string(name) }
    object["members"] = .array(
      try members().map { $0.key.map { .string($0) } ?? .int($0.rowID ?? 0) })
    return object
  }
  /// The asynchronous form of `representation()`, which does not block the calling thread.
  public func representation() async throws -> DocumentObject {
    try await onReader { try self.representation() }
  }

  /// Returns a summary of the bag as JSON: its key and name, whether it has a store and unsaved
  /// changes, and the numbers of saved, unsaved and removed members.
  public func jsonDescription() throws -> String {
    var writer = JSONWriter()
    writer.object([
      "key": .string(key), "name": .string(name ?? "<untitled>"),
      "hasStore": .bool(store != nil), "hasUnsavedChanges": .bool(hasUnsavedChanges),
      "saved": .int(Int64(try saved.count())), "unsaved": .int(Int64(try unsaved.count())),
      "removed": .int(Int64(try removed.count())),
    ])
    return writer.text
  }
  /// The asynchronous form of `jsonDescription()`, which does not block the calling thread.
  public func jsonDescription() async throws -> String {
    try await onReader { try self.jsonDescription() }
  }
}
