// SPDX-License-Identifier: MIT

import NanoCLI
import Testing

@Suite("Command-line usage errors")
struct UsageTests {
  let command: CommandRunner

  init() throws { command = try CommandRunner() }

  /// The paths of all commands except the root.
  static let paths = CommandTree.all().dropFirst().map { Array($0.path.dropFirst()) }

  /// Expects an error with the usage of a command and no other output.
  private func expectUsage(
    _ arguments: [String], of path: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let outcome = try command.run(arguments)
    let name = (["nanostore"] + path).joined(separator: " ")
    #expect(outcome.status == 64, "\(arguments)", sourceLocation: sourceLocation)
    #expect(outcome.output.isEmpty, sourceLocation: sourceLocation)
    let lines = outcome.diagnostics.split(separator: "\n")
    #expect(lines.first?.hasPrefix("error: ") == true, "\(lines)", sourceLocation: sourceLocation)
    #expect(!outcome.diagnostics.contains("Error"), "\(lines)", sourceLocation: sourceLocation)
    #expect(
      lines.contains { $0.hasPrefix("Usage: \(name) ") }, "\(lines)", sourceLocation: sourceLocation
    )
    #expect(
      lines.last == "  See '\(name) --help' for more information.", "\(lines)",
      sourceLocation: sourceLocation)
  }

  @Test(
    "Every command prints its own usage for an unknown option and for a missing argument",
    arguments: paths)
  func ownUsage(path: [String]) throws {
    // Alone, these run a subcommand: `index` is `index create`.
    let subcommands = ["index": "create", "attachment": "list", "expire": "set"]
    let shown = path.count == 1 ? path + [subcommands[path[0]]].compactMap(\.self) : path
    try expectUsage(path + ["--no-such-option"], of: shown)
    try expectUsage(path, of: shown)
  }

  @Test("Every command has help, as an option and as a subcommand", arguments: paths)
  func help(path: [String]) throws {
    let help = try command.run(["help"] + path)
    #expect(help.status == 0)
    #expect(help.diagnostics.isEmpty)
    #expect(help.output.contains("USAGE: nanostore \(path.joined(separator: " "))"))
    #expect(!help.output.contains("\\"), "\(help.output)")
    #expect(try command.run(path + ["--help"]).output == help.output)
  }

  @Test("An unknown command is an error, also after help")
  func unknownCommands() throws {
    try expectUsage(["nonsense"], of: [])
    try expectUsage(["help", "nonsense"], of: [])
    try expectUsage(["help", "index", "nonsense"], of: ["index"])
    try expectUsage(["help", "find", "nonsense"], of: ["find"])
    #expect(
      try command.run("nonsense").diagnostics.hasPrefix("error: Unknown command 'nonsense'\n"))
    #expect(try command.run("help").output == command.run("--help").output)
  }

  @Test("Invalid argument values print the usage of the command")
  func values() throws {
    try command.run("put", "db", "c", "k", "{}")
    for (arguments, path) in [
      (["put", "db", "c", "k", "{}", "--immutable"], ["put"]),
      (["index", "create", "db", "c", "a", "--elements", "--whole-values"], ["index", "create"]),
      (["index", "db", "c", "a", "--bad"], ["index", "create"]),
      (["index", "policy", "db", "c", "some"], ["index", "policy"]),
      (["index", "advise", "db", "c", "--apply"], ["index", "advise"]),
      (["import", "db", "c", "-", "--max-record", "0"], ["import"]),
      (["find", "db", "c", "--named", "x"], ["find"]),
      (["find", "db", "c", "--limit", "x"], ["find"]),
      (["get", "db", "c", "x", "--row-id"], ["get"]), (["delete", "db", "c"], ["delete"]),
      (["aggregate", "db", "c", "--count", "--limit", "-1"], ["aggregate"]),
      (["copy", "db", "db2", "--batch", "0"], ["copy"]),
      (["watch", "db", "c", "--count", "0"], ["watch"]),
      (["inspect", "db", "--time-limit", "9223372036854775807"], ["inspect"]),
      (["inspect", "postgresql://localhost/db", "--immutable"], ["inspect"]),
      (["serve", "db", "--host", "0.0.0.0"], ["serve"]),
    ] { try expectUsage(arguments, of: path) }
  }

  @Test("Text that begins with a hyphen is not taken for a request for help")
  func hyphens() throws {
    try expectUsage(["put", "db", "c", "-homer", "{}"], of: ["put"])
    try expectUsage(["search", "db", "c", "-the rear"], of: ["search"])
    #expect(try command.run(["put", "db", "c", "--", "-homer", "{}"]).status == 0)
    #expect(try command.run(["get", "db", "c", "--", "-homer"]).status == 0)
    for flag in ["-h", "-help", "--help"] {
      #expect(try command.run(["put", flag]).output.contains("USAGE: nanostore put"))
    }
  }

  @Test("index list and index advise cover all collections by default")
  func allCollections() throws {
    for collection in ["a", "b"] {
      try command.run("put", "db", collection, "k", #"{"n":1,"t":"x"}"#)
      try command.run("index", "db", collection, "n")
    }
    try command.run("index", "text", "db", "b", "t")

    let all = try command.run("index", "list", "db", "--csv").lines
    #expect(
      all == [
        "collection,index,fields,unique,of,origin,uses,reason", "a,n,n,false,values,declared,,",
        "b,n,n,false,values,declared,,", "b,t_text,t,false,words,declared,,",
      ])
    let one = try command.run("index", "list", "db", "a", "--csv").lines
    #expect(one == ["index,fields,unique,of,origin,uses,reason", "n,n,false,values,declared,,"])
    #expect(try command.run("index", "advise", "db").status == 0)
    #expect(try command.run("index", "advise", "db", "a").status == 0)
    let missing = try command.run("index", "list", "db", "nowhere")
    #expect(missing.diagnostics.hasPrefix("note: There is no collection 'nowhere'"))
  }

  @Test("The location of an inspected store is displayed without the secrets of its URL")
  func displayName() {
    let url = "postgresql://ada:one@host/db?sslpassword=two&sslmode=require&password=three"
    #expect(InspectedStore.displayName(of: url) == "postgresql://ada@host/db?sslmode=require")
  }

  @Test("A field whose name begins with a hyphen is indexed under its name")
  func hyphen() throws {
    try command.run("put", "u.db", "c", "a", #"{"-x":{"y":1},"x":2}"#)
    #expect(try command.run("index", "u.db", "c", "--unique", "--", "-x.y").status == 0)
    #expect(try command.run("put", "u.db", "c", "b", #"{"-x":{"y":1},"x":3}"#).status == 1)
    #expect(try command.run("put", "u.db", "c", "c", #"{"-x":{"y":2},"x":2}"#).status == 0)
  }

  @Test("An index on an array element by position is an index of values")
  func numberedElement() throws {
    try command.run("put", "db", "c", "k", #"{"a":["x","y"]}"#)
    let made = try command.run("index", "db", "c", "a.0")
    #expect(made.output == "created index a.0 on c\n", "\(made.diagnostics)")
    let named = try command.run("index", "db", "c", #"a."0""#)
    #expect(named.status == 0, "\(named.diagnostics)")
    #expect(try command.run("find", "db", "c", "[a.0] = 'x'", "--keys").output == "k\n")
    #expect(try command.run("find", "db", "c", #"[a."0"] = 'x'"#, "--keys").output == "")
  }
}
