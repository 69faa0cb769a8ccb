// SPDX-License-Identifier: MIT

import Foundation
import HTTPTypes
import NanoDocument
import NanoSync

// `/`, `/_uuids`, `/_all_dbs` and `/_session`.
extension SyncHandler {
  func welcome(_ call: Call) throws -> SyncResponse {
    try call.require("GET")
    return .json([
      // Clients look for this member.
      "couchdb": "Welcome", "version": "3.5.0", "uuid": .string(uuid), "features": [],
      "vendor": ["name": "NanoStore"],
    ])
  }

  /// The maximum number of UUIDs per request, CouchDB's.
  private static let maximumUUIDs = 1_000

  func uuids(_ call: Call) throws -> SyncResponse {
    try call.require("GET")
    let count = try call.request.count("count") ?? 1
    guard count <= Self.maximumUUIDs else {
      throw ProtocolError.badRequest("count parameter too large")
    }
    var headers: HTTPFields = [:]
    headers[.cacheControl] = "no-cache"
    return .json(
      ["uuids": .array((0..<count).map { _ in .string(RandomID.text()) })], headers: headers)
  }

  /// Lists the databases that the user may read.
  func allDatabases(_ call: Call) async throws -> SyncResponse {
    try call.require("GET")
    let user = try call.user()
    var names: [DocumentValue] = []
    for name in try await databases.names() {
      guard try await configuration.rules.canRead(user, name),
        try await databases.hasMember(user, name)
      else { continue }
      names.append(.string(name))
    }
    if call.request.isTrue("descending") { names.reverse() }
    let skipped = names.dropFirst(try call.request.count("skip") ?? 0)
    return .json(.array(Array(skipped.prefix(try call.request.count("limit") ?? .max))))
  }

  func session(_ call: Call) async throws -> SyncResponse {
    switch call.request.verb {
    case "GET":
      let user = call.identity.user ?? .anonymous
      var info: DocumentObject = ["authentication_handlers": ["cookie", "default"]]
      if let method = call.identity.method { info["authenticated"] = .string(method) }
      return .json([
        "ok": true,
        "userCtx": [
          "name": user.name.map { .string($0) } ?? .null,
          "roles": .array(user.roles.map { .string($0) }),
        ],
        "info": .object(info),
      ])
    case "POST": return try await logIn(call)
    case "DELETE":
      var headers: HTTPFields = [:]
      headers[.setCookie] = authentication.sessions.cookie(nil)
      return .json(["ok": true], headers: headers)
    default: throw MethodNotAllowed.error(["DELETE", "GET", "POST"])
    }
  }

  private func logIn(_ call: Call) async throws -> SyncResponse {
    // CouchDB's replicator then sends Basic authentication instead.
    guard configuration.authenticate != nil else {
      throw ProtocolError(404, "not_found", "The server has no users.")
    }
    let (name, password) = try await Self.credentials(call.request)
    guard let user = try await authentication.user(name: name, password: password) else {
      var response = SyncResponse.error(Authentication.wrongPassword)
      response.headers[.setCookie] = authentication.sessions.cookie(nil)
      return response
    }
    var headers: HTTPFields = [:]
    headers[.setCookie] = authentication.sessions.cookie(authentication.sessions.token(for: user))
    return .json(
      [
        "ok": true, "name": user.name.map { .string($0) } ?? .null,
        "roles": .array(user.roles.map { .string($0) }),
      ], headers: headers)
  }

  /// The maximum length of a login. Arbitrary.
  private static let maximumLogin = 16 << 10

  private static func credentials(
    _ request: SyncRequest
  ) async throws -> (name: String, password: String) {
    let body = try await request.plainBody(limit: maximumLogin).collect(limit: maximumLogin)
    if request.contentType == SyncResponse.json {
      let object = try SyncRequest.value(body).object ?? [:]
      return (
        (object["name"] ?? object["username"])?.string ?? "", object["password"]?.string ?? ""
      )
    }
    guard request.contentType == "application/x-www-form-urlencoded" else {
      throw ProtocolError.badRequest("The login is neither a form nor JSON.")
    }
    // A form has the syntax of a query.
    let form = SyncRequest(method: "GET", target: "/?" + String(decoding: body, as: UTF8.self))
    return (form?["name"] ?? form?["username"] ?? "", form?["password"] ?? "")
  }
}
