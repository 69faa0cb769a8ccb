// SPDX-License-Identifier: MIT

import Foundation
import NanoServer
import NanoStore
import Testing

@testable import NanoInspector

@Suite("The graph of the inspector")
struct GraphTests {
  private let store: Store

  init() throws {
    store = try Store(.memory)
    try store["people"].save(["name": "Ridley Scott"], key: "scott")
    try store["films"].save(
      ["title": "Alien", "director": "scott", "cast": [["actor": "weaver"], ["actor": "scott"]]],
      key: "alien")
    try store["people"].save(["name": "Sigourney Weaver", "best": "alien"], key: "weaver")
  }

  private func get(
    _ call: String, _ parameters: KeyValuePairs<String, String>
  ) async throws -> (status: Int, DocumentObject) {
    var options = InspectorOptions(location: "x")
    options.timeLimit = .seconds(60)
    let response = await Inspector(store, options: options).respond(
      to: ServerRequest(
        path: ["api", call], parameters: parameters.map { (name: $0.key, value: $0.value) }))
    return (response.status, try DocumentObject(json: response.body))
  }

  private func row(_ collection: String, _ key: String) throws -> String {
    "\(try #require(try store[collection].get(key)?.rowID))"
  }

  /// The nodes as texts such as `films: Alien (director, cast[].actor)`.
  private static func nodes(_ result: DocumentObject) -> [String] {
    (result["nodes"]?.array ?? []).compactMap { $0.object }.map { node in
      let paths = node["paths"]?.array?.compactMap(\.string).joined(separator: ", ") ?? ""
      return "\(node["collection"]?.string ?? ""): \(node["label"]?.string ?? "") (\(paths))"
    }
  }

  @Test("Keys in fields and arrays are references, in both directions, each document once")
  func keys() async throws {
    let alien = try row("films", "alien")
    let out = try await get("neighbors", ["in": "films", "rowID": alien]).1
    #expect(out["center"]?.object?["label"] == "alien")
    #expect(
      Self.nodes(out) == [
        "people: scott (director, cast[].actor)", "people: weaver (cast[].actor)",
      ])
    #expect(out["hasMore"] == false && out["isComplete"] == true)

    let back = try await get("referrers", ["in": "films", "rowID": alien]).1
    #expect(Self.nodes(back) == ["people: weaver (best)"])
    let weaver = try await get("referrers", ["in": "people", "rowID": try row("people", "weaver")])
    #expect(Self.nodes(weaver.1) == ["films: alien (cast[].actor)"])
  }

  @Test(
    "Row IDs are references in fields named like a collection, in relationships, and where the page says so"
  )
  func rowIDs() async throws {
    let first = try await store["Song"].insert(["name": "One"]).rowID ?? 0
    let second = try await store["Song"].insert(["name": "Two"]).rowID ?? 0
    let album = try await store["Album"].insert([
      "songs": [.int(second), .int(first)], "songID": .int(first), "year": .int(first),
      "owner": ["collection": "Song", "id": .int(second)], "cover": .int(second),
    ])
    let rowID = "\(album.rowID ?? 0)"
    let out = try await get("neighbors", ["in": "Album", "rowID": rowID]).1
    #expect(Self.nodes(out) == ["Song: Two (songs[], owner)", "Song: One (songs[], songID)"])
    #expect(out["integers"]?.array?.contains("cover") == true)

    let links = #"[["Album","cover","Song"]]"#
    let linked = try await get("neighbors", ["in": "Album", "rowID": rowID, "links": links]).1
    #expect(
      Self.nodes(linked) == ["Song: Two (songs[], owner, cover)", "Song: One (songs[], songID)"])
    let back = try await get("referrers", ["in": "Song", "rowID": "\(second)", "links": links]).1
    #expect(back["nodes"]?.array?.count == 1)
    #expect(Self.nodes(back).first?.contains("(songs[], owner, cover)") == true)
    #expect(
      try await get("neighbors", ["in": "Album", "rowID": rowID, "links": "[1]"]).status == 400)
  }

  @Test("A relationship is found behind others that have the same row ID in another collection")
  func mixedRelationships() async throws {
    let song = try #require(try await store["Song"].insert(["name": "One"]).rowID)
    func owned(by collection: String) -> DocumentObject {
      ["owner": ["collection": .string(collection), "id": .int(song)]]
    }
    // Of a document with several owners, the row ID and the collection may belong to different ones.
    let both: DocumentObject = [
      "owner": [
        ["collection": "Film", "id": .int(song)], ["collection": "Song", "id": .int(song + 1)],
      ]
    ]
    try await store["Tag"].insert((0..<30).map { $0 < 15 ? owned(by: "Film") : both })
    try await store["Tag"].insert(owned(by: "Song"))

    let one = try await get("referrers", ["in": "Song", "rowID": "\(song)", "size": "1"]).1
    #expect(Self.nodes(one).count == 1 && one["hasMore"] == false)
    try await store["Tag"].insert(owned(by: "Song"))
    let more = try await get("referrers", ["in": "Song", "rowID": "\(song)", "size": "1"]).1
    #expect(Self.nodes(more).count == 1 && more["hasMore"] == true)
  }

  @Test("The number of examined documents is limited, and the result says that it is not complete")
  func candidates() async throws {
    let song = try #require(try await store["Song"].insert(["name": "One"]).rowID)
    let other: DocumentObject = [
      "owner": [
        ["collection": "Film", "id": .int(song)], ["collection": "Song", "id": .int(song + 1)],
      ]
    ]
    try await store["Tag"].insert(Array(repeating: other, count: 1_000))
    let all = try await get("referrers", ["in": "Song", "rowID": "\(song)"]).1
    #expect(Self.nodes(all).isEmpty && all["hasMore"] == false && all["isComplete"] == true)

    try await store["Tag"].insert(["owner": ["collection": "Song", "id": .int(song)]])
    let some = try await get("referrers", ["in": "Song", "rowID": "\(song)"]).1
    #expect(Self.nodes(some).isEmpty && some["hasMore"] == true && some["isComplete"] == false)
  }

  @Test(
    "Of a document with many paths of integers, some are listed, and later references are found")
  func manyIntegers() async throws {
    let counts = DocumentObject((0..<5_000).map { ("user\($0)", DocumentValue.int($0)) })
    let totals = try await store["totals"].insert(["counts": .object(counts), "film": "alien"])
    let rowID = "\(try #require(totals.rowID))"

    let out = try await get("neighbors", ["in": "totals", "rowID": rowID]).1

    #expect(out["integers"]?.array?.count == References.maximum)
    #expect(Self.nodes(out) == ["films: alien (film)"])
  }

  @Test("The number of neighbors is limited, and the result says that there are more")
  func limits() async throws {
    for number in 0..<30 {
      try await store["notes"].save(
        ["about": "alien", "n": .int(Int64(number))], key: "note \(number)")
    }
    let alien = try row("films", "alien")
    let some = try await get("referrers", ["in": "films", "rowID": alien, "size": "10"]).1
    #expect(some["nodes"]?.array?.count == 10 && some["hasMore"] == true)
    try await store["notes"].insert(["about": "alien", "text": "Generated key"])
    let all = try await get("referrers", ["in": "films", "rowID": alien, "size": "32"]).1
    #expect(Self.nodes(all).contains("notes: Generated key (about)"))
    #expect(all["nodes"]?.array?.count == 32 && all["hasMore"] == false)
    #expect(try await get("neighbors", ["in": "films", "rowID": "999"]).status == 404)
  }
}
