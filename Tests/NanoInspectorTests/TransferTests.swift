// SPDX-License-Identifier: MIT

import Foundation
import NanoServer
import NanoStore
import NanoTestSupport
import Testing

@testable import NanoInspector

@Suite("Backups, exports, imports and attachments in the inspector")
struct TransferTests {
  private let store: Store
  private let films: DocumentCollection

  init() throws {
    store = try Store(.memory)
    films = store["films"]
    try films.save(["title": "Metropolis", "year": 1927], key: "m")
    try films.save(["title": "Alien", "year": 1979], key: "a")
  }

  private func inspector(writes: Bool = false) -> Inspector {
    var options = InspectorOptions(location: "films.db")
    options.allowsWrites = writes
    return Inspector(store, options: options)
  }

  private static func request(
    _ call: String, _ parameters: KeyValuePairs<String, String>, post: Bool = false
  ) -> ServerRequest {
    ServerRequest(
      method: post ? .post : .get, path: ["api", call],
      parameters: parameters.map { (name: $0.key, value: $0.value) })
  }

  private static func bytes(of download: ServerDownload) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    try await download.body { bytes += $0 }
    return bytes
  }

  private static func progress(
    _ id: String, _ inspector: Inspector
  ) async throws -> DocumentObject {
    try DocumentObject(json: await inspector.respond(to: request("transfer", ["id": id])).body)
  }

  @Test("An export contains the matching documents, and can be imported again")
  func exports() async throws {
    let inspector = inspector(writes: true)
    let download = try #require(
      await inspector.download(
        for: Self.request("export", ["in": "films", "where": "[year] > 1950", "id": "e"])))
    #expect(download.status == 200 && download.disposition?.hasPrefix("attachment") == true)
    let exported = try await Self.bytes(of: download)
    let progress = try await Self.progress("e", inspector)
    #expect(progress["state"] == "finished" && progress["documents"] == 1)

    let upload = try #require(
      inspector.upload(for: Self.request("import", ["in": "copies", "id": "i"], post: true)))
    var parts = [exported]
    let response = await upload(
      ServerUploadBody(length: exported.count) { parts.popLast() })

    #expect(response.status == 200)
    #expect(try await store["copies"].get("a")?["title"] == "Alien")
    #expect(try await store["copies"].count() == 1)
  }

  @Test("An export as CSV has a column for each field")
  func tables() async throws {
    let download = try #require(
      await inspector().download(
        for: Self.request("export", ["in": "films", "format": "csv", "sort": "[year]"])))
    let text = String(decoding: try await Self.bytes(of: download), as: UTF8.self)
    #expect(text == "__key__,title,year\nm,Metropolis,1927\na,Alien,1979\n")
  }

  @Test("An export larger than the channel is sent while it is produced, and stops on request")
  func largeExports() async throws {
    let text = String(repeating: "lorem ipsum ", count: 1_000)
    try await films.insert(
      (0..<400).map { ["n": .int($0), "text": .string(text)] as DocumentObject })
    let inspector = inspector()
    let download = try #require(
      await inspector.download(for: Self.request("export", ["in": "films", "id": "x"])))
    let whole = try await Self.bytes(of: download)
    #expect(whole.split(separator: UInt8(ascii: "\n")).count == 402)

    let canceled = try #require(
      await inspector.download(for: Self.request("export", ["in": "films", "id": "y"])))
    await #expect(throws: CancellationError.self) {
      try await canceled.body { _ in
        let response = await inspector.respond(to: Self.request("cancel", ["id": "y"], post: true))
        #expect(response.status == 200)
      }
    }
    #expect(try await Self.progress("y", inspector)["state"] == "canceled")

    // A client that has gone ends the export too, which otherwise would wait for it forever.
    struct Gone: Error {}
    let broken = try #require(
      await inspector.download(for: Self.request("export", ["in": "films", "id": "z"])))
    await #expect(throws: Gone.self) { try await broken.body { _ in throw Gone() } }
    #expect(try await store["films"].count() == 402)
  }

  @Test("A backup is a store with the same documents")
  func backups() async throws {
    let inspector = inspector()
    let download = try #require(await inspector.download(for: Self.request("backup", ["id": "b"])))
    let bytes = try await Self.bytes(of: download)
    #expect(try await Self.progress("b", inspector)["state"] == "finished")

    let scratch = try Scratch()
    let file = scratch.file("copy.db")
    try Data(bytes).write(to: URL(filePath: file))
    let copy = try Store(.file(file))
    #expect(try await copy["films"].count() == 2)
    try copy.close()
  }

  @Test("An import reports the line of an invalid record and stores nothing; or skips the record")
  func invalidRecords() async throws {
    let inspector = inspector(writes: true)
    func upload(
      _ text: String, _ parameters: KeyValuePairs<String, String>
    ) async throws -> (Int, DocumentObject) {
      var parts = [Array(text.utf8)]
      let upload = try #require(
        inspector.upload(for: Self.request("import", parameters, post: true)))
      let response = await upload(ServerUploadBody(length: nil) { parts.popLast() })
      return (response.status, try DocumentObject(json: response.body))
    }
    let text = "{\"n\": 1}\n{\"n\": 2}\n{\"n\": }\n"

    let (status, failure) = try await upload(text, ["in": "numbers", "id": "1"])
    #expect(status == 400 && failure["error"]?.object?["code"] == "invalidJSON")
    #expect(failure["error"]?.object?["details"]?.object?["line"] == "3")
    #expect(try await store.collections().map(\.name) == ["films"])
    #expect(try await Self.progress("1", inspector)["state"] == "failed")

    let (_, report) = try await upload(text, ["in": "numbers", "skip": "true"])
    #expect(report["documents"] == 2 && report["skipped"] == 1)
    #expect(report["errors"]?.array?.first?.object?["details"]?.object?["line"] == "3")

    let table = try await upload(
      "id,name\nx,Ada\ny,Bob\n", ["in": "people", "format": "csv", "key": "id"])
    #expect(table.1["documents"] == 2)
    #expect(try await store["people"].get("x")?["name"] == "Ada")
    #expect(
      try await upload("id,name\nx,Eve\n", ["in": "people", "format": "csv", "key": "id"]).0 == 409)
    let replaced = try await upload(
      "id,name\nx,Eve\n", ["in": "people", "format": "csv", "key": "id", "replace": "true"])
    #expect(replaced.0 == 200)
    #expect(try await store["people"].get("x")?["name"] == "Eve")
  }

  @Test("A read-only inspector receives no upload")
  func readOnly() {
    let upload = inspector().upload(for: Self.request("import", ["in": "films"], post: true))
    if upload != nil { Issue.record("The inspector receives an upload") }
  }

  @Test(
    "An attachment is listed and downloaded as a file of no type, whatever its name and type are")
  func attachments() async throws {
    let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
    let name = "a\"b\r\nX: y/ü.html"
    try await films.attach(.data(content), named: name, contentType: "text/html", to: "m")
    let stored = try #require(try await films.get("m"))
    let rowID = "\(try #require(stored.rowID))"
    let document = try DocumentObject(
      json: await inspector().respond(
        to: Self.request("document", ["in": "films", "rowID": rowID])
      ).body)
    let listed = document["attachments"]?.array?.first?.object
    #expect(listed?["name"] == .string(name) && listed?["length"] == 300_000)

    let download = try #require(
      await inspector().download(
        for: Self.request("attachment", ["in": "films", "rowID": rowID, "name": name])))

    #expect(download.contentType == "application/octet-stream" && download.length == 300_000)
    #expect(
      download.disposition
        == "attachment; filename=\"a_b__X_ y__.html\"; filename*=UTF-8''a%22b%0D%0AX%3A%20y%2F%C3%BC.html"
    )
    #expect(try await Self.bytes(of: download) == Array(content))
    let missing = await inspector().download(
      for: Self.request("attachment", ["in": "films", "rowID": rowID, "name": "none"]))
    #expect(missing?.status == 404 && missing?.disposition == nil)
  }

  @Test("An attachment that is replaced after its download has begun is sent as announced")
  func replacedAttachment() async throws {
    try await films.attach(.data(Data([1, 2, 3])), named: "a", to: "m")
    let stored = try #require(try await films.get("m"))
    let rowID = "\(try #require(stored.rowID))"
    let download = try #require(
      await inspector().download(
        for: Self.request("attachment", ["in": "films", "rowID": rowID, "name": "a"])))
    try await films.attach(.data(Data([4])), named: "a", to: "m")
    #expect(download.length == 3)
    #expect(try await Self.bytes(of: download) == [1, 2, 3])
  }

  @Test("A download has the length of the content, whatever the document says")
  func attachmentLength() async throws {
    let attachment = try await films.attach(.data(Data([1, 2, 3])), named: "a", to: "m")
    try await films.update("m", set: ["_attachments.a.length": 5])
    let stored = try #require(try await films.get("m"))
    let rowID = "\(try #require(stored.rowID))"

    let download = try #require(
      await inspector().download(
        for: Self.request("attachment", ["in": "films", "rowID": rowID, "name": "a"])))

    #expect(attachment.length == 3 && download.length == 3)
    #expect(try await Self.bytes(of: download) == [1, 2, 3])
  }

  @Test("The expiration of a document is shown")
  func expiration() async throws {
    let date = Date(timeIntervalSince1970: 4_000_000_000)
    try await films.setExpiration(date, of: "m")
    let response = await inspector().respond(
      to: Self.request("document", ["in": "films", "key": "m"]))
    #expect(try DocumentObject(json: response.body)["expires"] == .date(date))
  }

  @Test("A transfer needs a new name, and an unknown one has no progress")
  func names() async throws {
    let inspector = inspector()
    let first = await inspector.download(for: Self.request("export", ["in": "films", "id": "n"]))
    #expect(first?.status == 200)
    let second = await inspector.download(for: Self.request("export", ["in": "films", "id": "n"]))
    #expect(second?.status == 400)
    #expect(await inspector.respond(to: Self.request("transfer", ["id": "none"])).status == 404)
    let wrong = await inspector.download(
      for: Self.request("export", ["in": "films", "where": "[x >"]))
    #expect(wrong?.status == 400)
  }

  @Test("Maintenance without a process of its own runs in this one")
  func maintenance() async throws {
    let inspector = inspector(writes: true)
    let verified = await inspector.respond(to: Self.request("verify", ["id": "v"]))
    #expect(try DocumentObject(json: verified.body)["count"] == 0)
    #expect(try await Self.progress("v", inspector)["state"] == "finished")
    let compacted = await inspector.respond(to: Self.request("compact", ["id": "c"], post: true))
    #expect(try DocumentObject(json: compacted.body)["after"]?.int != nil)
  }

  @Test(
    "Canceling maintenance cancels its process, with or without a time limit",
    arguments: [nil, "100000"] as [String?])
  func cancelingMaintenance(limit: String?) async throws {
    var options = InspectorOptions(location: "films.db")
    options.maintenance = { task in
      #expect(task == .verify)
      try await Task.sleep(for: .seconds(1_000))
      return []
    }
    let inspector = Inspector(store, options: options)
    async let response = inspector.respond(
      to: Self.request("verify", ["id": "v", "limit": limit ?? ""]))
    while (try? await Self.progress("v", inspector)["phase"]) != "verifying" {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(try await Self.progress("v", inspector)["state"] == "running")
    _ = await inspector.respond(to: Self.request("cancel", ["id": "v"], post: true))
    #expect(await response.status == 408)
    #expect(try await Self.progress("v", inspector)["state"] == "canceled")
  }

  @Test("An error of the process is the error of the call")
  func failingMaintenance() async throws {
    var options = InspectorOptions(location: "films.db")
    options.maintenance = { _ in throw MaintenanceFailure(StoreError(.full, "No space")) }
    let inspector = Inspector(store, options: options)
    let response = await inspector.respond(to: Self.request("verify", ["id": "v"]))
    let failure = try DocumentObject(json: response.body)
    #expect(response.status == 500 && failure["error"]?.object?["code"] == "full")
    #expect(failure["error"]?.object?["message"] == "No space")
    #expect(try await Self.progress("v", inspector)["failure"]?.object?["code"] == "full")
  }
}
