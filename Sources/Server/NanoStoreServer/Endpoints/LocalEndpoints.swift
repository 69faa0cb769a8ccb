// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import HTTPTypes
import NanoDocument
import NanoSync

// Local documents: checkpoints of clients. All who may read a database may write them, or they could not pull.
extension SyncHandler {
  func localDocument(_ name: String, _ access: Access) async throws -> SyncResponse {
    guard !name.isEmpty else { throw ProtocolError.badRequest("Invalid _local document id.") }
    let id = "_local/\(name)"
    switch access.request.verb {
    case "GET":
      guard let found = try await access.served.run({ try $0.local(name) }) else {
        throw ProtocolError.missing
      }
      return .json(Self.json(id, found), headers: Self.tag(found.body))
    case "PUT":
      let bytes = try await access.request.plainBody(limit: configuration.maximumDocument)
        .collect(limit: configuration.maximumDocument)
      let object = try DocumentParser.object(bytes)
      if object["_deleted"] == true {
        guard try await access.served.write({ try $0.removeLocal(name) }) else {
          throw ProtocolError.missing
        }
        return .json(Self.outcome(id, 0))
      }
      let (body, count) = try Self.localBody(object, access.request["rev"])
      return try await putLocal(name, body, count, access)
    case "DELETE":
      guard try await access.served.write({ try $0.removeLocal(name) }) else {
        throw ProtocolError.missing
      }
      return .json(Self.outcome(id, 0))
    default: throw MethodNotAllowed.error(["DELETE", "GET", "POST", "PUT"])
    }
  }

  /// Stores a local document, and returns the response.
  func putLocal(
    _ name: String, _ body: DocumentObject, _ count: Int, _ access: Access
  ) async throws -> SyncResponse {
    let id = "_local/\(name)"
    let stored = try await access.served.write { try $0.setLocal(name, body, count: count) }
    var headers = Self.tag(body)
    headers[.location] = access.request.location([access.served.name, id])
    return .json(Self.outcome(id, stored), status: 201, headers: headers)
  }

  /// Interprets a local document: its content, and how often it was written before.
  static func localBody(
    _ object: DocumentObject, _ parameter: String? = nil
  ) throws(ProtocolError) -> (body: DocumentObject, count: Int) {
    var body = object
    for name in ["_id", "_rev", "_revisions", "_attachments", "_deleted"] { body[name] = nil }
    let revision = object["_rev"] == .null ? nil : object["_rev"]
    guard let text = revision.map({ $0.string ?? "" }) ?? parameter else { return (body, 0) }
    guard text.hasPrefix("0-"), let count = Int(text.dropFirst(2)),
      (0..<Int(Int32.max)).contains(count)
    else {
      throw ProtocolError(500, "error", "Invalid rev format")
    }
    return (body, count)
  }

  static func json(_ id: String, _ document: SyncDatabase.LocalDocument) -> [UInt8] {
    var object: DocumentObject = [
      "_id": .string(id), "_rev": .string("0-\(document.count)"),
    ]
    object.merge(document.body)
    return SyncJSON.bytes(object)
  }

  private static func outcome(_ id: String, _ count: Int) -> DocumentValue {
    ["ok": true, "id": .string(id), "rev": .string("0-\(count)")]
  }

  private static func tag(_ body: DocumentObject) -> HTTPFields {
    let digest = Insecure.MD5.hash(data: Data(SyncJSON.bytes(body)))
    var headers: HTTPFields = [:]
    headers[.eTag] = "\"\(Data(digest).base64EncodedString())\""
    return headers
  }

  func localDocuments(_ access: Access) async throws -> SyncResponse {
    try access.call.require("GET", "POST")
    // Who knows the names of others' checkpoints can set them, so that they miss changes.
    if access.visibility.isLimited { try access.requireAdministrator() }
    let includesDocuments = access.request.isTrue("include_docs")
    let rows = try await access.served.run { database -> [DocumentValue] in
      try database.localIDs().compactMap { name in
        guard let found = try database.local(name) else { return nil }
        let id = "_local/\(name)"
        var row: DocumentObject = [
          "id": .string(id), "key": .string(id),
          "value": ["rev": .string("0-\(found.count)")],
        ]
        if includesDocuments {
          var document: DocumentObject = [
            "_id": .string(id), "_rev": .string("0-\(found.count)"),
          ]
          document.merge(found.body)
          row["doc"] = .object(document)
        }
        return .object(row)
      }
    }
    return .json(["total_rows": .null, "offset": .null, "rows": .array(rows)])
  }
}
