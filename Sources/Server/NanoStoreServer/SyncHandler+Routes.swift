// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

extension SyncHandler {
  /// Finds the endpoint of a request.
  func respond(to call: Call) async throws -> SyncResponse {
    let path = call.request.path
    if call.request.method == "OPTIONS" {
      throw ProtocolError(401, "unauthorized", "You are not authorized to access this db.")
    }
    guard let first = path.first else { return try welcome(call) }
    if path.count == 1, first.hasExactPrefix("_"),
      let response = try await serverEndpoint(first, call)
    {
      return response
    }
    if path.count == 1, call.request.method == "PUT" || call.request.method == "DELETE" {
      return try await (call.request.method == "PUT" ? createDatabase(call) : deleteDatabase(call))
    }
    let access = try await access(call)
    guard path.count > 1 else { return try await databaseEndpoint(access) }
    if path.count == 2, let response = try await databaseEndpoint(path[1], access) {
      return response
    }
    if path[1] == "_local_docs" || path[1] == "_all_docs" || path[1] == "_changes" {
      throw ProtocolError.missing
    }
    if path[1] == "_index" || path[1] == "_explain" {
      throw ProtocolError(
        501, "not_implemented", "There are no indexes for selectors: _find scans the documents.")
    }
    return try await documentEndpoint(DocumentPath(path.dropFirst()), access)
  }

  private func serverEndpoint(_ name: String, _ call: Call) async throws -> SyncResponse? {
    switch name {
    case "_session": return try await session(call)
    case "_up":
      try call.require("GET")
      return .json(["status": "ok", "seeds": [:]])
    case "_uuids": return try uuids(call)
    case "_all_dbs": return try await allDatabases(call)
    case "_active_tasks":
      try call.require("GET")
      try call.requireAdministrator()
      return .json(DocumentValue.array([]))
    default: return nil
    }
  }

  private func databaseEndpoint(_ name: String, _ access: Access) async throws -> SyncResponse? {
    switch name {
    case "_changes": return try await changes(access)
    case "_revs_diff": return try await revisionsDifference(access)
    case "_missing_revs": return try await missingRevisions(access)
    case "_bulk_docs": return try await bulkDocuments(access)
    case "_bulk_get": return try await bulkGet(access)
    case "_all_docs": return try await allDocuments(access)
    case "_design_docs": return try await allDocuments(access, .designDocuments)
    case "_local_docs": return try await localDocuments(access)
    case "_find": return try await find(access)
    case "_ensure_full_commit": return try ensureFullCommit(access)
    case "_compact", "_view_cleanup": return try await compact(access)
    case "_purge": return try await purge(access)
    case "_revs_limit": return try await revisionLimit(access)
    case "_purged_infos_limit":
      try access.call.require("GET")
      return .json(1_000)
    case "_security": return try await security(access)
    default: return nil
    }
  }

  private func documentEndpoint(_ path: DocumentPath, _ access: Access) async throws -> SyncResponse
  {
    if let local = path.localID {
      guard path.attachment == nil else {
        throw ProtocolError.badRequest("_local documents do not accept attachments.")
      }
      return try await localDocument(local, access)
    }
    guard let name = path.attachment else { return try await document(path.id, access) }
    if path.id.hasExactPrefix("_design/"), name.hasExactPrefix("_") {
      throw ProtocolError(
        501, "not_implemented",
        "Functions of design documents need JavaScript, which this server does not run.")
    }
    return try await attachment(name, of: path.id, access)
  }
}

/// The components of a path after the database: a document, and maybe an attachment.
struct DocumentPath {
  var id: String
  var attachment: String?

  init(_ components: ArraySlice<String>) {
    var rest = components
    id = rest.removeFirst()
    if id == "_design" || id == "_local" {
      id += "/" + (rest.popFirst() ?? "")
    }
    // An attachment's name may contain slashes, also at its end, but not be empty: `_design/x/` is `_design/x`.
    let name = rest.joined(separator: "/")
    if !name.isEmpty { attachment = name }
  }

  /// The name of a local document; nil for any other document.
  var localID: String? {
    let prefix = "_local/"
    guard id.hasExactPrefix(prefix) else { return nil }
    let name = id.dropFirst(prefix.count)
    return String(name)
  }
}
