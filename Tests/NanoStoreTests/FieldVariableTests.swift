// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Fields from variables")
struct FieldVariableTests {
  private let title = "Alien"
  private let year = 1979
  private let score = 8.5
  private let nothing: Int? = nil

  @Test("A literal with variables yields the same document as literal values")
  func sameDocument() throws {
    let films = try anyStore()["films"]
    try films.insert(
      ["title": title, "year": year, "score": score, "none": nothing, "cast": [title, title]],
      key: "a")
    try films.save(["title": title, "by": ["name": title, "born": "1937"]], key: "b")
    let a: DocumentObject = [
      "title": "Alien", "year": 1979, "score": 8.5, "none": nil, "cast": ["Alien", "Alien"],
    ]
    let b: DocumentObject = ["title": "Alien", "by": ["born": "1937", "name": "Alien"]]
    #expect(try films.get("a")?.object() == a)
    #expect(try films.get("b")?.object() == b)
    #expect(DocumentObject(["title": title, "year": year]) == ["title": "Alien", "year": 1979])
  }

  @Test("Updates accept variables, for a single document and for a query")
  func updates() throws {
    let films = try anyStore()["films"]
    try films.insert(["title": "?"], key: "a")
    try films.update("a", set: ["title": title, "by.name": title], remove: ["none"])
    #expect(try films.find().update(set: ["year": year, "score": score]) == 1)
    #expect(
      try films.get("a")?.object()
        == ["title": "Alien", "by": ["name": "Alien"], "year": 1979, "score": 8.5])
  }

  @Test("A store opens at a file URL and rejects other URLs")
  func url() throws {
    let scratch = try Scratch()
    let url = URL(filePath: scratch.path).appending(path: "with space.db")
    let store = try Store(.file(url))
    try store["a"].insert(["n": 1])
    try store.close()
    #expect(FileManager.default.fileExists(atPath: scratch.path + "/with space.db"))
    let error = #expect(throws: StoreError.self) {
      try Store(.file(URL(string: "https://example.org/a.db")!))
    }
    #expect(error?.code == .invalidArgument)
  }
}
