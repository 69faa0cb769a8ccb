// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("nanostore import and export of other formats")
struct TableFormatTests {
  let command: CommandRunner

  init() throws { command = try CommandRunner() }

  private static let table = "id,name,address.city,zip\n1,Ada,London,02134\n2,\"Grace, G.\",,12\n"

  @Test("A file *.csv or *.tsv is a table, and the flags name the format of any other")
  func formats() throws {
    try command.write("p.csv", Self.table)
    try command.write("p.TSV", "id\tname\n3\tEdsger\n")
    for arguments in [["p.csv"], ["p.TSV"]] {
      #expect(try command.run(["import", "db", "p"] + arguments + ["--key", "id"]).status == 0)
    }
    try command.run("import", "db", "p", "-", "--csv", "--key", "id", input: "id,ok\n4,true\n")
    try command.run(
      "import", "db", "p", "-", "--mongo", input: #"{"_id":{"$oid":"507f1f77bcf86cd799439011"}}"#)
    let json = try command.run("import", "db", "p", "p.csv", "--json")

    #expect(
      try command.run("find", "db", "p").lines == [
        #"{"id":1,"name":"Ada","address":{"city":"London"},"zip":"02134"}"#,
        #"{"id":2,"name":"Grace, G.","zip":12}"#, #"{"id":3,"name":"Edsger"}"#,
        #"{"id":4,"ok":true}"#, #"{"_id":"507f1f77bcf86cd799439011"}"#,
      ])
    #expect(
      try command.run("find", "db", "p", "--keys").lines == [
        "1", "2", "3", "4", "507f1f77bcf86cd799439011",
      ])
    #expect(json.status == 1 && json.diagnostics.contains("line 1, byte 0"))
  }

  @Test("The options of tables")
  func options() throws {
    func lines(_ text: String, _ options: String...) throws -> [String] {
      _ = try command.run(["import", "db", "t", "-", "--csv"] + options, input: text)
      let lines = try command.run("find", "db", "t").lines
      try command.run("delete", "db", "t", "--all")
      return lines
    }
    #expect(try lines("a;b\n1;2\n", "--separator", ";") == [#"{"a":1,"b":2}"#])
    #expect(
      try lines("a,b,c.d\n1,2,3\n", "--text-columns", "a,c.d") == [
        #"{"a":"1","b":2,"c":{"d":"3"}}"#
      ])
    #expect(try lines("a,b\n1,true\n", "--all-text") == [#"{"a":"1","b":"true"}"#])
    #expect(try lines("a,b\n\"1\",x\n", "--convert-quoted") == [#"{"a":1,"b":"x"}"#])
    #expect(try lines("a,b\n,1\n", "--empty", "null") == [#"{"a":null,"b":1}"#])
    #expect(try lines("a,b\n,1\n", "--empty", "text") == [#"{"a":"","b":1}"#])
    #expect(try lines("a,b\n1\n", "--short-rows") == [#"{"a":1}"#])
  }

  @Test(
    "Options that do not fit together are usage errors",
    arguments: [
      ["import", "db", "c"], ["import", "db", "c", "f", "--csv", "--tsv"],
      ["import", "db", "c", "f.json", "--separator", ";"],
      ["import", "db", "c", "f", "--csv", "--separator", ";;"],
      ["import", "db", "c", "f", "--table", "t"], ["import", "db", "c", "--from-sqlite", "o.db"],
      ["import", "db", "c", "--from-sqlite", "o.db", "--table", "t", "--query", "SELECT 1"],
      ["import", "db", "c", "f", "--from-sqlite", "o.db", "--table", "t"],
      ["import", "db", "c", "--from-sqlite", "o.db", "--table", "t", "--csv"],
      ["import", "db", "c", "--from-sqlite", "o.db", "--table", "t", "--all-text"],
      ["import", "db", "c", "--from-sqlite", "o.db", "--table", "t", "--text-columns", "a"],
      ["import", "db", "c", "--from-sqlite", "o.db", "--table", "t", "--separator", ";"],
      ["export", "db", "c", "--csv", "--plain"], ["export", "db", "c", "--tsv", "--no-header"],
      ["export", "db", "c", "--fields", "a"], ["export", "db", "c", "--mongo", "--plain"],
      ["export", "db", "c", "--force"], ["export", "db", "c", "--json", "--csv"],
    ])
  func usage(arguments: [String]) throws {
    try command.write("f", "")
    try command.write("f.json", "")
    try command.run("put", "db", "c", "{}")
    let outcome = try command.run(arguments)

    #expect(outcome.status == 64, "\(outcome.diagnostics)")
    #expect(outcome.diagnostics.contains("Usage: nanostore "))
  }

  @Test(
    "--plain with another format than JSON is a usage error, and no database is created",
    arguments: [["p.csv"], ["p.csv", "--csv"], ["p.json", "--mongo"], ["p.tsv"]])
  func plain(arguments: [String]) throws {
    for name in ["p.csv", "p.json", "p.tsv"] { try command.write(name, "") }
    let outcome = try command.run(["import", "db", "c"] + arguments + ["--plain"])

    #expect(outcome.status == 64, "\(outcome.diagnostics)")
    #expect(outcome.diagnostics.contains("--plain requires --json"))
    #expect(!command.exists("db"))
  }

  @Test("Errors in a table are reported with line and byte, and nothing is stored")
  func errors() throws {
    let conflict = try command.run("import", "db", "c", "-", "--csv", input: "a,a.b\n1,2\n")
    #expect(
      conflict.diagnostics == """
        error: line 1, byte 0: A column is both a value and an object with other columns: field a, found a.b \
        (rename one of the two columns); nothing was imported

        """)
    let long = try command.run("import", "db", "c", "-", "--csv", input: "a,b\n1,2\n1,2,3\n")
    #expect(
      long.diagnostics == """
        error: line 3, byte 8: A row has more fields than the header: expected 2 fields, found 3; \
        nothing was imported

        """)
    #expect(long.status == 1 && conflict.status == 1)
    #expect(!command.exists("db"))
  }

  @Test("Tables survive export and import, and --output creates a complete file")
  func roundTrip() throws {
    try command.run("import", "db", "p", "-", "--csv", "--key", "id", input: Self.table)
    let first = try command.run("export", "db", "p", "--csv", "--output", "out.csv")
    #expect(first.output.hasPrefix("exported 2 documents to out.csv in "))
    #expect(
      try command.read("out.csv")
        == "__key__,id,name,address.city,zip\n1,1,Ada,London,02134\n2,2,\"Grace, G.\",,12\n")

    let second = try command.run("export", "db", "p", "--csv", "--output", "out.csv")
    #expect(second.status == 1)
    #expect(second.diagnostics == "error: out.csv already exists (--force replaces it)\n")
    #expect(
      try command.run("export", "db", "p", "--tsv", "--output", "out.csv", "--force").status == 0)
    try command.run("import", "db", "q", "out.csv", "--tsv")
    #expect(
      try command.run("export", "db", "q", "--no-header").output
        == command.run("export", "db", "p", "--no-header").output)
    #expect(
      try command.run("export", "db", "p", "[id] = 1", "--csv", "--fields", "name,__key__").output
        == "name,__key__\nAda,1\n")
  }

  @Test("JSON arrays and MongoDB's form can be exported and imported")
  func json() throws {
    try command.run("import", "db", "p", "-", "--csv", "--key", "id", input: Self.table)
    let array = try command.run("export", "db", "p", "--json")
    #expect(array.lines.first == "[" && array.lines.last == "]")
    try command.run("import", "db", "q", "-", input: array.output)
    #expect(try command.run("export", "db", "q").output == command.run("export", "db", "p").output)

    let mongo = try command.run("export", "db", "p", "[id] = 1", "--mongo", "--json")
    #expect(
      mongo.output == """
        [
        {"_id":"1","id":{"$numberInt":"1"},"name":"Ada","address":{"city":"London"},"zip":"02134"}
        ]

        """)
    #expect(try command.run("import", "db", "m", "-", "--mongo", input: mongo.output).status == 0)
    #expect(try command.run("find", "db", "m", "--keys").lines == ["1"])
  }

  @Test("A new database that an import filled has a write-ahead log, as any other")
  func journal() throws {
    // The version in the header: 1 without a write-ahead log, 2 with one.
    func version() throws -> UInt8? {
      try Data(contentsOf: command.folder.appending(path: "db")).dropFirst(18).first
    }
    for count in 1...2 {
      try command.run("import", "db", "p", "-", "--csv", input: "name\nAda\n")
      #expect(try version() == 2)
      #expect(try command.run("count", "db", "p").output == "\(count)\n")
    }
  }

  @Test("Rows of another SQLite file are imported; a wrong name creates no database")
  func sqlite() throws {
    let other = try Store(.file(command.folder.appending(path: "other.db").path))
    try other.execute(
      #"CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, "address.city" TEXT)"#)
    try other.execute("INSERT INTO people VALUES (1, 'Ada', 'London'), (2, NULL, NULL)")
    try other.close()

    for arguments in [["nowhere.db", "--table", "people"], ["other.db", "--table", "nope"]] {
      let outcome = try command.run(["import", "db", "p", "--from-sqlite"] + arguments)
      #expect(outcome.status == 1, "\(arguments)")
      #expect(!command.exists("db") && !command.exists("nowhere.db"))
    }
    let outcome = try command.run(
      "import", "db", "p", "--from-sqlite", "other.db", "--table", "people", "--key", "id")
    #expect(outcome.output.hasPrefix("imported 2 documents into p in "))
    let again = try command.run(
      "import", "db", "p", "--from-sqlite", "other.db", "--table", "people", "--key", "id")
    #expect(again.diagnostics.hasPrefix("error: row 1: A document with this key already exists"))
    try command.run(
      "import", "db", "p", "--from-sqlite", "other.db", "--query",
      "SELECT id + 10 AS __key__, name FROM people", "--empty", "null")

    #expect(
      try command.run("find", "db", "p").lines == [
        #"{"id":1,"name":"Ada","address":{"city":"London"}}"#, #"{"id":2}"#, #"{"name":"Ada"}"#,
        #"{"name":null}"#,
      ])
    #expect(try command.run("find", "db", "p", "--keys").lines == ["1", "2", "11", "12"])
  }
}
