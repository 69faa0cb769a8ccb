// SPDX-License-Identifier: MIT

import Foundation
import NanoServer
import NanoStore
import NanoTestSupport
import Testing

@testable import NanoInspector

@Suite("The API of the inspector")
struct InspectorTests {
  private let store: Store
  private let films: DocumentCollection

  init() throws {
    store = try Store(.memory)
    films = store["films"]
    try films.save(["title": "Metropolis", "year": 1927, "genres": ["Drama"]], key: "m")
    try films.save(["title": "Alien", "year": 1979, "genres": ["Horror", "Drama"]], key: "a")
    try films.save(["title": "Ran", "year": 1985, "genres": ["War"]], key: "r")
  }

  private func inspector(_ change: (inout InspectorOptions) -> Void = { _ in }) -> Inspector {
    var options = InspectorOptions(location: "films.db")
    // Other tests run at the same time.
    options.timeLimit = .seconds(60)
    change(&options)
    return Inspector(store, options: options)
  }

  private func get(
    _ call: String, _ parameters: KeyValuePairs<String, String> = [:], _ inspector: Inspector? = nil
  ) async throws -> (status: Int, DocumentObject) {
    let given = parameters.map { (name: $0.key, value: $0.value) }
    let collection = given.contains { $0.name == "in" } ? [] : [(name: "in", value: "films")]
    let response = await (inspector ?? self.inspector()).respond(
      to: ServerRequest(path: ["api", call], parameters: collection + given))
    return (response.status, try DocumentObject(json: response.body))
  }

  @Test("A page of documents continues at a position, also when documents are inserted before it")
  func pages() async throws {
    let first = try await get("documents", ["sort": "[year]", "size": "2"]).1
    #expect(first[path: "documents.0.value.title"] == "Metropolis")
    #expect(first["documents"]?.array?.count == 2)
    try await films.save(["title": "Earlier", "year": 1900], key: "e")

    let position = try #require(first["next"]?.string)
    let second = try await get("documents", ["sort": "[year]", "size": "2", "after": position]).1

    #expect(second["documents"]?.array?.count == 1)
    #expect(second[path: "documents.0.value.title"] == "Ran")
    #expect(second["next"] == .null)
  }

  @Test("Rows of other programs do not hide the shape and the summary of a collection")
  func foreignRows() async throws {
    try await store.execute(
      "INSERT INTO films(key, body) VALUES ('bad', '{\"a\":1'), ('twice', '{\"b\":1,\"b\":2}')")

    let shape = try await get("shape")
    #expect(shape.status == 200 && shape.1["documents"] == 4)
    let years = try await get("shape", ["path": "year"])
    #expect(years.status == 200 && years.1["paths"]?.array?.count == 1)
    let summary = try await get("summary")
    #expect(summary.status == 200 && summary.1["documents"] == 5)
    #expect(summary.1["bytes"]?.int64 ?? 0 > 0)
  }

  @Test("A condition filters; its error has a code and a position")
  func conditions() async throws {
    let found = try await get("documents", ["where": "[genres] = 'Drama' ORDER BY [year] DESC"]).1
    #expect(found["documents"]?.array?.count == 2)
    #expect(found["condition"] == "[genres] = 'Drama'" && found["sort"] == "[year] DESC")

    let (status, failure) = try await get("documents", ["where": "[year] > > 1"])
    #expect(status == 400 && failure[path: "error.code"] == "invalidQuery")
    #expect(failure[path: "error.details.position"] == "10")
  }

  @Test("A position that is longer than a URL is sent in the body")
  func longPosition() async throws {
    let long = String(repeating: "x", count: 50_000)
    try await films.save(["title": .string(long + "1")], key: "long 1")
    try await films.save(["title": .string(long + "2")], key: "long 2")
    let sort = "[title] DESC"
    let first = try await get("documents", ["sort": sort, "size": "1"]).1
    let position = try #require(first["next"]?.string)

    let body: DocumentObject = ["sort": .string(sort), "size": "1", "after": .string(position)]
    let response = await inspector().respond(
      to: ServerRequest(
        method: .post, path: ["api", "documents"], parameters: [("in", "films")],
        body: Data(body.jsonString().utf8)))

    let second = try DocumentObject(json: response.body)
    #expect(second[path: "documents.0.key"] == "long 1")
    #expect(second["documents"]?.array?.count == 1)
  }

