// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

/// `String` considers both names equal; their bytes differ.
@Suite("Names in two Unicode normalization forms on the command line")
struct UnicodeFormsTests {
  let command: CommandRunner
  let a = "caf\u{E9}"
  let b = "cafe\u{301}"

  init() throws {
    command = try CommandRunner()
    try run("put", "s.db", a, a, #"{"n":1}"#)
    try run("put", "s.db", b, b, #"{"n":2}"#)
    try run("put", "s.db", b, a, #"{"n":3}"#)
    try run("put", "s.db", "f", "both", "{\"\(a)\":1,\"\(b)\":2}")
  }

  /// Returns the output of the command, compared by bytes.
  @discardableResult
  private func run(_ arguments: String..., status: Int32 = 0) throws -> ExactName {
    let outcome = try command.run(arguments)
    #expect(outcome.status == status, "\(arguments): \(outcome.diagnostics)")
    return ExactName(outcome.output)
  }

  @Test("collections, stats and verify list both collections")
  func collections() throws {
    #expect(
      try run("collections", "s.db", "--csv").text.hasSameBytes(
        as: "collection,documents,indexes,known by\n\(b),2,0,key\n\(a),1,0,key\nf,1,0,key\n"))
    let stats = try run("stats", "s.db", "--json").text
    #expect(stats.contains(exactly: "\"\(a)\"") && stats.contains(exactly: "\"\(b)\""))
    #expect(try run("verify", "s.db") == "no problems\n")
    #expect(try run("find", "s.db", a) == "{\"n\":1}\n")
    #expect(try run("get", "s.db", b, a) == "{\"n\":3}\n")
  }

  @Test("copy and recover preserve both collections, with documents and indexes")
  func copies() throws {
    for name in [a, b] { try run("index", "s.db", name, "n", "--name", name) }
    try run("copy", "s.db", "copy.db")
    try run("recover", "s.db", "recovered.db")
    for file in ["copy.db", "recovered.db"] {
      #expect(try run("export", file, a) == run("export", "s.db", a))
      #expect(try run("export", file, b) == run("export", "s.db", b))
      #expect(
        try run("index", "list", file, b, "--csv") == run("index", "list", "s.db", b, "--csv"))
      #expect(try run("verify", file) == "no problems\n")
    }
  }

  @Test(
    "index export lists the indexes of both collections, and index drop drops only the named one")
  func indexes() throws {
    try run("index", "s.db", a, "n", "--name", a)
    let missing = try command.run("index", "drop", "s.db", a, b)
    #expect(missing.status == 1 && missing.diagnostics.contains("has no index"))
    try run("index", "s.db", a, "m", "--name", b)
    try run("index", "s.db", b, "q")
    let exported = try DocumentObject(json: run("index", "export", "s.db").text)
    #expect(exported[a]?["indexes"]?.array?.count == 2 && exported[b]?["indexes"] == ["[q]"])
    try run("index", "drop", "s.db", a, b)
    #expect(
      try run("index", "list", "s.db", a, "--csv", "--plain").text.contains(exactly: "\(a),n,"))
    #expect(try run("verify", "s.db") == "no problems\n")
  }

  @Test("Fields in both forms are stored, displayed, exported and imported as two fields")
  func fields() throws {
    let line = "{\"\(a)\":1,\"\(b)\":2}\n"
    #expect(try run("find", "s.db", "f") == ExactName(line))
    #expect(try run("find", "s.db", "f", "--csv") == ExactName("\(a),\(b)\n1,2\n"))
    #expect(try run("find", "s.db", "f", "--fields", "\(b),\(a)") == ExactName(line))
    #expect(try run("find", "s.db", "f", "--fields", b) == ExactName("{\"\(b)\":2}\n"))
    #expect(
      try run("find", "s.db", "f", "--fields", "\(b),\(a)", "--csv")
        == ExactName("\(b),\(a)\n2,1\n"))
    #expect(try run("find", "s.db", "f", "--table").text.contains(exactly: "\(a)  \(b)\n"))
    let schema = try run("schema", "s.db", "f", "--csv").text
    for name in [a, b] { #expect(schema.contains(exactly: "\n\(name),integer 1,1,100.0 %\n")) }
    #expect(try run("find", "s.db", "f", "[\(a)] = 1") == ExactName(line))
    #expect(try run("find", "s.db", "f", "[\(b)] = 1") == "")
    #expect(
      try run("aggregate", "s.db", "f", "--group", a, "--max", b, "--sort", "max_\(b)", "--csv")
        == ExactName("\(a),max_\(b)\n1,2\n"))
    try command.write("f.ndjson", run("export", "s.db", "f").text)
    try run("import", "new.db", "f", "f.ndjson")
    #expect(try run("find", "new.db", "f") == ExactName(line))
  }

  @Test("Parameter names are compared by bytes")
  func parameters() throws {
    #expect(try run("find", "s.db", a, "[n] = :\(a)", "--named", "\(a)=1") == "{\"n\":1}\n")
    try run("find", "s.db", a, "[n] = :\(a)", "--named", "\(b)=1", status: 1)
    let sql = "SELECT :\(a) AS \"\(a)\", 2 AS \"\(b)\""
    #expect(
      try run("sql", "s.db", sql, "--named", "\(a)=1") == ExactName("{\"\(a)\":1,\"\(b)\":2}\n"))
    try run("sql", "s.db", sql, "--named", "\(b)=1", status: 1)
  }

  @Test("A collection name in a different form does not exist")
  func missing() throws {
    let found = try command.run("find", "s.db", "\u{212A}")
    #expect(found.diagnostics.contains("There is no collection"))
    try run("put", "s.db", "K", "k", "{}")
    #expect(try command.run("find", "s.db", "\u{212A}").diagnostics.contains("no collection"))
    #expect(try command.run("find", "s.db", "k").diagnostics.isEmpty)
  }

  @Test("A combining mark does not hide a comma, quote, colon or sign in an argument")
  func marks() throws {
    let odd = "\u{301}x"
    try run("put", "s.db", "m", "1", "{\"\(odd)\":1,\"y\":\"q\\\"\u{301}\"}")
    #expect(
      try run("find", "s.db", "m", "--fields", "y,\(odd)", "--csv", "--sort", "\(odd):desc")
        == ExactName("y,\(odd)\n\"q\"\"\u{301}\",1\n"))
    #expect(
      try run("find", "s.db", "m", "[y] = ?", "--arg", "'q\"\u{301}'", "--fields", odd)
        == ExactName("{\"\(odd)\":1}\n"))
    #expect(try command.run("find", "s.db", "m", "--sort", "\u{600}:desc").status == 0)
    let sql = try command.run("sql", "s.db", "--write", "/*\u{301}*/BEGIN")
    #expect(sql.status == 1 && sql.diagnostics.contains("begin or end a transaction"))
  }
}
