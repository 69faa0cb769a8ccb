// SPDX-License-Identifier: MIT

import NanoStoreServer
import Testing

@Suite("Pages of other origins")
struct CrossOriginTests {
  private let page = "http://page"

  private func server() throws -> TestServer {
    try TestServer {
      $0.allowedOrigins = .only(["http://page"])
      $0.authenticate = { $0 == .none ? nil : .init(name: "anna") }
    }
  }

  private func preflight(
    _ target: String, origin: String = "http://page", method: String? = "PUT",
    headers: String? = nil
  ) async throws -> TestServer.Answer {
    var fields = ["Origin": origin]
    fields["Access-Control-Request-Method"] = method
    fields["Access-Control-Request-Headers"] = headers
    return try await server().send("OPTIONS", target, headers: fields)
  }

  @Test(
    "A preflight request of an allowed origin is answered without credentials, for any database")
  func allowed() async throws {
    let answer = try await preflight("/missing/_changes", headers: "authorization,content-type")

    #expect(answer.status == 204)
    #expect(answer.header("Access-Control-Allow-Origin") == page)
    #expect(answer.header("Access-Control-Allow-Credentials") == "true")
    #expect(answer.header("Access-Control-Allow-Headers") == "authorization,content-type")
    for method in ["GET", "POST", "PUT", "DELETE"] {
      #expect(answer.header("Access-Control-Allow-Methods")?.contains(method) == true)
    }
    #expect(answer.header("Access-Control-Max-Age") == "600")
  }

  @Test("Another origin, method or header gets no permission")
  func refused() async throws {
    let origin = try await preflight("/notes", origin: "http://other")
    let method = try await preflight("/notes", method: "PATCH")
    let header = try await preflight("/notes", headers: "x-foo")
    let none = try await preflight("/notes", method: nil)

    for answer in [origin, method, header, none] {
      #expect(answer.status == 401)
      #expect(answer.header("Access-Control-Allow-Methods") == nil)
    }
    #expect(origin.header("Access-Control-Allow-Origin") == nil)
  }

  @Test("Every response has the permission, errors included")
  func responses() async throws {
    let server = try server()

    for target in ["/", "/missing", "/missing/doc"] {
      let answer = try await server.send("GET", target, headers: ["Origin": page])
      #expect(answer.header("Access-Control-Allow-Origin") == page)
      #expect(answer.header("Access-Control-Allow-Credentials") == "true")
    }
    let other = try await server.send("GET", "/", headers: ["Origin": "http://other"])
    #expect(other.header("Access-Control-Allow-Origin") == nil)
  }

  @Test("Without allowed origins, no response has a permission")
  func none() async throws {
    let server = try TestServer()

    let answer = try await server.send("GET", "/", headers: ["Origin": page])
    let preflight = try await server.send(
      "OPTIONS", "/", headers: ["Origin": page, "Access-Control-Request-Method": "GET"])

    #expect(answer.header("Access-Control-Allow-Origin") == nil)
    #expect(preflight.status == 401)
  }
}
