// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("nanostore watch", .timeLimit(.minutes(10)))
struct WatchTests {
  private let command: CommandRunner

  init() throws { command = try CommandRunner().withFilms() }

  /// Waits in the shell until the watching process has printed a line with this text.
  private static func until(_ text: String) -> String {
    "until grep -q '\(text)' out; do sleep 0.05; done"
  }

  @Test("watch prints the current result, then changes by other processes")
  func changes() throws {
    let outcome = try command.shell(
      """
      $N watch library.db films '[year] > 1980' --sort year --fields title,year --count 6 >out &
      \(Self.until("Cach"))
      $N put library.db films Dune '{"title":"Dune","year":2021}' >&2
      \(Self.until("Dune"))
      $N put library.db films Other '{"title":"Other","year":1970}' >&2
      $N put library.db films Brazil '{"title":"Brazil","year":2030}' >&2
      \(Self.until("2030"))
      $N delete library.db films Dune >&2
      wait $!; cat out
      """)

    #expect(
      outcome.lines == [
        #"{"change":"found","position":0,"rowid":2,"key":"Brazil","document":{"title":"Brazil","year":1985}}"#,
        #"{"change":"found","position":1,"rowid":3,"key":"Caché","document":{"title":"Caché","year":2005}}"#,
        #"{"change":"inserted","position":2,"rowid":4,"key":"Dune","document":{"title":"Dune","year":2021}}"#,
        #"{"change":"moved","position":2,"rowid":2,"key":"Brazil"}"#,
        #"{"change":"changed","position":2,"rowid":2,"key":"Brazil","document":{"title":"Brazil","year":2030}}"#,
        #"{"change":"removed","position":1,"rowid":4,"key":"Dune"}"#,
      ], "\(outcome.diagnostics)")
  }

  @Test("--new omits the current result, and --plain prints plain dates")
  func onlyNew() throws {
    let outcome = try command.shell(
      """
      $N watch library.db films --new --plain --count 1 >out &
      n=0; until [ -s out ]; do
        n=$((n + 1)); $N put library.db films New "{\\"at\\":{\\"\\$date\\":\\"2020-01-02T03:04:05Z\\"},\\"n\\":$n}" >&2
        sleep 0.2
      done
      wait $!; cat out
      """)

    #expect(outcome.lines.count == 1)
    #expect(outcome.lines.first?.contains(#""key":"New","document":{"at":"2020-01-02T"#) == true)
  }

  @Test("An invalid condition, an invalid count and a missing database are rejected")
  func rejected() throws {
    #expect(try command.run("watch", "library.db", "films", "[year] >").status == 1)
    #expect(try command.run("watch", "library.db", "films", "--count", "0").status == 64)
    #expect(try command.run("watch", "none.db", "films").status == 1)
  }
}
