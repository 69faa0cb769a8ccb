// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Hostile strings on the command line")
struct HostileInputTests {
  /// A NUL terminates an argument before a program can see it.
  static let arguments = HostileStrings.all.filter { !$0.utf8.contains(0) }

  /// Every fourth string, because starting a process takes time.
  private static func sample(_ number: Int) -> [String] {
    arguments.enumerated().filter { $0.offset % 8 == number % 8 }.map(\.element)
  }

  @Test(
    "As an argument of any command, a hostile string executes nothing, damages nothing and leaves no files",
    arguments: 0..<8)
  func arguments(part: Int) throws {
    let runner = try CommandRunner().withFilms()
    try runner.run("index", "create", "library.db", "films", "year")
    let before = try runner.run("sql", "library.db", "SELECT type, name, sql FROM sqlite_schema")
      .output
    let films = try runner.run("export", "library.db", "films").output
    for text in Self.sample(part) {
      let commands: [[String]] = [
        ["find", "library.db", "films", text], ["find", "library.db", text],
        ["find", "library.db", "films", "[title] = ?", "--text-arg", text],
        ["find", "library.db", "films", "--sort", text],
        ["find", "library.db", "films", "--fields", text],
        ["get", "library.db", "films", text], ["count", "library.db", "films", text],
        ["aggregate", "library.db", "films", "--max", text],
        ["search", "library.db", "films", text], ["schema", "library.db", text],
        ["explain", "library.db", "films", text], ["delete", "library.db", "films", text],
        ["sql", "library.db", "SELECT ?", "--text-arg", text],
      ]
      let command = commands[Self.arguments.firstIndex(of: text)! / 8 % commands.count]
      let outcome = try runner.run(command)
      #expect([0, 1, 2, 64].contains(outcome.status), "\(command): \(outcome)")
      #expect(!outcome.diagnostics.contains("Fatal"), "\(command)")
      expectNoControlCharacters(outcome.output + outcome.diagnostics, "\(command)")
    }
    #expect(
      try runner.run("sql", "library.db", "SELECT type, name, sql FROM sqlite_schema").output
        == before)
    #expect(try runner.run("export", "library.db", "films").output == films)
    #expect(!runner.exists("owned"))
    #expect(try runner.run("verify", "library.db").status == 0)
  }

  @Test("Text in documents round-trips exactly and never sends control sequences to the terminal")
  func documents() throws {
    let runner = try CommandRunner()
    let lines = HostileStrings.all.filter { $0 != DocumentObject.rowIDName }.enumerated().map {
      DocumentObject([("n", .int(Int64($0.offset))), ("x" + $0.element, .string($0.element))])
        .jsonString()
    }
    try runner.write("in.ndjson", lines.joined(separator: "\n"))
    #expect(try runner.run("import", "d.db", "texts", "in.ndjson").status == 0)

    for format in ["--json", "--ndjson", "--table", "--csv"] {
      let shown = try runner.run("find", "d.db", "texts", format)
      #expect(shown.status == 0)
      // Machine-readable output is exact. Only tables are always for people.
      if format == "--table" { expectNoControlCharacters(shown.output, format) }
    }
    expectNoControlCharacters(try runner.run("schema", "d.db", "texts", "--table").output, "schema")
    let exported = try runner.run("export", "d.db", "texts", "--no-header").output
      .split(separator: "\n" as Character)
    let again = try exported.map { try DocumentObject(json: String($0)) }
    #expect(again.count == lines.count)
    for (object, line) in zip(again, lines) {
      let original = try DocumentObject(json: line)
      for (name, value) in original {
        #expect(object[name]?.string?.utf8.elementsEqual(value.string?.utf8 ?? "".utf8) != false)
        #expect(object[name] == value, "\(name.debugDescription)")
      }
    }
    #expect(!runner.exists("owned"))
  }

  @Test("Names in summaries, and in JSON for people, send no control sequences to the terminal")
  func names() throws {
    let runner = try CommandRunner()
    let name = "c\u{1B}[2J\u{9B}"

    let imported = try runner.run("import", "d.db", name, "-", input: #"{"n":1}"#)
    #expect(imported.output.contains(#"into c\u{1b}[2J\u{9b} in "#), "\(imported)")
    expectNoControlCharacters(imported.output, "import")
    #expect(try runner.run("index", "create", "d.db", name, "n").status == 0)
    for arguments in [
      ["stats", "d.db", "--json"], ["explain", "d.db", name, "[n] = 1", "--json"],
      ["index", "export", "d.db"],
    ] {
      let shown = try runner.run(arguments)
      #expect(shown.status == 0, "\(shown.diagnostics)")
      #expect(shown.output.contains(#"\u009b"#), "\(arguments)")
      expectNoControlCharacters(shown.output, "\(arguments)")
      #expect(throws: Never.self) { try DocumentObject(json: shown.output) }
    }
  }

  @Test("An error about the command line sends no control sequences to the terminal")
  func unknownOption() throws {
    let outcome = try CommandRunner().run("find", "a.db", "c", "--\u{1B}[2J\u{202E}")
    #expect(outcome.status == 64)
    #expect(outcome.diagnostics.contains(#"--\u{1b}[2J\u{202e}"#))
    #expect(outcome.diagnostics.contains("Usage:"))
    expectNoControlCharacters(outcome.diagnostics, "unknown option")
  }

  /// Checks that the text has no control characters except the line breaks of the layout.
  private func expectNoControlCharacters(_ output: String, _ what: String) {
    let active = output.unicodeScalars.filter {
      $0 != "\n" && $0.properties.generalCategory == .control || $0 == "\u{202E}"
    }
    #expect(active.isEmpty, "\(what): \(active.map { String($0.value, radix: 16) })")
  }

  /// `nanostore inspect` and `nanostore serve` replace themselves by programs beside them; the inspector opens its own URL in the
  /// browser, and itself for maintenance that can be canceled. All pass arguments as arguments.
  private static let starters = [
    "SiblingProgram.swift": "execv", "Browser.swift": "Process()",
    "MaintenanceProcess.swift": "Process()", "InspectorCommand.swift": "Process.run",
  ]

  @Test(
    "No source file starts another program, except the inspector and the browser, without a shell")
  func noShell() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources").standardizedFileURL
    let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
    var looked = 0
    for case let file as URL in files! where file.pathExtension == "swift" {
      looked += 1
      let text = try String(contentsOf: file, encoding: .utf8)
      for word in [
        "Process()", "Process.run", "popen(", "posix_spawn", "execv", "execl", " system(",
      ] where Self.starters[file.lastPathComponent] != word {
        #expect(!text.contains(word), "\(file.lastPathComponent) has \(word)")
      }
    }
    #expect(looked > 300)
  }
}
