// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

extension Bag {
  /// The bag as one object: its key, its name if it has one, and the keys of its members in order
  /// (row ids for documents without keys). ``members(limit:offset:)-(Int?,_)`` tells their collections.
  ///
  /// ```swift
  /// // {"key":"…","name":"favourites","members":["ada","dune"]}
  /// ```
  public func representation() throws -> DocumentObject {
    var object: DocumentObject = ["key": .string(key)]
    if let name { object["name"] = .string(name) }
    object["members"] = .array(
      try members().map { $0.key.map { .string($0) } ?? .int($0.rowID ?? 0) })
    return object
  }
  public func representation() async throws -> DocumentObject {
    try await onReader { try self.representation() }
  }

  /// What a person wants to know of the bag, as JSON: key, name, whether it has a store and unsaved
  /// changes, and how many members are saved, unsaved and removed.
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
  public func jsonDescription() async throws -> String {
    try await onReader { try self.jsonDescription() }
  }
}
