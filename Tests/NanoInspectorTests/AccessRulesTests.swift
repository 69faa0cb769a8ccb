// SPDX-License-Identifier: MIT

import NanoServer
import Testing

@Suite("Access to the server")
struct AccessRulesTests {
  private let token = AccessToken()
  private var rules: AccessRules { AccessRules(token: token, names: ["Workstation.local"]) }

  private func status(
    _ target: String? = nil, method: String = "GET", host: String? = "127.0.0.1:8080",
    origin: String? = nil, site: String? = nil, mode: String? = nil, contentType: String? = nil
  ) -> Int {
    let head = AccessRules.Head(
      method: method, target: target ?? "/\(token.text)/api/store", host: host, origin: origin,
      site: site, mode: mode, contentType: contentType)
    switch rules.decision(on: head, port: 8080) {
    case .accepted: return 200
    case .rejected(let status, _): return status
    case .redirected: return 303
    }
  }

  @Test("The page itself is accepted by every name of the server")
  func accepted() {
    for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"] {
      #expect(status(host: host) == 200)
      #expect(status(host: host, origin: "http://\(host)", site: "same-origin") == 200)
    }
    #expect(status(host: "workstation.local:8080") == 200)
    #expect(status(site: "none") == 200)
  }

  @Test(
    "A request for another host is refused, whatever the token: DNS rebinding",
    arguments: [
      nil, "", "evil.example", "evil.example:8080", "127.0.0.1", "127.0.0.1:8081",
      "127.0.0.1:80800",
      "127.0.0.1.evil.example:8080", "evil.example@127.0.0.1:8080", " 127.0.0.1:8080",
    ])
  func otherHost(host: String?) { #expect(status(host: host) == 421) }

  @Test(
    "A request of a page of another origin is refused",
    arguments: [
      "null", "", "http://evil.example", "https://127.0.0.1:8080", "http://127.0.0.1:8081",
      "http://127.0.0.1", "file://", "http://127.0.0.1:8080.evil.example",
    ])
  func otherOrigin(origin: String) { #expect(status(origin: origin) == 403) }

  @Test("A request that a browser marks as one of another site is refused, except a link")
  func otherSite() {
    for site in ["cross-site", "same-site", "anything"] {
      #expect(status(site: site) == 403)
      #expect(status(site: site, mode: "cors") == 403)
      #expect(status(site: site, mode: "navigate") == 200)
      #expect(status(origin: "http://evil.example", site: site, mode: "navigate") == 403)
      #expect(
        status(method: "POST", site: site, mode: "navigate", contentType: "application/json") == 403
      )
      #expect(status("/wrong/api/store", site: site, mode: "navigate") == 403)
    }
  }

  @Test("A request without the token is refused")
  func wrongToken() {
    let text = token.text
    for target in ["/", "/api/store", "/\(text.dropLast())/", "/\(text)x/", "//\(text)/", "/%00/"] {
      #expect(status(target) == 403, "\(target)")
    }
    #expect(status("") == 400)
    #expect(status("http://127.0.0.1:8080/\(text)/") == 400)
  }

  @Test("Methods that pages do not use, long targets and malformed escapes are refused")
  func malformed() {
    #expect(status(method: "PUT") == 405)
    #expect(status(method: "OPTIONS") == 405)
    #expect(status("/\(token.text)/" + String(repeating: "x", count: 20_000)) == 414)
    #expect(status("/\(token.text)/%f") == 400)
    #expect(status("/\(token.text)/%ff") == 400)
    #expect(status("/\(token.text)/?a=%zz") == 400)
    #expect(status("/\(token.text)/%+5") == 400)
    #expect(status("/\(token.text)/?a=%-0") == 400)
  }

  @Test("A POST has to be JSON, which a form of another page cannot send")
  func forms() {
    #expect(status(method: "POST") == 415)
    #expect(status(method: "POST", contentType: "text/plain") == 415)
    #expect(status(method: "POST", contentType: "multipart/form-data") == 415)
    #expect(status(method: "POST", contentType: "application/octet-stream") == 200)
    #expect(status(method: "POST", contentType: "application/x-www-form-urlencoded") == 415)
    #expect(status(method: "POST", contentType: "application/json; charset=utf-8") == 200)
  }

  @Test("Path and parameters are decoded without the token")
  func decoding() throws {
    let head = AccessRules.Head(
      target: "/\(token.text)/api/documents?in=a%2Fb&where=%5Ba%5D%20%3D%20%27%C3%A9%27&empty=&x",
      host: "localhost:8080")
    guard case .accepted(.get, let path, let parameters) = rules.decision(on: head, port: 8080)
    else {
      Issue.record("The request is refused")
      return
    }
    #expect(path == ["api", "documents"])
    let request = ServerRequest(path: path, parameters: parameters)
    #expect(request["in"] == "a/b")
    #expect(request["where"] == "[a] = 'é'")
    #expect(request["empty"] == nil)
    #expect(parameters.map(\.name) == ["in", "where", "empty", "x"])
  }

  @Test("Tokens are random, and a chosen one has a minimum length")
  func tokens() {
    #expect(Set((0..<100).map { _ in AccessToken().text }).count == 100)
    #expect(AccessToken("short") == nil)
    #expect(AccessToken("long enough, but / not safe") == nil)
    #expect(AccessToken("abcdefgh-01234_6")?.matches("abcdefgh-01234_6") == true)
    #expect(AccessToken("abcdefgh-01234_6")?.matches("abcdefgh-01234_7") == false)
  }
}
