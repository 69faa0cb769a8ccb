// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoServer
import NanoStoreCore

/// Changes, which ``InspectorOptions/allowsWrites`` allows.
extension Inspector {
  func write(
    _ name: String, _ collection: DocumentCollection, _ request: ServerRequest
  ) async throws -> Wire {
    let body = try DocumentObject(json: request.body)
    switch name {
    case "replace": return try await replace(in: collection, body)
    case "delete": return try await delete(in: collection, body)
    case "resolve": return try await resolve(in: collection, body)
    case "create-index":
      let keys = try Self.text("keys", body)
      let index = try await collection.createIndex(
        keys: keys, unique: body["isUnique"]?.bool ?? false)
      return ["name": .string(index.name)]
    case "drop-index":
      return ["dropped": .bool(try await collection.dropIndex(try Self.text("name", body)))]
    default: throw RouteError.unknownRoute
    }
  }

  /// Replaces a document if it still has the revision that the page shows; otherwise returns the stored one.
  private func replace(in collection: DocumentCollection, _ body: DocumentObject) async throws
    -> Wire
  {
    let (rowID, revision) = (try Self.integer("rowID", body), try Self.integer("revision", body))
    let object = try DocumentObject(json: try Self.text("json", body))
    return try await store.write { () -> Wire in
      let stored = try Self.stored(rowID, in: collection)
      guard stored.revision == revision else { return ["conflict": Self.whole(stored)] }
      let changed = try Self.document(stored, with: object)
      if body["check"]?.bool == true { return ["preview": Self.whole(changed)] }
      return ["saved": Self.whole(try collection.replace(changed, ifRevision: revision))]
    }
  }

  /// Returns the stored document, with a revision if possible, by which a page can edit it again.
  private static func stored(_ rowID: Int64, in collection: DocumentCollection) throws -> Document {
    guard let found = try collection.get(rowID: rowID) else {
      throw RouteError.missing("The document")
    }
    guard found.revision == nil else { return found }
    // The first use of a collection by a writer gives the rows of other programs a revision.
    _ = try collection.nextRowID()
    return try collection.get(rowID: rowID) ?? found
  }

  /// Returns a document with other fields, all at once, because paths do not name every field.
  private static func document(
    _ stored: Document, with object: DocumentObject
  ) throws -> Document {
    var writer = JSONWriter()
    writer.object(object)
    if let failure = writer.failure { throw failure }
    return writer.withBytes { Document(stored.header, copying: $0) }
  }

  /// Deletes a document if it still has the revision that the page shows; otherwise returns the stored one.
  private func delete(in collection: DocumentCollection, _ body: DocumentObject) async throws
    -> Wire
  {
    let (rowID, revision) = (try Self.integer("rowID", body), try Self.integer("revision", body))
    return try await store.write { () -> Wire in
      let stored = try Self.stored(rowID, in: collection)
      guard stored.revision == revision else { return ["conflict": Self.whole(stored)] }
      return ["deleted": .bool(try collection.delete(stored))]
    }
  }

  static func text(_ name: String, _ body: DocumentObject) throws -> String {
    guard let text = body[name]?.string else { throw RouteError.invalid(name, "a string") }
    return text
  }

  private static func integer(_ name: String, _ body: DocumentObject) throws -> Int64 {
    guard let number = body[name]?.string.flatMap({ Int64($0) }) else {
      throw RouteError.invalid(name, "the digits of an integer")
    }
    return number
  }
}
