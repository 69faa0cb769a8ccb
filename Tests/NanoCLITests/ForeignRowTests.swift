// SPDX-License-Identifier: MIT

import Testing

/// Command output for rows written by other programs. `nanostore sql` writes rows the same way.
@Suite("nanostore and externally written rows")
struct ForeignRowTests {
  private let command: CommandRunner

  init() throws {
    command = try CommandRunner()
    try command.run("put", "s.db", "c", "first", #"{"größe":5}"#)
  }

  private func insert(_ body: String, key: String) throws {
    let outcome = try command.run(
      "sql", "s.db", "--write",
      "INSERT INTO c(key, added, body) VALUES ('\(key)', 1795209420000000, '\(body)')")
    #expect(outcome.status == 0, "\(outcome.diagnostics)")
  }

  static let spellings = [
    #" {"a":2}"#, "{\n\"a\":\t3\n}", #"{"gr\u00f6\u00dfe":5}"#, "{ }",
    #"{"b":{"$binary":{"subType":"05","base64":"AP8="}},"d":{"\u0024date":"2026-11-20T21:17:00Z"}}"#,
    #"{"n":1e2,"m":-0,"o":{"$oid":"5f"},"s":"\/\ud83d\ude00\u0000"}"#,
  ]

  @Test(
    "Any JSON formatting is exported as a line that imports as the same document",
    .timeLimit(.minutes(10)))
  func roundTrip() throws {
    for (number, body) in Self.spellings.enumerated() { try insert(body, key: "k\(number)") }
    #expect(try command.run("verify", "s.db").status == 0)
    // Before and after a writer has adopted the rows.
    for turn in 0..<2 {
      let exported = try command.run("export", "s.db", "c")
      #expect(exported.status == 0 && exported.lines.count == Self.spellings.count + 1 + turn)
      #expect(exported.lines[1].hasSuffix(#","a":2}"#))
      #expect(exported.lines[4].hasSuffix(#""}}}"#))
      try command.write("out", exported.output)
      let target = "t\(turn).db"
      #expect(try command.run("import", target, "c", "out").status == 0)
      #expect(try command.run("export", target, "c").output == exported.output)
      #expect(
        try command.run("find", target, "c").output == command.run("find", "s.db", "c").output)
      #expect(try command.run("count", "s.db", "c", "[größe] = 5").output == "2\n")
      #expect(try command.run("put", "s.db", "c", "other\(turn)", "{}").status == 0)
    }
    #expect(try command.run("verify", "s.db").status == 0)
  }

  static let lossy = [
    #"{"a":1,"a":2}"#, #"{"a":12345678901234567890}"#, #"{"a":"\ud800"}"#, #"{"a":1"#, "[1]",
  ]