  @Test("The shape and groups return the condition to which a link adds another")
  func linkedConditions() async throws {
    let condition = "[year] > 1950 ORDER BY [year] DESC LIMIT 1"
    let shape = try await get("shape", ["where": condition]).1
    let groups = try await get("groups", ["where": condition, "by": "title"]).1
    #expect(shape["condition"] == "[year] > 1950" && groups["condition"] == "[year] > 1950")
    #expect(try await get("shape").1["condition"] == "")
  }

  @Test("A limit in the condition holds for the whole result, not for each page")
  func limits() async throws {
    let found = try await get("documents", ["where": "TRUE LIMIT 2", "size": "1"]).1
    #expect(found["documents"]?.array?.count == 2)
    #expect(found["next"] == .null)
  }

  @Test("A result that is limited to more documents than a page has is marked as cut")
  func cutResults() async throws {
    try await store["many"].insert((0..<501).map { ["n": .int($0)] as DocumentObject })
    for (limit, isCut) in [
      ("LIMIT 500", false), ("LIMIT 1000", true), ("LIMIT 500 OFFSET 1", false),
    ] {
      let found = try await get("documents", ["in": "many", "where": "TRUE \(limit)"]).1
      #expect(found["documents"]?.array?.count == 500, "\(limit)")
      #expect(found["isCut"] == .bool(isCut), "\(limit)")
    }
  }

  @Test("Explain tells how many documents are examined with and without an index")
  func explain() async throws {
    let scan = try await get("explain", ["where": "[year] = 1979"]).1
    #expect(scan["atLeastExamined"] == 3 && scan["matched"] == 1 && scan["indexes"] == [])
    #expect(scan["candidates"] == ["[year]"])
    try await films.createIndex("year")

    let search = try await get("explain", ["where": "[year] = 1979"]).1

    #expect(search["atMostExamined"] == 1 && search["indexes"]?.array?.count == 1)
    #expect(search["candidates"] == [])
  }

