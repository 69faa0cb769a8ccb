// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("nanostore configure")
struct ConfigureTests {
  let command: CommandRunner

  init() throws { command = try CommandRunner().withFilms() }

  @Test("A setup is applied completely, takes effect immediately and is idempotent")
  func completeSetup() throws {
    try command.write(
      "setup.json",
      """
      {"storeName": "elsewhere.db", "collections": {"films": {"defaults": {"seen": false},
      "aliases": {"by": "[director.name]"}, "indexes": ["by", "[year] DESC"]}, "people": {}}}
      """)

    for _ in 0..<2 {
      let outcome = try command.run("configure", "library.db", "setup.json")
      #expect(outcome.status == 0)
      #expect(outcome.lines == ["films: 1 default, 1 alias, 2 indexes", "people: no settings"])
    }
    let count = try command.run("count", "library.db", "films", "[seen] = FALSE AND by = 'Nobody'")
    let explained = try command.run("explain", "library.db", "films", "by = 'Akira Kurosawa'")
    #expect(count.output == "0\n")
    #expect(explained.output.contains("director.name"))
    #expect(try command.run("find", "library.db", "films", "by ==").status == 1)
    #expect(!command.exists("elsewhere.db"))
  }

  @Test("An invalid entry is an error, or is skipped with a note")
  func invalidEntries() throws {
    try command.write(
      "setup.json", #"{"collections": {"films": {"indexes": [3, "[year]"], "zzz": 1}}}"#)

    let strict = try command.run("configure", "library.db", "setup.json")
    #expect(strict.status == 1)
    #expect(strict.diagnostics.contains("collections.films.indexes.0"))
    #expect(try command.run("index", "list", "library.db", "films").output.isEmpty)

    let lenient = try command.run("configure", "library.db", "setup.json", "--lenient")
    #expect(lenient.status == 0)
    #expect(lenient.lines == ["films: 1 index"])
    #expect(lenient.diagnostics.split(separator: "\n").count == 2)
    #expect(try command.run("configure", "library.db", "missing.json").status == 1)
  }
}
