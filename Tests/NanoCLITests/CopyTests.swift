// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("nanostore copy")
struct CopyTests {
  let command: CommandRunner

  init() throws {
    command = try CommandRunner().withFilms()
    try command.run("index", "library.db", "films", "year")
  }

  @Test("copy copies everything, and --compare verifies the copy")
  func copy() throws {
    let outcome = try command.run("copy", "library.db", "copy.db", "--batch", "2")

    #expect(outcome.status == 0, "\(outcome.diagnostics)")
    #expect(outcome.diagnostics.isEmpty)
    #expect(outcome.lines.first?.hasPrefix("films: 3 documents, ") == true)
    #expect(outcome.lines.last?.hasPrefix("copied 3 documents in ") == true)
    for arguments in [["export"], ["index", "list"]] {
      #expect(
        try command.run(arguments + ["copy.db", "films"]).output
          == command.run(arguments + ["library.db", "films"]).output)
    }
    let compared = try command.run("copy", "library.db", "copy.db", "--verify-only")
    #expect(compared.status == 0)
    #expect(compared.lines.last == "no differences")
  }

  @Test("Differences are listed, and the exit status is 1")
  func differences() throws {
    try command.run("copy", "library.db", "copy.db")
    try command.run("delete", "copy.db", "films", "Alien")
    try command.run("index", "drop", "copy.db", "films", "year")

    let outcome = try command.run("copy", "library.db", "copy.db", "--verify-only")

    #expect(outcome.status == 1)
    #expect(outcome.diagnostics == "error: The databases differ\n")
    #expect(outcome.output.contains("; in the target 2 documents, "))
    #expect(outcome.lines.last == "differs: films: year is missing or differs")
  }

  @Test("The JSON report describes what was copied")
  func json() throws {
    let outcome = try command.run("copy", "library.db", "copy.db", "--json")

    let report = try DocumentValue(json: outcome.output).object
    #expect(report?["equal"] == true && report?["copied"] == 3 && report?["continued"] == false)
    let collection = report?["collections"]?.array?.first?.object
    #expect(collection?["name"] == "films" && collection?["source"] == collection?["target"])
  }

  @Test("A target with data is replaced only with --replace")
  func occupied() throws {
    try command.run("put", "other.db", "people", "ada", "{}")

    let refused = try command.run("copy", "library.db", "other.db")
    #expect(refused.status == 1)
    #expect(
      refused.diagnostics
        == "error: The target is not empty: other.db (--replace deletes its contents first)\n"
    )
    #expect(try command.run("count", "other.db", "people").output == "1\n")

    #expect(try command.run("copy", "library.db", "other.db", "--replace").status == 0)
    #expect(try command.run("collections", "other.db", "--csv").lines.count == 2)
  }

  @Test("Invalid databases and arguments are errors and create no files")
  func invalidArguments() throws {
    for arguments in [
      ["no.db", "copy.db"], ["library.db", "library.db"], ["library.db", "./library.db"],
      ["library.db", "copy.db", "--verify-only"], ["library.db", "nowhere://host/x"],
      ["nowhere://host/x", "copy.db"],
    ] {
      let outcome = try command.run(["copy"] + arguments)
      #expect(outcome.status == 1, "\(arguments)")
      #expect(outcome.diagnostics.hasPrefix("error: "))
      #expect(outcome.diagnostics.split(separator: "\n").count == 1)
    }
    for arguments in [
      ["library.db"], ["library.db", "copy.db", "--batch", "0"],
      ["library.db", "copy.db", "--verify-only", "--replace"],
      ["library.db", "copy.db", "--verify-only", "--skip-unsupported"],
    ] { #expect(try command.run(["copy"] + arguments).status == 64, "\(arguments)") }
    #expect(!command.exists("copy.db"))
    #expect(try command.run("count", "library.db", "films").output == "3\n")
    let url = try command.run("count", "nowhere://host/x", "films")
    #expect(url.diagnostics.contains("No engine supports this URL scheme"))
  }
}
