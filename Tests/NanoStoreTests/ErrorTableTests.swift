// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("docs/ERRORS.md")
struct ErrorTableTests {
  private static func rows() throws -> [[String]] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/ERRORS.md"), encoding: .utf8)
    return page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  @Test("The table has one complete row for each code, in the order of their declaration")
  func everyCode() throws {
    let rows = try Self.rows()
    #expect(rows.map { $0[0] } == StoreError.Code.allCases.map { "`\($0.rawValue)`" })
    for row in rows {
      #expect(row.count == 5 && !row.contains(""), "\(row[0])")
      #expect(["no", "later", "yes", "if idempotent"].contains(row[3]), "\(row[0])")
    }
  }

  /// A call that throws, with the code that it throws.
  struct Failure: Sendable, CustomTestStringConvertible {
    let code: StoreError.Code
    let call: @Sendable (Store, DocumentCollection) throws -> Void
    var testDescription: String { code.rawValue }
  }

  static let failures: [Failure] = [
    Failure(code: .invalidJSON) { try $1.insert(json: "{") },
    Failure(code: .invalidPath) { try $1.createIndex("a..b") },
    Failure(code: .invalidQuery) { _ = try $1.find("[a] = ") },
    Failure(code: .invalidArgument) { try $1.replace(Document(["a": 1])) },
    Failure(code: .invalidKey) { try $1.save(["a": 1], key: "") },
    Failure(code: .invalidName) { store, _ in try store["nano_private"].insert(["a": 1]) },
    Failure(code: .valueNotStorable) {
      try $1.insert(["a": .date(Date(timeIntervalSince1970: 1e15))])
    },
    Failure(code: .duplicateKey) { try $1.insert(["a": 1], key: "ran") },
    Failure(code: .uniqueViolation) { try $1.insert(["title": "Ran"]) },
    Failure(code: .revisionConflict) {
      let stale = try #require(try $1.get("ran"))
      try $1.replace(stale, ifRevision: 99)
    },
    Failure(code: .notFound) { try $1.update("missing", set: ["a": 1]) },
    Failure(code: .alreadyExists) { try $1.createIndex("year", name: "title") },
    Failure(code: .typeMismatch) { try $1.update("ran", set: ["title.first": 1]) },
    Failure(code: .partialDocument) {
      let part = try #require(try $1.find().select("year").first())
      try $1.save(part)
    },
    Failure(code: .readOnly) { store, films in
      _ = try store.read { try films.insert(["a": 1]) }
    },
    Failure(code: .notPermitted) { store, _ in
      try store.execute("DELETE FROM nano_paths")
    },
  ]

  @Test("A call that throws has changed nothing, and the store can be used", arguments: failures)
  func unchanged(failure: Failure) throws {
    let store = try Store(.memory)
    let films = store["films"]
    try films.insert(["title": "Ran", "year": 1985], key: "ran")
    try films.createIndex("title", unique: true, name: "title")
    let row = try #require(try Self.rows().first { $0[0] == "`\(failure.code.rawValue)`" })
    #expect(row[3] == "no" && row[4] == "unchanged")

    for _ in 1...2 {
      let error = #expect(throws: StoreError.self) { try failure.call(store, films) }
      #expect(error?.code == failure.code)
    }

    #expect(try films.fetch().map { try $0.object() } == [["title": "Ran", "year": 1985]])
    #expect(try films.indexes().map(\.name) == ["title"])
    #expect(try store.collections().map(\.name) == ["films"])
    try films.insert(["title": "Alien"])
    #expect(try films.count() == 2)
  }

  @Test("Calls before a caught error take effect; those of a block that throws do not")
  func blocks() throws {
    let store = try Store(.memory)
    let films = store["films"]
    try films.insert(["title": "Ran"], key: "ran")

    try store.write {
      try films.insert(["title": "Alien"], key: "alien")
      #expect(throws: StoreError.self) { try films.insert(["title": "Ran"], key: "ran") }
    }
    #expect(try films.count() == 2)
    #expect(throws: StoreError.self) {
      try store.write {
        try films.insert(["title": "Dune"], key: "dune")
        try films.insert(["title": "Ran"], key: "ran")
      }
    }
    #expect(try films.count() == 2)
  }

  @Test("The example runs") func example() async throws {
    let films = try Store(.memory)["films"]
    try await films.insert(["title": "Kagemusha", "year": 1985], key: "ran")
    do {
      try await films.insert(["title": "Ran"], key: "ran")
    } catch let error as StoreError where error.code == .duplicateKey {
      try await films.update("ran", set: ["title": "Ran"])
    } catch let error as StoreError where error.code == .locked {
      print("Try again later:", error[.hint] ?? "", error)
    }
    #expect(try await films.get("ran")?.object() == ["title": "Ran", "year": 1985])
    #expect(
      SwiftBlocks(of: "docs/ERRORS.md").missing(in: ["Tests/NanoStoreTests/ErrorTableTests.swift"])
        == [])
  }
}