  @Test(
    "Rows that cannot be imported again are skipped and reported, and the others are exported",
    arguments: lossy)
  func reported(body: String) throws {
    try insert(body, key: "bad")
    try insert(#" {"last":1}"#, key: "last")
    let verified = try command.run("verify", "s.db")
    #expect(verified.status == 1 && verified.output.contains("c: document 2 "))
    for arguments in [["export"], ["export", "--no-header"], ["export", "--plain"]] {
      let outcome = try command.run([arguments[0], "s.db", "c"] + arguments.dropFirst())
      #expect(outcome.status == 1)
      #expect(outcome.diagnostics.contains("collection c, row ID 2: "), "\(outcome.diagnostics)")
      #expect(outcome.lines.count == 2 && outcome.lines[1].hasSuffix(#""last":1}"#))
    }
    let found = try command.run("find", "s.db", "c")
    #expect(found.status == 1 && found.diagnostics.contains("row ID 2"))
    #expect(found.lines.first == #"{"größe":5}"# && found.lines.last == #"{"last":1}"#)
  }

  @Test(
    "find and schema report a row that is not an object, and show the others",
    arguments: ["[1]", #"{"a":1"#])
  func notAnObject(body: String) throws {
    try insert(body, key: "bad")
    try insert(#"{"last":1}"#, key: "last")
    for (arguments, shown) in [
      (["find", "s.db", "c", "--csv"], ["größe,last", "5,", ",1"]),
      (["find", "s.db", "c", "--table"], ["größe", "5", "1"]),
      (["find", "s.db", "c", "--fields", "__key__,last", "--csv"], ["first,", "last,1"]),
      (["find", "s.db", "c", "--fields", "last"], [#"{"last":1}"#]),
      (["schema", "s.db", "c", "--csv"], ["path,types", "größe,integer 1", "last,integer 1"]),
    ] {
      let outcome = try command.run(arguments)
      #expect(outcome.status == 1)
      #expect(outcome.diagnostics.contains("collection c, row ID 2: "), "\(outcome.diagnostics)")
      for text in shown { #expect(outcome.output.contains(text), "\(outcome.output)") }
    }
  }

  @Test(
    "changes and watch report a document that cannot be written, and continue with the next",
    .timeLimit(.minutes(10)), arguments: lossy)
  func feeds(body: String) throws {
    try command.run("changes", "s.db", "c", "--track")
    try command.run("put", "s.db", "c", "bad", "{}")
    try command.run(
      "sql", "s.db", "--write", "UPDATE c SET body = '\(body)' WHERE key = 'bad'")
    try command.run("put", "s.db", "c", "last", #"{"last":1}"#)
    for arguments in [["changes", "s.db", "c"], ["watch", "s.db", "c", "--count", "3"]] {
      let outcome = try command.run(arguments)
      #expect(outcome.status == 1, "\(arguments)")
      #expect(outcome.diagnostics.contains("collection c, row ID 2: "), "\(outcome.diagnostics)")
      #expect(outcome.lines.count == 3)
      #expect(outcome.lines.count { $0.contains(#""key":"bad""#) } == 1)
      #expect(outcome.output.contains(#""document":{"last":1}}"#))
    }
    let selected = try command.run("find", "s.db", "c", "--fields", "a,last")
    #expect(selected.status == 1 && selected.diagnostics.contains("row ID 2"))
    #expect(selected.lines.last == #"{"last":1}"#)
  }

  @Test(
    "A row with an invalid key, version or date is reported",
    arguments: ["key = x'00ff'", "version = 'x'", "added = '2026-11-20'", "type = x'00'"])
  func alteredRow(column: String) throws {
    try insert("{}", key: "bad")
    try command.run("sql", "s.db", "--write", "UPDATE c SET \(column) WHERE id = 2")
    #expect(try command.run("verify", "s.db").status == 1)
    let outcome = try command.run("export", "s.db", "c")
    #expect(outcome.status == 1 && outcome.diagnostics.contains("row ID 2"))
    #expect(outcome.lines.count == 1)
  }

  @Test("A field named __rowid__ is preserved by every way of storing it")
  func rowIDField() throws {
    let fields = #"{"__rowid__":5,"__key__":"q","__type__":"t","__version__":3,"__added__":4}"#
    #expect(try command.run("put", "r.db", "c", "x", fields).status == 0)
    #expect(try command.run("put", "r.db", "c", "y", fields, "--new").status == 0)
    try command.write("in", fields)
    #expect(try command.run("import", "r.db", "c", "in").status == 0)
    #expect(try command.run("find", "r.db", "c").lines == [fields, fields, fields])
    let exported = try command.run("export", "r.db", "c", "--no-header")
    #expect(exported.lines == [fields, fields, fields])
    #expect(
      try command.run("find", "r.db", "c", "--fields", #""__rowid__",__key__"#, "--limit", "1")
        .lines == [#"{"__key__":"x","__rowid__":5}"#])
    #expect(
      try command.run("find", "r.db", "c", "--fields", #""__rowid__",__rowid__"#, "--csv").lines[1]
        == "5,1")
    #expect(
      try command.run("find", "r.db", "c", "--fields", #""__rowid__",__rowid__"#).status == 64)
  }

  @Test("watch does not report the adoption of a row as a change", .timeLimit(.minutes(10)))
  func watched() throws {
    let outcome = try command.shell(
      """
      $N watch s.db c --count 3 >out &
      until grep -q found out; do sleep 0.05; done
      $N sql --write s.db "INSERT INTO c(body) VALUES (' {\\"spelled\\": 1}')" >&2
      until grep -q spelled out; do sleep 0.05; done
      $N put s.db c last '{"last":1}' >&2
      wait $!; cat out
      """)
    #expect(
      outcome.lines.map { String($0.prefix(20)) } == [
        #"{"change":"found","p"#, #"{"change":"inserted""#, #"{"change":"inserted""#,
      ], "\(outcome.output) \(outcome.diagnostics)")
  }
}
