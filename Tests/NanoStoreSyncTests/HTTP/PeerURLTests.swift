// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync
import Testing

@testable import NanoStoreSync

@Suite struct PeerURLTests {
  @Test(
    "IDs are percent-encoded as other clients encode them",
    arguments: [
      ("a/b", "a%2Fb"), ("ü", "%C3%BC"), ("with space", "with%20space"), ("a+b", "a%2Bb"),
      ("q?x=1&y#z", "q%3Fx%3D1%26y%23z"), ("😀", "%F0%9F%98%80"), (".", "."), ("..", ".."),
      ("_design/a/b", "_design/a%2Fb"), ("_local/x==", "_local/x%3D%3D"), ("\u{1}", "%01"),
      ("e\u{301}", "e%CC%81"), ("\u{E9}", "%C3%A9"),
    ])
  func ids(_ id: String, _ encoded: String) {
    #expect(PeerURL.document(id) == encoded)
  }

  @Test("The slashes of an attachment's name are not encoded")
  func attachments() {
    #expect(PeerURL.attachment("dir/ä b+c.txt", of: "a/b") == "a%2Fb/dir/%C3%A4%20b%2Bc.txt")
  }

  @Test(
    "URLs of one database have one identity",
    arguments: [
      "http://example.org", "HTTP://Example.org:80/", "http://ada:secret@example.org",
      "http://example.org//",
    ])
  func identity(_ server: String) throws {
    let url = try PeerURL(server: server, database: "a/b")
    #expect(url.identity == "http://example.org:80/a%2Fb")
    #expect(!"\(url)".contains("secret"))
    #expect(!String(reflecting: url).contains("secret"))
  }

  @Test("The path of a server, a port and an IPv6 address are kept")
  func parts() throws {
    let url = try PeerURL(server: "https://[::1]:6984/couch%2f/", database: "notes")
    #expect(url.identity == "https://[::1]:6984/couch%2F/notes")
    #expect(url.session == "https://[::1]:6984/couch%2F/_session")
    #expect(
      try PeerURL(server: "https://[::1]", database: "notes").identity == "https://[::1]:443/notes")
  }

  @Test(
    "A URL that is not valid is rejected without printing it",
    arguments: [
      "example.org", "ftp://secret@h", "http://", "http://secret@:80", "http://secret@h:0",
      "http://secret@h:99999", "http://secret@h/?x=1", "http://secret@h/#x", "http://secret@h/%zz",
      "http://secret@h o", "http://secret%f@h",
    ])
  func invalid(_ server: String) {
    let error = #expect(throws: StoreError.self) { try PeerURL(server: server, database: "notes") }
    #expect(error?.code == .invalidArgument)
    #expect(error.map { !$0.debugDescription.contains("secret") } ?? false)
  }

  @Test("Credentials of a URL are decoded")
  func user() throws {
    let url = try PeerURL(server: "http://a%40b:s%3Ac:t@host", database: "notes")
    #expect(url.user?.name == "a@b")
    #expect(url.user?.password == "s:c:t")
  }

  @Test("Descriptions of credentials contain none")
  func credentials() {
    for credentials in [
      SyncCredentials.password(user: "ada", password: "secret"), .token("secret"),
      .session(user: "ada", password: "secret"),
    ] {
      var dumped = ""
      dump(credentials, to: &dumped)
      for text in ["\(credentials)", String(reflecting: credentials), dumped] {
        #expect(!text.contains("secret") && !text.contains("ada"))
      }
    }
  }
}
