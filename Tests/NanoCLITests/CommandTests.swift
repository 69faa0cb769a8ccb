// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("nanostore document commands")
struct CommandTests {
  let command: CommandRunner

  init() throws { command = try CommandRunner().withFilms() }

  @Test("find returns matching documents, sorted, limited and projected")
  func find() throws {
    let found = try command.run(
      "find", "library.db", "films",
      "[year] BETWEEN 1970 AND 1990 AND [genres] = 'Science Fiction'",
      "--sort", "year:desc", "--limit", "1", "--offset", "1", "--fields", "title,year", "--json")

    #expect(found.status == 0)
    #expect(found.output == "[\n{\"title\":\"Alien\",\"year\":1979}\n]\n")
  }

  @Test("Commands refuse the store's internal collections, which SQL can read")
  func internalCollections() throws {
    let store = try Store(.file(command.folder.appending(path: "library.db").path))
    try store.save(Bag(name: "favorites"))
    try store.close()
    for name in ["nano_bags", "NANO_BAGS"] {
      for arguments in [
        ["find", "library.db", name], ["find", "library.db", name, "[name] = 'favorites'"],
        ["get", "library.db", name, "k"], ["count", "library.db", name],
        ["export", "library.db", name], ["explain", "library.db", name, "[name] = 'x'"],
        ["aggregate", "library.db", name, "--group", "name"], ["schema", "library.db", name],
        ["index", "list", "library.db", name], ["index", "library.db", name, "name"],
        ["put", "library.db", name, "k", "{}"], ["delete", "library.db", name, "--all"],
        ["watch", "library.db", name],
      ] {
        let outcome = try command.run(arguments)
        #expect(outcome.status == 1, "\(arguments)")
        #expect(outcome.output.isEmpty, "\(arguments)")
        #expect(
          outcome.diagnostics.contains("error: The collection is internal to the store"),
          "\(arguments): \(outcome.diagnostics)")
      }
    }
    let read = try command.run("sql", "library.db", "SELECT body FROM nano_bags", "--csv")
    #expect(read.output.contains("favorites"))
    #expect(try command.run("count", "library.db", "films").status == 0)
  }

  @Test("Output defaults to NDJSON when it is not a terminal")
  func ndjson() throws {
    let found = try command.run("find", "library.db", "films", "[year] > ?", "--arg", "1980")

    #expect(found.lines.count == 2)
    #expect(
      found.lines[0] == #"{"title":"Brazil","year":1985,"genres":["Science Fiction"],"rating":7.8}"#
    )
  }

  @Test(
    "An empty result prints an empty array, no output, or only a header, depending on the format")
  func emptyResult() throws {
    #expect(try command.run("find", "library.db", "films", "FALSE", "--json").output == "[]\n")
    #expect(try command.run("find", "library.db", "films", "FALSE").output.isEmpty)
    #expect(
      try command.run("find", "library.db", "films", "FALSE", "--csv", "--fields", "a").output
        == "a\n")
  }

  @Test("CSV output has a column per field, encodes arrays as JSON and quotes where necessary")
  func csv() throws {
    try command.run("put", "library.db", "c", "1", #"{"a":"x,\"y\"","b":[1,"z"]}"#)
    try command.run("put", "library.db", "c", "2", #"{"c":{"$date":"2020-01-01T00:00:00Z"}}"#)

    let found = try command.run("find", "library.db", "c", "--csv")

    #expect(
      found.output == """
        a,b,c
        "x,""y""\","[1,""z""]",
        ,,2020-01-01T00:00:00.000Z

        """)
  }

  @Test("A field of an array element, or below arrays, has the same value as in conditions")
  func elementFields() throws {
    let body =
      #"{"p":[{"m":1},{"n":"b"},{"n":"c"}],"l":[10,20,30],"t":[{"tags":[1,2]},{"tags":[3]}]}"#
    try command.run("put", "library.db", "lists", "a", body)
    let fields = "p.n,p.1.n,l.1,l.2,l.9,t.tags"
    let find = ["find", "library.db", "lists", "--csv", "--fields"]

    #expect(
      try command.run(find + [fields]).lines.last == #""[""b"",""c""]",b,20,30,,"[[1,2],[3]]""#)
    #expect(try command.run(find + ["l.1"]).lines.last == "20")
    #expect(try command.run(find + ["l..1"]).status == 1)
  }

  @Test("The condition of search has its own order and limit, which options override")
  func searchOrder() throws {
    try command.run("index", "text", "library.db", "films", "genres")
    let search = ["search", "library.db", "films", "fiction", "--csv", "--where"]
    let ordered = "[year] > 0 ORDER BY [year] DESC LIMIT 1"

    let one = try command.run(search + [ordered])
    #expect(one.lines.count == 2 && one.lines.last?.hasPrefix("Brazil,") == true)
    let other = try command.run(search + [ordered, "--sort", "year"])
    #expect(other.lines.count == 2 && other.lines.last?.hasPrefix("Alien,") == true)
    #expect(try command.run(search + [ordered, "--limit", "5"]).lines.count == 3)
  }

  @Test("--include notes a missing collection, and finds one with a period in its name")
  func included() throws {
    try command.run("put", "library.db", "my.people", "w1", #"{"name":"Ada"}"#)
    try command.run("put", "library.db", "notes", "a", #"{"who":"w1"}"#)
    let find = ["find", "library.db", "notes", "--include"]

    let quoted = try command.run(find + [#"who="my.people":w"#])
    #expect(quoted.lines == [#"{"who":"w1","w":{"name":"Ada"}}"#], "\(quoted.diagnostics)")
    #expect(quoted.diagnostics.isEmpty)
    let byField = try command.run(find + [#"who="my.people".name:w"#])
    #expect(byField.lines == [#"{"who":"w1","w":[]}"#])
    let missing = try command.run(find + ["who=peple:w"])
    #expect(missing.status == 0)
    #expect(missing.diagnostics.hasPrefix("note: There is no collection 'peple'"))
    #expect(try command.run(find + [#"who="my.people:w"#]).status == 64)
    #expect(try command.run(find + [#"who="my"people"#]).status == 64)
  }

  @Test(
    "expire rejects a date that does not exist or has an unknown end",
    arguments: [
      "2027-02-30T00:00:00Z", "2027-06-31T00:00:00Z", "2027-01-01T99:00:00Z",
      "2027-01-01T10:00:00Z-0800", "2026-12-31T23:59:59Zgarbage", "2026-02-31T00:00:00Z",
    ])
  func invalidExpiration(date: String) throws {
    let outcome = try command.run("expire", "library.db", "films", "Alien", "--at", date)
    #expect(outcome.status == 64)
    #expect(outcome.diagnostics.contains("is not a date"), "\(outcome.diagnostics)")
    #expect(
      try command.run("expire", "get", "library.db", "films", "Alien").output == "Alien: never\n")
  }

  @Test("expire accepts fractions and offsets")
  func expiration() throws {
    try command.run("expire", "library.db", "films", "Alien", "--at", "2126-12-31T23:59:59.5+01:00")
    #expect(
      try command.run("expire", "get", "library.db", "films", "Alien").output
        == "Alien: 2126-12-31T22:59:59.500Z\n")
  }

  @Test("expire rule --none requires an existing collection")
  func missingExpirationRule() throws {
    let outcome = try command.run("expire", "rule", "library.db", "flims", "--none")
    #expect(outcome.status == 1)
    #expect(outcome.diagnostics.hasPrefix("error: There is no collection 'flims'"))
    let collections = try command.run("collections", "library.db").output
    #expect(!collections.contains("flims"))
  }

  @Test("A table underlines its header, right-aligns numbers and has no trailing spaces")
  func table() throws {
    let found = try command.run(
      "find", "library.db", "films", "--table", "--fields", "title,year,genres,__key__")

    #expect(
      found.output == """
        title   year  genres                   __key__
        ──────  ────  ───────────────────────  ───────
        Alien   1979  Horror, Science Fiction  Alien
        Brazil  1985  Science Fiction          Brazil
        Caché   2005  Drama                    Caché

        """)
  }

  @Test("A table fits the width of the terminal")
  func tableWidth() throws {
    for width in [20, 40, 60, 100] {
      let found = try command.run(
        "find", "library.db", "films", "--table", environment: ["COLUMNS": "\(width)"])
      #expect(found.lines.allSatisfy { $0.count <= width })
    }
  }

  @Test("Table output escapes control characters in documents")
  func controlCharacters() throws {
    try command.run(
      "put", "library.db", "c", "1", #"{"a\u001b[31m":"x\u001b]0;evil\u0007\n\u202e"}"#)

    let found = try command.run("find", "library.db", "c", "--table")

    #expect(found.lines[2] == #"x\u{1b}]0;evil\u{7}\n\u{202e}"#)
    #expect(!found.output.utf8.contains(0x1B))
  }

  @Test("--keys prints only keys")
  func keys() throws {
    let found = try command.run("find", "library.db", "films", "[year] < 2000", "--keys")

    #expect(found.lines == ["Alien", "Brazil"])
  }

  @Test("Arguments parse as integers, numbers, literals, lists or strings")
  func arguments() throws {
    func count(_ arguments: String...) throws -> String {
      try command.run(["count", "library.db", "films"] + arguments).output
    }

    #expect(try count("[year] = ?", "--arg", "1979") == "1\n")
    #expect(try count("[year] = ?", "--text-arg", "1979") == "0\n")
    #expect(try count("[year] = ?", "--arg", "'1979'") == "0\n")
    #expect(try count("[rating] > ? AND [year] > ?", "--arg", "7.9", "--arg=-5") == "1\n")
    #expect(try count("[year] > ?", "--arg", "-5") == "3\n")
    #expect(
      try count("[title] = ? OR [year] = ?", "--text-arg", "Brazil", "--arg", "1979") == "2\n")
    #expect(try count("[title] IN ?", "--arg", #"["Alien","Brazil"]"#) == "2\n")
    #expect(try count("[year] = :y", "--named", "y=2005") == "1\n")
    #expect(try count("[seen] > ?", "--arg", #"{"$date":"2006-01-01T00:00:00Z"}"#) == "1\n")
  }

  @Test("A syntax error is reported with a caret below its position")
  func syntaxError() throws {
    let outcome = try command.run("find", "library.db", "films", "[título] = 'é' AND AND [b]")

    #expect(outcome.status == 1)
    let lines = outcome.diagnostics.split(separator: "\n")
    #expect(lines[0].hasPrefix("error: "))
    #expect(lines[1] == "  [título] = 'é' AND AND [b]")
    #expect(lines[2] == "                     ^")
  }

  @Test("get prints a document, and exits with status 2 if it does not exist")
  func get() throws {
    #expect(try command.run("get", "library.db", "films", "Alien").output.contains("1979"))
    #expect(
      try command.run("get", "library.db", "films", "2", "--row-id").output.contains("Brazil"))
    let missing = try command.run("get", "library.db", "films", "Aliens")
    #expect(missing.status == 2)
    #expect(missing.output.isEmpty)
    #expect(
      missing.diagnostics == "error: No document in collection 'films' has the key 'Aliens'\n")
  }

  @Test("put stores a document from an argument or standard input, and replaces it by default")
  func put() throws {
    let outcome = try command.run("put", "new.db", "c", "k", #"{"a":1}"#)
    #expect(outcome.output == "stored k in c\n")
    try command.run("put", "new.db", "c", "k", input: #"{"a":2}"#)
    #expect(try command.run("get", "new.db", "c", "k").output == "{\"a\":2}\n")

    let refused = try command.run("put", "new.db", "c", "k", "{}", "--new")
    #expect(refused.status == 1)
    #expect(refused.diagnostics.contains("already exists: collection c, key k"))

    let bad = try command.run("put", "other.db", "c", "k", "{a:1}")
    #expect(bad.status == 1)
    #expect(bad.diagnostics.contains("byte 1"))
    #expect(!command.exists("other.db"))
  }

  @Test("delete accepts keys, a condition or --all, but not an empty condition")
  func remove() throws {
    #expect(
      try command.run("delete", "library.db", "films", "Alien", "none").output
        == "deleted 1 document\n")
    #expect(
      try command.run("delete", "library.db", "films", "--where", "[year] = ?", "--arg", "1985")
        .output == "deleted 1 document\n")
    #expect(try command.run("delete", "library.db", "films", "--where", " ").status == 64)
    #expect(try command.run("delete", "library.db", "films").status == 64)
    #expect(try command.run("count", "library.db", "films").output == "1\n")
    #expect(
      try command.run("delete", "library.db", "films", "--all").output == "deleted 1 document\n")
  }

  @Test("aggregate prints columns in the order in which they are given")
  func aggregate() throws {
    let counts = try command.run(
      "aggregate", "library.db", "films", "--group", "genres", "--min", "year", "--count",
      "--average", "rating", "--csv", "--sort", "count:desc", "--limit", "2")
    #expect(
      counts.output == """
        genres,min_year,count,average_rating
        Science Fiction,1979,2,8.15
        Drama,2005,1,null

        """)

    let all = try command.run(
      "aggregate", "library.db", "films", "[year] < 2000", "--sum", "year", "--max", "title")
    #expect(all.output == #"{"sum_year":3964,"max_title":"Brazil"}"# + "\n")
  }

  @Test("schema lists paths, types and document counts")
  func schema() throws {
    let lines = try command.run("schema", "library.db", "films", "--csv").lines

    #expect(lines[0] == "path,types,documents,share")
    #expect(lines.contains("genres[],text 3,3,100.0 %"))
    #expect(lines.contains("seen,date 1,1,33.3 %"))
  }

  @Test("A command exits quietly when the reader closes the pipe")
  func brokenPipe() throws {
    let lines = (0..<20_000).map { "{\"a\":\($0),\"text\":\"some text to fill the pipe\"}" }
    try command.write("many", lines.joined(separator: "\n"))
    let imported = try command.run("import", "library.db", "many", "many")
    try #require(imported.status == 0, "\(imported.diagnostics)")

    for form in ["find library.db many", "find library.db many --table", "export library.db many"] {
      let outcome = try command.shell("{ $N \(form); echo $? >status; } | head -n 1")
      #expect(outcome.lines.count == 1)
      #expect(outcome.diagnostics.isEmpty, "\(outcome.diagnostics)")
      #expect(try command.read("status") == "0\n")
    }
  }

  @Test("A statement that writes is committed when the reader closes the pipe of its rows")
  func brokenPipeOfStatement() throws {
    let lines = (0..<20_000).map { "{\"a\":\($0),\"text\":\"some text to fill the pipe\"}" }
    try command.write("many", lines.joined(separator: "\n"))
    let imported = try command.run("import", "library.db", "many", "many")
    try #require(imported.status == 0, "\(imported.diagnostics)")

    let statement = "DELETE FROM many RETURNING key, body"
    let outcome = try command.shell(
      "{ $N sql library.db --write '\(statement)'; echo $? >status; } | head -n 1")

    #expect(outcome.lines.count == 1)
    #expect(outcome.diagnostics == "changed 20,000 rows\n")
    #expect(try command.read("status") == "0\n")
    #expect(try command.run("count", "library.db", "many").output == "0\n")
  }

  @Test("An attachment is written to a pipe until its reader closes it")
  func brokenPipeOfAttachment() throws {
    try command.write("big", String(repeating: "x", count: 3_000_000))
    let added = try command.run("attachment", "add", "library.db", "films", "Alien", "big")
    try #require(added.status == 0, "\(added.diagnostics)")

    let get = "attachment get library.db films Alien big -"
    let outcome = try command.shell("{ $N \(get); echo $? >status; } | head -c 3")

    #expect(outcome.output == "xxx" && outcome.diagnostics.isEmpty, "\(outcome.diagnostics)")
    #expect(try command.read("status") == "0\n")
    #expect(
      try command.run("attachment", "get", "library.db", "films", "Alien", "big", "-")
        .output.utf8.count == 3_000_000)
  }
}

