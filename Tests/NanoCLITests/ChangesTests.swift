// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("nanostore changes", .timeLimit(.minutes(10)))
struct ChangesTests {
  private let command: CommandRunner

  init() throws {
    command = try CommandRunner().withFilms()
    try command.run("changes", "library.db", "films", "--track")
  }

  private struct Line: Decodable {
    var position: String?
    var reset: String?
    var rowid: Int?
    var key: String?
    var revision: Int?
    var deleted: Bool?
    var document: [String: Value]?

    /// A field of any type.
    struct Value: Decodable {
      init(from decoder: any Decoder) throws {}
    }
  }

  private func lines(_ arguments: String...) throws -> [Line] {
    try command.run(["changes", "library.db", "films"] + arguments).lines.map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
  }

  @Test("All documents come first, and after a position only what changed")
  func since() throws {
    let all = try lines()
    let count = try command.run("count", "library.db", "films").output
    #expect("\(all.count)\n" == count)
    #expect(all.allSatisfy { $0.document != nil && $0.revision != nil })
    #expect(try lines("--count", "2").map(\.key) == all.prefix(2).map(\.key))
    let position = try #require(all.last?.position)
    #expect(try lines("--since", position).isEmpty)

    try command.run("put", "library.db", "films", "Dune", #"{"title":"Dune"}"#)
    try command.run("delete", "library.db", "films", "Brazil")
    let new = try lines("--since", position, "--ids-only")
    #expect(new.map(\.key) == ["Dune", "Brazil"])
    #expect(new.map(\.deleted) == [nil, true])
    #expect(new.allSatisfy { $0.document == nil })
    #expect(try lines("--since", position, "--key", "Brazil").map(\.key) == ["Brazil"])
    #expect(try lines("--since", "").count == Int(count.dropLast())! + 1)
  }

  @Test("A loop of the shell that is killed continues where it stopped")
  func resumes() throws {
    let outcome = try command.shell(
      """
      touch position
      follow() {
        $N changes library.db films --follow --ids-only --since "$(cat position)" --count $1 |
          while IFS= read -r line; do
            printf '%s\\n' "$line" >>seen
            printf '%s' "$line" | sed -n 's/^{"position":"\\([^"]*\\)".*/\\1/p' >position
          done
      }
      follow $($N count library.db films)
      for n in 1 2 3; do
        $N put library.db films "New $n" '{}' >&2
        follow 1 &
        $N put library.db films "New $n" '{"n":1}' >&2
        wait $!
      done
      $N changes library.db films --ids-only --since "$(cat position)" >>seen
      cat seen
      """)
    let added = outcome.lines.filter { $0.contains("New ") }
    for number in 1...3 {
      let seen = added.filter { $0.contains(#""key":"New \#(number)""#) }
      #expect(seen.last?.contains(#""revision":2"#) == true, "\(outcome.diagnostics)")
      #expect(seen.count <= 2)
    }
  }

  @Test("A collection that was created again is reported, and all documents follow")
  func reset() throws {
    let position = try #require(try lines().last?.position)
    try command.run("sql", "library.db", "SELECT 1")
    try command.shell("rm library.db*")
    try command.run("put", "library.db", "films", "A", "{}")
    try command.run("changes", "library.db", "films", "--track")
    let new = try lines("--since", position, "--ids-only")
    #expect(new.map(\.reset) == ["restarted", nil])
    #expect(new.map(\.key) == [nil, "A"])
  }

  @Test("Wrong positions and options, and collections without a feed, are rejected")
  func rejected() throws {
    #expect(try command.run("changes", "library.db", "films", "--since", "42").status == 64)
    #expect(try command.run("changes", "library.db", "films", "--count", "0").status == 64)
    #expect(try command.run("changes", "library.db", "films", "--track", "--follow").status == 64)
    try command.run("put", "library.db", "other", "A", "{}")
    let twins = try command.run(
      "changes", "library.db", "films", "--key", "caf\u{E9}", "--key", "cafe\u{301}")
    #expect(twins.status == 64)
    #expect(twins.diagnostics.contains("one at a time"))
    let untracked = try command.run("changes", "library.db", "other")
    #expect(untracked.status == 1)
    #expect(untracked.diagnostics.contains("not tracked"))
    #expect(try command.run("changes", "none.db", "films").status == 1)
  }
}