  @Test("The conditions of the shape find what they count")
  func shape() async throws {
    let shape = try await get("shape").1
    var checked = 0
    for path in shape["paths"]?.array ?? [] {
      for entry in path.object?["frequent"]?.array ?? [] {
        let condition = try #require(entry.object?["condition"]?.string)
        #expect(try await films.find(condition).count() == entry.object?["count"]?.int)
        checked += 1
      }
      guard let bins = path.object?["histogram"]?.object?["bins"]?.array else { continue }
      for bin in bins {
        let condition = try #require(bin.object?["condition"]?.string)
        #expect(
          try await films.find(condition).count() == bin.object?["count"]?.int, "\(condition)")
        checked += 1
      }
    }
    #expect(checked > 30)
  }

  @Test("Groups aggregate a field, and dates by period")
  func groups() async throws {
    let genres = try await get("groups", ["by": "genres"]).1
    #expect(genres[path: "groups.0.key"] == "Drama")
    #expect(genres[path: "groups.0.value"]?.double == 2)
    let day = Date(timeIntervalSince1970: 86_400 * 45)
    try await films.save(["shown": .date(day), "year": 10], key: "d1")
    try await films.save(["shown": .date(day + 3600), "year": 20], key: "d2")

    let months = try await get(
      "groups", ["by": "shown", "bucket": "month", "aggregate": "average", "value": "year"]
    ).1

    #expect(months["count"] == 1)
    #expect(months[path: "groups.0.value"]?.double == 15)
    #expect(months[path: "groups.0.key"]?.date == Date(timeIntervalSince1970: 86_400 * 31))
  }

  @Test("Aggregates have every digit, and groups with a sum that is no number come last")
  func digits() async throws {
    let numbers = store["numbers"]
    let big = 9_007_199_254_740_993 as Int64
    let documents: [DocumentObject] = [
      ["g": "a", "x": .double(.infinity)], ["g": "a", "x": .double(-.infinity)],
      ["g": "b", "x": .int(big)], ["g": "c", "x": 1],
    ]
    try await numbers.insert(documents)

    let groups = try await get(
      "groups", ["in": "numbers", "by": "g", "aggregate": "sum", "value": "x"]
    ).1

    let keys = (groups["groups"]?.array ?? []).compactMap { $0.object?["key"]?.string }
    #expect(keys == ["b", "c", "a"])
    #expect(groups[path: "groups.0.number"] == .int(big))
  }

  @Test(
    "Periods contain every date of an array once per document, in the Gregorian calendar of all times"
  )
  func periods() async throws {
    func date(_ text: String) throws -> DocumentValue {
      try #require(try DocumentObject(json: "{\"date\": {\"$date\": \"\(text)\"}}")["date"])
    }
    let events = store["events"]
    try await events.save(["on": try date("1500-03-05T10:00:00Z"), "n": 1], key: "old")
    try await events.save(
      [
        "on": [
          try date("2024-02-29T00:00:00Z"), try date("2024-02-01T00:00:00Z"),
          try date("2024-03-01T00:00:00Z"),
        ], "n": 2,
      ], key: "several")
    try await events.save(["on": "soon", "n": 4], key: "text")
    try await events.save(["n": 8], key: "none")

    let months = try await get(
      "groups", ["in": "events", "by": "on", "bucket": "month", "aggregate": "sum", "value": "n"]
    ).1

    let groups = (months["groups"]?.array ?? []).compactMap(\.object)
    let starts: [DocumentValue?] = [
      try date("1500-03-01T00:00:00Z"), try date("2024-02-01T00:00:00Z"),
      try date("2024-03-01T00:00:00Z"),
    ]
    #expect(groups.map { $0["key"] } == starts)
    #expect(groups.map { $0["value"]?.double } == [1, 2, 2])
    #expect(months["count"] == 3 && months["undated"] == 2)
    #expect(
      try await get("groups", ["in": "events", "by": "on", "bucket": "minute"]).status == 400)
  }

  @Test(
    "Of more groups than a chart shows, the latest periods are returned, with the number of all")
  func manyPeriods() async throws {
    let limit = Inspector.maximumGroups
    try await store["days"].insert(
      (0..<limit + 20).map { day in
        ["on": .date(Date(timeIntervalSince1970: Double(day) * 86_400))] as DocumentObject
      })

    let days = try await get("groups", ["in": "days", "by": "on", "bucket": "day"]).1

    #expect(days["count"]?.int == limit + 20 && days["groups"]?.array?.count == limit)
    #expect(days[path: "groups.0.key"]?.date == Date(timeIntervalSince1970: 20 * 86_400))
  }

  @Test("The sizes of indexes are counted")
  func indexSizes() async throws {
    try await films.createIndex("year")
    try await films.createIndex(keys: "[genres]")
    let sizes = try await get("index-sizes").1["sizes"]?.array ?? []
    #expect(sizes.count == 2)
    for size in sizes { #expect(size.object?["bytes"]?.int ?? 0 >= 512) }
  }

  @Test("A query is cancelled after the time limit, and the store stays usable")
  func timeLimit() async throws {
    try await films.insert(
      (0..<20_000).map { ["text": .string("lorem \($0) ipsum")] as DocumentObject })
    let slow = (0..<40).map { "[text] LIKE '%\($0)%a%b%'" }.joined(separator: " OR ")
    let limited = inspector { $0.timeLimit = .milliseconds(5) }

    let (status, failure) = try await get("count", ["where": slow], limited)

    #expect(status == 504 && failure[path: "error.code"] == "timeLimit")
    #expect(try await get("count", [:], inspector()).1["count"] == 20_003)
    #expect(try await get("count", ["limit": "x"]).status == 400)
  }

  @Test("Without permission to write, every change is refused")
  func readOnly() async throws {
    for call in [
      "replace", "delete", "create-index", "drop-index", "compact", "import", "anything",
    ] {
      let response = await inspector().respond(
        to: ServerRequest(method: .post, path: ["api", call], parameters: [("in", "films")]))
      #expect(response.status == 403, "\(call)")
    }
    #expect(try await films.count() == 3)
  }

  @Test(
    "An edit is saved if the revision is the shown one; otherwise the stored document is returned")
  func edits() async throws {
    let writing = inspector { $0.allowsWrites = true }
    let stored = try #require(try await films.get("m"))
    func replace(_ json: String, check: Bool = false) async throws -> DocumentObject {
      let body: DocumentObject = [
        "rowID": .string("\(stored.rowID ?? 0)"), "revision": .string("\(stored.revision ?? 0)"),
        "json": .string(json), "check": .bool(check),
      ]
      let response = await writing.respond(
        to: ServerRequest(
          method: .post, path: ["api", "replace"], parameters: [("in", "films")],
          body: Data(body.jsonString().utf8)))
      return try DocumentObject(json: response.body)
    }

    #expect(try await replace(#"{"title": "X"}"#, check: true)["preview"] != nil)
    #expect(try await films.get("m")?["title"] == "Metropolis")
    #expect(try await replace(#"{"title": "X", "big": 9007199254740993}"#)["saved"] != nil)
    let saved = try #require(try await films.get("m"))
    #expect(try saved.object() == ["title": "X", "big": 9_007_199_254_740_993])

    let conflict = try await replace(#"{"title": "Y"}"#)
    #expect(conflict[path: "conflict.document.value.title"] == "X")
    #expect(try await films.get("m")?["title"] == "X")
  }

  @Test(
    "After the write of another program, an edit can be saved with the revision of the conflict")
  func foreignWrites() async throws {
    let writing = inspector { $0.allowsWrites = true }
    let stored = try #require(try await films.get("m"))
    func replace(_ revision: String) async throws -> DocumentObject {
      let body: DocumentObject = [
        "rowID": .string("\(stored.rowID ?? 0)"), "revision": .string(revision),
        "json": #"{"title": "Mine"}"#,
      ]
      let response = await writing.respond(
        to: ServerRequest(
          method: .post, path: ["api", "replace"], parameters: [("in", "films")],
          body: Data(body.jsonString().utf8)))
      return try DocumentObject(json: response.body)
    }
    try await store.execute("UPDATE films SET body = '{\"title\":\"Theirs\"}' WHERE key = 'm'")

    let conflict = try await replace("\(stored.revision ?? 0)")

    #expect(conflict[path: "conflict.document.value.title"] == "Theirs")
    let revision = try #require(conflict[path: "conflict.document.revision"]?.string)
    #expect(try await replace(revision)["saved"] != nil)
    #expect(try await films.get("m")?["title"] == "Mine")
  }

  @Test(
    "An edit sets fields of any name", arguments: [#"{"":2,"b":2}"#, #"{"__rowid__":9,"1":3}"#])
  func editedNames(json: String) async throws {
    try await films.save(DocumentObject(json: #"{"":1,"b":2}"#), key: "names")
    let found = try #require(try await films.get("names"))
    let body: DocumentObject = [
      "rowID": .string("\(found.rowID ?? 0)"), "revision": .string("\(found.revision ?? 0)"),
      "json": .string(json),
    ]

    let response = await inspector { $0.allowsWrites = true }.respond(
      to: ServerRequest(
        method: .post, path: ["api", "replace"], parameters: [("in", "films")],
        body: Data(body.jsonString().utf8)))

    #expect(try DocumentObject(json: response.body)["saved"] != nil)
    #expect(try await films.get("names")?.object() == DocumentObject(json: json))
    #expect(try await films.get("names")?.rowID == found.rowID)
  }

  @Test("Keys of other documents are looked up, and references to a key are found")
  func references() async throws {
    try await store["notes"].save(["film": "m", "list": ["a", "m"]], key: "n")
    let found = try await get("lookup", ["key": "m", "key": "none", "key": "a"]).1
    #expect(found["documents"]?.array?.count == 2)

    let references = try await get("references", ["key": "m"]).1

    #expect(references[path: "documents.0.collection"] == "notes")
    #expect(references["documents"]?.array?.count == 1)
  }

  @Test("Calls that do not exist are reported as such")
  func unknown() async throws {
    #expect(try await get("unknown").status == 404)
    #expect(try await get("document", ["rowID": "999"]).status == 404)
    let response = await inspector().respond(to: ServerRequest(path: ["api", "store", "more"]))
    #expect(response.status == 404)
  }

  @Test("A commit arrives as an event with the changed documents")
  func live() async throws {
    let stream = try #require(inspector().stream(for: ServerRequest(path: ["api", "changes"])))
    var events = stream().makeAsyncIterator()
    let ready = try #require(await events.next())
    #expect(String(decoding: ready, as: UTF8.self).hasPrefix("event: ready\n"))

    try await films.save(["title": "Ran", "year": 1986], key: "r")

    let text = String(decoding: try #require(await events.next()), as: UTF8.self)
    let json = try #require(text.components(separatedBy: "data: ").last)
    let event = try DocumentObject(json: json.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(event[path: "changes.0.documents.0.document.value.year"] == 1986)
    #expect(event[path: "changes.0.documents.0.kind"] == "updated")
  }

  @Test("The events end when a client falls behind, instead of leaving out commits")
  func slowClients() async {
    let (events, client) = AsyncStream.makeStream(
      of: [UInt8].self, bufferingPolicy: LiveCommits.buffering)
    var sent: [[UInt8]] = []

    for number in 0..<200 as Range<UInt8> {
      guard LiveCommits.send([number], to: client) else { break }
      sent.append([number])
    }

    #expect(sent.count < 200)
    var received: [[UInt8]] = []
    for await event in events { received.append(event) }
    #expect(received == sent)
  }
}

extension DocumentObject {
  /// The value at a path with numbers for elements.
  subscript(path path: String) -> DocumentValue? { documentValue[FieldPath(path)] }
}
