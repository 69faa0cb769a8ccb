// SPDX-License-Identifier: MIT

import Foundation
import HTTPTypes
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport

@testable import NanoStoreServer

/// A handler of a separate store, without a network.
struct TestServer: Sendable {
  let store: Store
  let handler: SyncHandler

  init(_ configure: (inout SyncServerConfiguration) -> Void = { _ in }) throws {
    self.init(try anyStore(), configure)
  }

  init(_ store: Store, _ configure: (inout SyncServerConfiguration) -> Void = { _ in }) {
    self.store = store
    var configuration = SyncServerConfiguration()
    configuration.allowsCreatingDatabases = true
    configuration.allowsDeletingDatabases = true
    configure(&configuration)
    handler = SyncHandler([store], configuration)
  }

  struct Answer: Sendable {
    var status: Int
    var headers: HTTPFields
    var bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }
    var json: DocumentValue { (try? SyncJSON.value(bytes)) ?? .null }
    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
    var error: String? { json.object?["error"]?.string }
    var reason: String? { json.object?["reason"]?.string }
  }

  /// Sends a request and returns the whole response.
  func send(
    _ method: String, _ target: String, _ body: [UInt8] = [],
    headers: [String: String] = ["Content-Type": "application/json"], address: String? = nil
  ) async throws -> Answer {
    let response = await respond(method, target, body, headers: headers, address: address)
    var bytes: [UInt8] = []
    switch response.body {
    case .bytes(let all): bytes = all
    case .stream(let stream): try await stream.produce { bytes += $0 }
    }
    return Answer(status: response.status, headers: response.headers, bytes: bytes)
  }

  func send(
    _ method: String, _ target: String, _ body: DocumentValue, headers: [String: String] = [:]
  ) async throws -> Answer {
    try await send(
      method, target, SyncJSON.bytes(body),
      headers: headers.merging(["Content-Type": "application/json"]) { given, _ in given })
  }

  /// Sends a request and returns the beginning of the response.
  func respond(
    _ method: String, _ target: String, _ body: [UInt8] = [], headers: [String: String] = [:],
    address: String? = nil
  ) async -> SyncResponse {
    var fields: HTTPFields = [:]
    for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
    // In pieces, as from a network.
    var rest = body[...]
    let pieces = SyncRequestBody {
      guard !rest.isEmpty else { return nil }
      defer { rest = rest.dropFirst(1_000) }
      return Array(rest.prefix(1_000))
    }
    guard
      let request = SyncRequest(
        method: method, target: target, headers: fields, body: pieces, address: address)
    else { return .error(.badRequest("The URL is malformed.")) }
    return await handler.respond(to: request)
  }

  static func basic(_ name: String, _ password: String) -> [String: String] {
    [
      "Authorization": "Basic " + Data("\(name):\(password)".utf8).base64EncodedString(),
      "Content-Type": "application/json",
    ]
  }
}
