// SPDX-License-Identifier: MIT

import NanoSync
import Testing

@testable import NanoStoreSync

@Suite struct CredentialTests {
  @Test("Name and password, or a token, go with each request")
  func headers() async throws {
    try await ScriptedServer.serving { _ in
      .database
    } while: { server in
      _ = try await server.peer().open(creates: false)
      _ = try await server.peer(.password(user: "adä", password: "s:e")).open(creates: false)
      _ = try await server.peer(.token("abc")).open(creates: false)
      #expect(
        server.requests.map { $0.headers["authorization"] } == [
          nil, "Basic YWTDpDpzOmU=", "Bearer abc",
        ])
      let url = server.url.replacing("//", with: "//ada:secret@")
      _ = try await HTTPPeer(server: url, database: "notes").open(creates: false)
      #expect(server.requests.last?.headers["authorization"] == "Basic YWRhOnNlY3JldA==")
    }
  }

  /// A server with sessions: each cookie is valid for a number of requests.
  private static func sessions(
    validFor limit: Int, _ work: @escaping @Sendable (ScriptedServer) async throws -> Void
  ) async throws {
    let (logins, uses) = (Counter(), Counter())
    try await ScriptedServer.serving({ request in
      if request.path == "/_session" {
        guard request.text == "name=a%26b&password=s%3D%2B%20e" else {
          return .json(401, #"{"error":"unauthorized","reason":"Name or password is incorrect."}"#)
        }
        return .json(
          200, #"{"ok":true}"#,
          ["Set-Cookie": "AuthSession=c\(logins.next()); Version=1; Path=/; HttpOnly"])
      }
      let use = uses.next()
      guard request.headers["cookie"] == "AuthSession=c\(use / limit)" else {
        return .json(401, #"{"error":"unauthorized","reason":"expired"}"#)
      }
      return .database
    }) { server in try await work(server) }
  }

  private static let credentials = SyncCredentials.session(user: "a&b", password: "s=+ e")

  @Test("A session is started once, and its cookie goes with each request")
  func session() async throws {
    try await Self.sessions(validFor: 100) { server in
      let peer = try server.peer(Self.credentials)
      for _ in 0..<3 { _ = try await peer.open(creates: false) }
      #expect(
        server.log == ["POST /_session"] + Array(repeating: "GET /notes/", count: 3))
      #expect(server.requests.allSatisfy { $0.headers["authorization"] == nil })
      #expect(
        server.requests.first?.headers["content-type"] == "application/x-www-form-urlencoded")
    }
  }

  @Test("A session that has ended is renewed")
  func renewal() async throws {
    try await Self.sessions(validFor: 2) { server in
      let peer = try server.peer(Self.credentials)
      // The third request meets an expired session, which counts as one more.
      for _ in 0..<3 { _ = try await peer.open(creates: false) }
      #expect(server.log.filter { $0 == "POST /_session" }.count == 2)
    }
  }

  @Test("A session is renewed once for a request, not forever")
  func renewsOnce() async throws {
    try await ScriptedServer.serving { request in
      request.path == "/_session"
        ? .json(200, "{}", ["Set-Cookie": "AuthSession=x; Path=/"])
        : .json(
          401, #"{"error":"unauthorized","reason":"You are not authorized to access this db."}"#)
    } while: { server in
      let peer = try server.peer(Self.credentials)
      #expect(await failure { try await peer.open(creates: false) }?.kind == .unauthorized)
      #expect(server.log == ["POST /_session", "GET /notes/", "POST /_session", "GET /notes/"])
    }
  }

  @Test("A wrong password is reported without it")
  func wrongPassword() async throws {
    try await Self.sessions(validFor: 1) { server in
      let peer = try server.peer(.session(user: "ada", password: "secret"))
      let error = await failure { try await peer.open(creates: false) }
      #expect(error?.kind == .unauthorized)
      #expect(!"\(error as Any) \(peer.identity)".contains("secret"))
      #expect(server.log == ["POST /_session"])
    }
  }

  @Test("A server without sessions gets name and password with each request")
  func fallback() async throws {
    try await ScriptedServer.serving { request in
      if request.path == "/_session" { return .missing }
      return request.headers["authorization"] == "Basic YWRhOnNlY3JldA=="
        ? .database : .json(401, "{}")
    } while: { server in
      let peer = try server.peer(.session(user: "ada", password: "secret"))
      for _ in 0..<2 { _ = try await peer.open(creates: false) }
      #expect(server.log == ["POST /_session", "GET /notes/", "GET /notes/"])
    }
  }

  @Test("A cookie that the server renews by itself replaces the one before")
  func rollover() async throws {
    let count = Counter()
    try await ScriptedServer.serving { request in
      .json(
        200, #"{"db_name":"notes"}"#, ["Set-Cookie": "AuthSession=c\(count.next()); Path=/"])
    } while: { server in
      let peer = try server.peer(Self.credentials)
      for _ in 0..<3 { _ = try await peer.open(creates: false) }
      #expect(
        server.requests.map { $0.headers["cookie"] } == [
          nil, "AuthSession=c0", "AuthSession=c1", "AuthSession=c2",
        ])
    }
  }

  @Test("A session without a cookie is an invalid answer")
  func noCookie() async throws {
    try await ScriptedServer.serving { _ in
      .json(200, "{}")
    } while: { server in
      let peer = try server.peer(Self.credentials)
      #expect(await failure { try await peer.open(creates: false) }?.kind == .invalidAnswer)
    }
  }

  @Test("A redirect of a read is followed; other servers do not get the credentials")
  func redirects() async throws {
    try await ScriptedServer.serving({ _ in .database }) { other in
      let target = "\(other.url)/moved/"
      try await ScriptedServer.serving({ request in
        switch request.path {
        case "/notes/": .json(302, "{}", ["Location": "/a%2Fb/../x?y=%20"])
        case "/a%2Fb/../x": .json(307, "{}", ["Location": "z"])
        default: .json(308, "{}", ["Location": target])
        }
      }) { server in
        let peer = try server.peer(.password(user: "ada", password: "secret"))
        #expect(try await peer.open(creates: false).lastSequence == "3-abc")
        #expect(server.log == ["GET /notes/", "GET /a%2Fb/../x", "GET /a%2Fb/../z"])
        #expect(server.requests.allSatisfy { $0.headers["authorization"] != nil })
        #expect(other.log == ["GET /moved/"])
        #expect(other.requests.allSatisfy { $0.headers["authorization"] == nil })
      }
    }
  }

  @Test(
    "A redirect is relative to the path of the URL, which may have none",
    arguments: [
      ("x", "http://a.example", "http://a.example/x"),
      ("x", "http://a.example?y=/z", "http://a.example/x"),
      ("/x", "http://a.example?y=/z", "http://a.example/x"),
      ("x", "http://a.example/b/c?y=/z", "http://a.example/b/x"),
    ])
  func relativeRedirects(_ location: String, _ url: String, _ target: String) {
    #expect(Redirect.target(location, of: url) == target)
  }

  @Test("A redirect of a write is not followed, and one in circles ends")
  func redirectedWrites() async throws {
    try await ScriptedServer.serving { request in
      .json(301, "{}", ["Location": request.path])
    } peer: { peer, server in
      let diff = await failure { try await peer.missing(["a": ["1-a".revision]]) }
      #expect(diff?.kind == .refused)
      #expect(diff?.status == 301)
      #expect(server.log == ["POST /notes/_revs_diff"])
      #expect(await failure { try await peer.open(creates: false) }?.kind == .refused)
      #expect(server.log.count < 10)
    }
  }
}
