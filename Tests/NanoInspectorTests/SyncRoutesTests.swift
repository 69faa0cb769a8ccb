// SPDX-License-Identifier: MIT

import Foundation
import NanoServer
import NanoStore
import NanoStoreSync
import NanoTestSupport
import Testing

@testable import NanoInspector

@Suite("The state of sync in the inspector")
struct SyncRoutesTests {
  private let phone: Store
  private let laptop: Store

  init() throws {
    phone = try Store(.memory)
    laptop = try Store(.memory)
  }

  private func call(
    _ name: String, _ parameters: [(name: String, value: String)] = [],
    _ body: DocumentObject? = nil, writes: Bool = false
  ) async throws -> (status: Int, DocumentObject) {
    var options = InspectorOptions(location: "phone.db")
    options.allowsWrites = writes
    let response = await Inspector(phone, options: options).respond(
      to: ServerRequest(
        method: body == nil ? .get : .post, path: ["api", name], parameters: parameters,
        body: Data((body?.jsonString() ?? "").utf8)))
    return (response.status, try DocumentObject(json: response.body))
  }

  private func synchronize() async throws {
    var options = SyncOptions()
    options.defaultRules.resolve = { _ in .undecided }
    _ = try await phone.replicate(
      ["films"], with: .store(laptop), mode: .once, options: options
    ).finish()
  }

  /// Both devices edit the same film.
  private func makeConflict() async throws {
    try await phone["films"].save(["title": "Alien", "year": 1979], key: "alien")
    try await synchronize()
    try await phone["films"].update("alien", set: ["seen": true])
    try await laptop["films"].update("alien", set: ["director": "Ridley Scott"])
    try await synchronize()
  }

  @Test("A store without sync has no synchronized collections")
  func none() async throws {
    try await phone["films"].save(["title": "Alien"], key: "alien")
    #expect(try await call("sync").1["collections"] == [])
  }

  @Test("Changes are counted until they have a revision and until they are sent")
  func counts() async throws {
    try await phone["films"].save(["title": "Alien"], key: "alien")
    try await synchronize()
    try await phone["films"].save(["title": "Ran"], key: "ran")
    let before = try await call("sync").1
    #expect(before[path: "collections.0.unassigned"] == 1)
    try await phone.enableSync(for: ["films"])
    #expect(try await phone.conflicts().isEmpty)
    let after = try await call("sync").1
    #expect(after[path: "collections.0.unassigned"] == 0)
    let checkpoints = try #require(after[path: "collections.0.checkpoints"]?.array)
    let push = try #require(checkpoints.first { $0.object?["direction"] == "push" }?.object)
    #expect(push["unsent"] == 1)
    #expect(push["peer"]?.string?.hasPrefix("store:") == true)
    #expect(checkpoints.allSatisfy { $0.object?["date"]?.date != nil })
  }

  @Test("A conflict has both versions and the one before them")
  func versions() async throws {
    try await makeConflict()
    #expect(try await call("sync").1[path: "collections.0.conflicts"] == ["alien"])
    let conflict = try await call("conflict", [("in", "films"), ("key", "alien")]).1
    let versions = [conflict["winnerValue"], conflict["otherValue"]]
    #expect(versions.contains { $0?.object?["seen"] == true })
    #expect(versions.contains { $0?.object?["director"] == "Ridley Scott" })
    #expect(conflict[path: "base.title"] == "Alien")
  }

  @Test("A version that changed after it was shown is not resolved; without --write, nothing is")
  func stale() async throws {
    try await makeConflict()
    let conflict = try await call("conflict", [("in", "films"), ("key", "alien")]).1
    var body: DocumentObject = ["key": "alien", "take": "merge"]
    for name in ["winner", "other"] { body[name] = conflict[name] }
    #expect(try await call("resolve", [("in", "films")], body).status == 403)
    try await phone["films"].update("alien", set: ["year": 1980])
    #expect(
      try await call("resolve", [("in", "films")], body, writes: true).1["resolved"] == false)
    #expect(try await phone.conflicts().count == 1)
  }

  @Test("A merge keeps the edits of both, and is synchronized")
  func merge() async throws {
    try await makeConflict()
    let conflict = try await call("conflict", [("in", "films"), ("key", "alien")]).1
    var body: DocumentObject = ["key": "alien", "take": "merge"]
    for name in ["winner", "other"] { body[name] = conflict[name] }
    #expect(try await call("resolve", [("in", "films")], body, writes: true).1["resolved"] == true)
    try await synchronize()
    for store in [phone, laptop] {
      let film = try #require(try await store["films"].get("alien"))
      #expect(film["seen"] == true && film["director"] == "Ridley Scott")
      #expect(try await store.conflicts().isEmpty)
    }
  }
}
