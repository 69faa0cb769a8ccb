// SPDX-License-Identifier: MIT

import HTTPTypes
import NanoDocument
import NanoSync

// `/db` itself, and what administrators do with it.
extension SyncHandler {
  /// The time at which the database was created, for clients. CouchDB's replicator accepts this one as equal to any.
  static let instanceStartTime: DocumentValue = "0"

  func createDatabase(_ call: Call) async throws -> SyncResponse {
    try ServedDatabases.requireValid(call.request.path[0])
    try call.requireAdministrator()
    guard configuration.allowsCreatingDatabases else {
      // A client that asks for a database that exists learns that it exists.
      _ = try? await databases.find(call.request.path[0])
      if try await databases.names().contains(where: { $0.hasSameBytes(as: call.request.path[0]) })
      {
        throw ProtocolError(
          412, "file_exists", "The database could not be created, the file already exists.")
      }
      throw ProtocolError(403, "forbidden", "The server does not create databases.")
    }
    try await databases.create(call.request.path[0])
    var headers: HTTPFields = [:]
    headers[.location] = call.request.location([call.request.path[0]])
    return .json(SyncResponse.accepted, status: 201, headers: headers)
  }

  func deleteDatabase(_ call: Call) async throws -> SyncResponse {
    let name = call.request.path[0]
    if name.hasExactPrefix("_") { throw ProtocolError.noDatabase }
    try call.requireAdministrator()
    guard configuration.allowsDeletingDatabases else {
      _ = try await databases.find(name)
      throw ProtocolError(403, "forbidden", "The server does not delete databases.")
    }
    // Clients that forget the name of a document's revision would otherwise delete the database.
    if call.request["rev"] != nil {
      throw ProtocolError.badRequest("You tried to DELETE a database with a ?rev= parameter.")
    }
    try await databases.delete(name)
    return .json(SyncResponse.accepted)
  }

  func databaseEndpoint(_ access: Access) async throws -> SyncResponse {
    switch access.request.verb {
    case "GET": return try await databaseInformation(access)
    case "POST": return try await postDocument(access)
    default: throw MethodNotAllowed.error(["DELETE", "GET", "POST", "PUT"])
    }
  }

  private func databaseInformation(_ access: Access) async throws -> SyncResponse {
    let served = access.served
    let counts = try await served.run { try $0.counts() }
    let last = try await served.lastSequence()
    return .json([
      "instance_start_time": Self.instanceStartTime, "db_name": .string(served.name),
      "purge_seq": "0", "update_seq": .string(last.description),
      "props": [:], "doc_del_count": .int(Int64(counts.deleted)),
      "doc_count": .int(Int64(counts.documents)), "disk_format_version": 8,
      "compact_running": false, "cluster": ["q": 1, "n": 1, "w": 1, "r": 1],
    ])
  }

  /// Every commit is durable, as the store's settings say.
  func ensureFullCommit(_ access: Access) throws -> SyncResponse {
    try access.call.require("POST")
    try access.request.requireJSON()
    return .json(["ok": true, "instance_start_time": Self.instanceStartTime], status: 201)
  }

  func compact(_ access: Access) async throws -> SyncResponse {
    try access.call.require("POST")
    try access.request.requireJSON()
    try access.requireAdministrator()
    try await access.served.run { try $0.compactRevisions() }
    return .json(SyncResponse.accepted, status: 202)
  }

  func purge(_ access: Access) async throws -> SyncResponse {
    try access.call.require("POST")
    try access.request.requireJSON()
    guard access.isAdministrator else {
      throw ProtocolError(401, "unauthorized", "You are not a server admin.")
    }
    try access.requireWriting()
    let asked = try await revisionLists(access.request)
    let purged = try await access.served.write { try $0.purge(asked.map) }
    return .json(
      [
        "purge_seq": .null,
        "purged": .object(
          DocumentObject(
            asked.ids.map { id in
              (id, .array((purged[id] ?? []).map { .string("\($0)") }))
            })),
      ], status: 201)
  }

  func revisionLimit(_ access: Access) async throws -> SyncResponse {
    switch access.request.verb {
    case "GET":
      return .json(.int(Int64(try await access.served.run { try $0.revisionLimit() })))
    case "PUT":
      try access.requireAdministrator()
      let body = try await access.request.plainBody(limit: 100).collect(limit: 100)
      guard let limit = try SyncRequest.value(body).int, limit > 0 else {
        throw ProtocolError.badRequest("The limit has to be an integer above 0.")
      }
      try await access.served.write { try $0.setRevisionLimit(limit) }
      return .json(SyncResponse.accepted)
    default: throw MethodNotAllowed.error(["PUT", "GET"])
    }
  }

  func security(_ access: Access) async throws -> SyncResponse {
    switch access.request.verb {
    case "GET": return .json(.object(try await access.served.run { try $0.security() }))
    case "PUT":
      try access.requireAdministrator()
      let object = try await access.request.object(limit: configuration.maximumDocument)
      try SecurityObject.check(object)
      try await access.served.setSecurity(object)
      return .json(SyncResponse.accepted)
    default: throw MethodNotAllowed.error(["PUT", "GET"])
    }
  }
}