@Suite("nanostore and unknown fields")
struct UnknownFieldCommandTests {
  let command: CommandRunner

  init() throws { command = try CommandRunner().withFilms() }

  @Test("find prints a note to standard error if nothing matches and a field is unknown")
  func find() throws {
    for format in [["--json"], ["--csv"], ["--table"], ["--keys"], ["--fields", "title"]] {
      let found = try command.run(["find", "library.db", "films", "[yaer] > 1"] + format)

      #expect(found.status == 0)
      #expect(
        found.diagnostics
          == "note: the query uses [yaer], which no document has; did you mean [year]?\n")
    }
  }

  @Test("find prints no note if documents match or all fields exist")
  func noNote() throws {
    let some = try command.run("find", "library.db", "films", "[yaer] > 1 OR [year] > 1")
    let none = try command.run("find", "library.db", "films", "[year] > 3000")

    #expect(some.lines.count == 3 && some.diagnostics.isEmpty)
    #expect(none.output.isEmpty && none.diagnostics.isEmpty)
  }

  @Test("explain lists unknown fields with the closest existing name")
  func explain() throws {
    let text = try command.run("explain", "library.db", "films", "[yaer] > 1")
    let json = try command.run("explain", "library.db", "films", "[yaer] > 1", "--json")

    #expect(text.lines.first == "unknown    [yaer], which no document has; did you mean [year]?")
    #expect(
      json.output.contains(#""nearest": "year""#) || json.output.contains(#""nearest" : "year""#))
  }
}
