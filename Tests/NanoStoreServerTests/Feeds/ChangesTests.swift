// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStore
import NanoStoreServer
import Testing

@Suite("Requests for changes")
struct ChangesTests {
  private func server(count: Int) async throws -> TestServer {
    let server = try TestServer()
    _ = try await server.send("PUT", "/notes")
    try await server.store.write {
      for number in 0..<count {
        try server.store["notes"].save(["n": .int(Int64(number))], key: "d\(1_000 + number)")
      }
    }
    return server
  }

  private func changes(
    _ server: TestServer, _ query: String
  ) async throws -> (ids: [String], last: String) {
    let answer = try await server.send("GET", "/notes/_changes?\(query)")
    #expect(answer.status == 200)
    let rows = answer.json.object?["results"]?.array ?? []
    return (
      rows.compactMap { $0.object?["id"]?.string }, answer.json.object?["last_seq"]?.string ?? ""
    )
  }

  @Test("Pages of any size together have every change once", arguments: [1, 7, 250, 1_000])
  func pages(_ limit: Int) async throws {
    let server = try await server(count: limit == 1 ? 20 : 600)
    var (all, since) = ([String](), "0")

    while true {
      let page = try await changes(server, "since=\(since)&limit=\(limit)")
      if page.ids.isEmpty { break }
      all += page.ids
      since = page.last
    }

    #expect(all.count == (limit == 1 ? 20 : 600))
    #expect(Set(all).count == all.count)
    #expect(try await changes(server, "").ids == all)
    #expect(try await changes(server, "descending=true").ids == all.reversed())
    #expect(
      try await changes(server, "descending=true&limit=3").ids == Array(all.reversed().prefix(3)))
  }

  @Test("Pages of a filtered feed together have every change that passes once")
  func filteredPages() async throws {
    let server = try await server(count: 600)
    var (all, since) = ([String](), "0")

    while true {
      let answer = try await server.send(
        "POST", "/notes/_changes?filter=_selector&since=\(since)&limit=10",
        ["selector": ["n": ["$mod": [7, 0]]]])
      let rows = answer.json.object?["results"]?.array ?? []
      if rows.isEmpty { break }
      all += rows.compactMap { $0.object?["id"]?.string }
      since = answer.json.object?["last_seq"]?.string ?? ""
    }

    #expect(all == stride(from: 0, to: 600, by: 7).map { "d\(1_000 + $0)" })
  }

  @Test("A selector of a feed that is no object is rejected with the reason that PouchDB expects")
  func invalidSelector() async throws {
    let server = try await server(count: 1)
    for selector in ["x", [], nil, true] as [DocumentValue] {
      let answer = try await server.send(
        "POST", "/notes/_changes?filter=_selector", ["selector": selector])
      #expect(answer.status == 400)
      #expect(answer.reason == "Selector error: expected a JSON object")
    }
  }

  @Test("The entity tag of a feed changes with the database, and only then")
  func entityTag() async throws {
    let server = try await server(count: 3)
    let first = try await server.send("GET", "/notes/_changes")
    let tag = try #require(first.header("ETag"))

    let same = try await server.send("GET", "/notes/_changes", headers: ["If-None-Match": tag])
    try await server.store["notes"].save(["n": 9], key: "new")
    let changed = try await server.send("GET", "/notes/_changes", headers: ["If-None-Match": tag])

    #expect(same.status == 304)
    #expect(same.bytes.isEmpty)
    #expect(changed.status == 200)
    #expect(changed.header("ETag") != tag)
  }

  @Test("A filter of the configuration is named like one of a design document")
  func nativeFilter() async throws {
    let server = try TestServer {
      $0.rules.filters["app/large"] = { document, parameters in
        (document.fields["n"]?.int ?? 0) >= Int(parameters["from"] ?? "") ?? 0
      }
    }
    _ = try await server.send("PUT", "/notes")
    for n in 0..<5 { _ = try await server.send("PUT", "/notes/\(n)", ["n": .int(Int64(n))]) }

    #expect(try await changes(server, "filter=app/large&from=3").ids == ["3", "4"])
    #expect(try await server.send("GET", "/notes/_changes?filter=app/other").status == 404)
  }

  @Test("Functions of design documents are unknown, and named in the error")
  func designFilter() async throws {
    let server = try await server(count: 1)
    _ = try await server.send("PUT", "/notes/_design/d", ["filters": ["f": "function () {}"]])

    let answer = try await server.send("GET", "/notes/_changes?filter=d/f")
    let view = try await server.send("GET", "/notes/_design/d/_view/v")

    #expect(answer.status == 404)
    #expect(answer.reason?.hasPrefix("missing json key: f") == true)
    #expect(view.status == 501)
  }
}
