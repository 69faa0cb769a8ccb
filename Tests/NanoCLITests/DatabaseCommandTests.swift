// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("nanostore database commands")
struct DatabaseCommandTests {
  let command: CommandRunner

  init() throws { command = try CommandRunner().withFilms() }

  @Test(
    "A command that only reads, changes or removes does not create a database",
    arguments: [
      ["find", "no.db", "c"], ["get", "no.db", "c", "k"], ["count", "no.db", "c"],
      ["aggregate", "no.db", "c"], ["export", "no.db", "c"], ["collections", "no.db"],
      ["schema", "no.db", "c"], ["index", "no.db", "c", "f"], ["index", "list", "no.db", "c"],
      ["index", "advise", "no.db"],
      ["index", "export", "no.db"],
      ["explain", "no.db", "c"], ["sql", "no.db", "SELECT 1"], ["verify", "no.db"],
      ["compact", "no.db"], ["backup", "no.db", "b.db"], ["stats", "no.db"],
      ["delete", "no.db", "c", "k"],
    ])
  func missingDatabase(arguments: [String]) throws {
    let outcome = try command.run(arguments)

    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.diagnostics.hasPrefix("error: There is no database at no.db"))
    #expect(!command.exists("no.db"))
  }

  @Test("A file that is not a database is rejected and left unchanged")
  func notADatabase() throws {
    try command.write("text", "this is no database, but long enough to be taken for one")

    for arguments in [
      ["find", "text", "c"], ["put", "text", "c", "k", "{}"], ["verify", "text"],
    ] {
      let outcome = try command.run(arguments)
      #expect(outcome.status == 1)
      #expect(outcome.diagnostics.contains("text"), "\(outcome.diagnostics)")
      #expect(outcome.diagnostics.split(separator: "\n").count == 1)
    }
    #expect(try command.read("text").hasPrefix("this is no database"))
  }

  @Test(
    "A missing collection in a condition is noted, and refused by commands that change documents")
  func missingRelatedCollection() throws {
    let condition = "[__key__] NOT IN (SELECT [filmID] FROM reviws)"
    let note = "There is no collection 'reviws'; existing collections: films\n"

    let count = try command.run("count", "library.db", "films", condition)
    #expect(count.status == 0)
    #expect(count.diagnostics == "note: \(note)")
    let union = try command.run(
      "aggregate", "library.db", "films", "--pipe",
      "UNION ALL reviws |> AGGREGATE count(*) AS n")
    #expect(union.diagnostics == "note: \(note)")

    for arguments in [
      ["delete", "library.db", "films", "--where", condition],
      ["update", "library.db", "films", "--where", condition, #"{"$set":{"seen":true}}"#],
    ] {
      let change = try command.run(arguments)
      #expect(change.status == 1)
      #expect(change.diagnostics == "error: \(note)")
    }
    #expect(try command.run("count", "library.db", "films").output == count.output)
  }

  @Test("A mistake in --pipe is shown with its position")
  func pipePosition() throws {
    let outcome = try command.run(
      "aggregate", "library.db", "films", "--pipe", "SELECT [a] |> UNWIND [a] AT i AS q")

    #expect(outcome.status == 1)
    let lines = outcome.diagnostics.split(separator: "\n")
    #expect(lines.count == 3 && lines[1] == "  SELECT [a] |> UNWIND [a] AT i AS q")
    #expect(lines.last == "                                ^", "\(outcome.diagnostics)")
  }

  @Test("A missing collection is empty, and a note says so")
  func missingCollection() throws {
    let found = try command.run("count", "library.db", "film")

    #expect(found.status == 0)
    #expect(found.output == "0\n")
    #expect(
      found.diagnostics == "note: There is no collection 'film'; existing collections: films\n")
    #expect(try command.run("index", "library.db", "film", "year").status == 1)
    #expect(try command.run("collections", "library.db", "--csv").lines.count == 2)
  }

  @Test("An index is created, listed, used and dropped")
  func index() throws {
    let before = try command.run("explain", "library.db", "films", "[year] = 1979")
    #expect(before.lines[0] == "indexes    none")

    let made = try command.run("index", "library.db", "films", "year", "title:desc", "--unique")
    #expect(made.output == "created index year_title_desc_unique on films\n")
    #expect(
      try command.run("index", "list", "library.db", "films", "--csv").lines == [
        "index,fields,unique,of,origin,uses,reason",
        "year_title_desc_unique,\"year, title:desc\",true,values,declared,,",
      ])
    let after = try command.run("explain", "library.db", "films", "[year] = 1979")
    #expect(after.lines[0] == "indexes    year_title_desc_unique")
    let json = try command.run("explain", "library.db", "films", "[year] = 1979", "--json")
    #expect(json.output.contains(#""indexes": ["#))

    let double = try command.run(
      "put", "library.db", "films", "other", #"{"title":"Alien","year":1979}"#)
    #expect(double.status == 1)
    #expect(double.diagnostics.contains("index year_title_desc_unique, row ID 1, key Alien"))

    #expect(
      try command.run("index", "drop", "library.db", "films", "year_title_desc_unique").status == 0)
    #expect(
      try command.run("index", "drop", "library.db", "films", "year_title_desc_unique").status == 1)
  }

  @Test("Index advice of another process is listed, applied and exported")
  func advice() throws {
    let path = command.folder.appending(path: "library.db").path
    var configuration = Store.Configuration()
    configuration.indexTuning = .manual
    let store = try Store(.file(path), configuration: configuration)
    try store["films"].insert(
      (0..<3_000).map { ["title": .string("t\($0)"), "year": .int($0)] })
    // Repeats until the cost model recommends an index on this machine.
    for _ in 0..<10_000 where try !store.indexAdvice().contains(where: \.isDue) {
      _ = try store["films"].find(Field("year") == 1).count()
    }
    try store.close()

    let advised = try command.run("index", "advise", "library.db", "--csv")
    #expect(advised.lines[0] == "collection,fields,of,action,due,reason")
    #expect(advised.lines[1].hasPrefix("films,year,values,make,true,"))
    #expect(
      try command.run("index", "advise", "library.db", "--apply").output
        == "created index adaptive_year\n")
    #expect(
      try command.run("index", "advise", "library.db", "--apply").output == "no changes are due\n")
    let listed = try command.run("index", "list", "library.db", "films", "--csv").lines
    #expect(listed[1].hasPrefix("adaptive_year,year,false,values,adaptive,"))
    #expect(
      try command.run("index", "export", "library.db").output.filter { !" \n".contains($0) }
        == #"{"films":{"indexes":["[year]"],"uniqueIndexes":[]}}"#)
  }

  @Test("The index policy is displayed, set with all existing indexes, and reset")
  func policy() throws {
    #expect(try command.run("index", "policy", "library.db", "films").output == "declared\n")

    let set = try command.run("index", "policy", "library.db", "films", "everything")
    #expect(set.output == "films: every value is indexed\n")
    #expect(set.diagnostics.isEmpty)
    #expect(try command.run("index", "policy", "library.db", "films").output == "everything\n")
    let plan = try command.run("explain", "library.db", "films", "[genres] = 'Drama'")
    #expect(plan.lines[0] == "indexes    everything")

    #expect(
      try command.run("index", "policy", "library.db", "films", "declared").output
        == "films: only created indexes are kept\n")
    #expect(try command.run("index", "policy", "library.db", "films").output == "declared\n")
    #expect(try command.run("index", "policy", "library.db", "films", "some").status == 64)
    #expect(try command.run("index", "policy", "library.db", "film", "everything").status == 1)
  }

  @Test("rebuild repairs an index that does not match the documents")
  func rebuild() throws {
    try command.run("index", "library.db", "films", "genres")
    try command.run(
      "sql", "library.db", "DELETE FROM nano_elements_films_genres_elements", "--write",
      "--internal")
    #expect(try command.run("verify", "library.db").status == 1)

    let rebuilt = try command.run("index", "rebuild", "library.db", "films")

    #expect(rebuilt.output == "rebuilt the indexes of films\n")
    #expect(try command.run("verify", "library.db").status == 0)
    #expect(try command.run("index", "rebuild", "library.db", "film").status == 1)
  }

  @Test("sql reads, writes only with --write, and binds arguments")
  func sql() throws {
    let rows = try command.run(
      "sql", "library.db", "SELECT key, id AS n, id AS n FROM films WHERE id > ?", "--arg", "2")
    #expect(rows.output == #"{"key":"Caché","n":3,"n:2":3}"# + "\n")

    let refused = try command.run("sql", "library.db", "DELETE FROM films")
    #expect(refused.status == 1)
    #expect(
      refused.diagnostics == "error: The statement modifies the database (--write allows it)\n")
    #expect(try command.run("count", "library.db", "films").output == "3\n")

    let removed = try command.run("sql", "library.db", "DELETE FROM films WHERE id = 1", "--write")
    #expect(removed.status == 0)
    #expect(removed.diagnostics == "changed 1 row\n")
    #expect(try command.run("count", "library.db", "films").output == "2\n")

    let two = try command.run("sql", "library.db", "SELECT 1; DELETE FROM films", "--write")
    #expect(two.diagnostics.hasPrefix("error: The text contains more than one statement"))
    #expect(try command.run("sql", "library.db", "SELECT 1 AS n; -- one").output == "{\"n\":1}\n")

    #expect(try command.run("sql", "library.db", "SELEC 1").diagnostics.contains("SELEC"))
  }

  @Test("sql says which option permits a refused statement, and what to do instead")
  func refusals() throws {
    for (statement, hint) in [
      ("DELETE FROM nano_paths", "table nano_paths (--internal allows it)"),
      ("UPDATE films SET revision = 7", "which the store maintains; --internal allows it)"),
      ("PRAGMA user_version = 7", "found PRAGMA user_version (use the configuration instead; "),
    ] {
      let refused = try command.run("sql", "library.db", statement, "--write")
      #expect(refused.status == 1 && refused.diagnostics.contains(hint), "\(refused.diagnostics)")
    }
  }

  @Test("verify reports no problems, or each problem")
  func verify() throws {
    try command.run("index", "library.db", "films", "genres")
    #expect(try command.run("verify", "library.db").output == "no problems\n")

    try command.run(
      "sql", "library.db", "UPDATE films SET body = '{\"a\":' WHERE id = 1", "--write")
    let delete = [
      "sql", "library.db", "DELETE FROM nano_elements_films_genres_elements", "--write",
    ]
    let refused = try command.run(delete)
    #expect(refused.status == 1)
    #expect(
      refused.diagnostics.hasSuffix(
        "table nano_elements_films_genres_elements (--internal allows it)\n"))
    try #require(command.run(delete + ["--internal"]).status == 0)
    let outcome = try command.run("verify", "library.db")
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("films: "))
  }

  @Test("compact frees space, with and without indexes")
  func compact() throws {
    try command.run("index", "library.db", "films", "year")
    let text = String(repeating: "x", count: 500_000)
    try command.run("put", "library.db", "films", "big", input: "{\"text\":\"\(text)\"}")
    try command.run("delete", "library.db", "films", "big")

    let outcome = try command.run("compact", "library.db")

    #expect(outcome.status == 0, "\(outcome.diagnostics)")
    let size =
      try FileManager.default.attributesOfItem(
        atPath: command.folder.appending(path: "library.db").path)[.size] as? Int
    #expect(try #require(size) < 100_000)
    #expect(try command.run("verify", "library.db").status == 0)
  }

  @Test("backup copies the database, and overwrites a file only with --force")
  func backup() throws {
    #expect(try command.run("backup", "library.db", "copy.db").output == "copied to copy.db\n")
    #expect(try command.run("count", "copy.db", "films").output == "3\n")
    try command.run("delete", "library.db", "films", "Alien")

    let refused = try command.run("backup", "library.db", "copy.db")
    #expect(refused.status == 1)
    #expect(refused.diagnostics == "error: copy.db already exists (--force replaces it)\n")

    #expect(try command.run("backup", "library.db", "copy.db", "--force").status == 0)
    #expect(try command.run("count", "copy.db", "films").output == "2\n")
  }

  @Test(
    "recover saves what is readable, reports what is lost, and overwrites a file only with --force")
  func recover() throws {
    #expect(
      try command.run("recover", "library.db", "saved.db").output == "films: 3 documents saved\n")
    let refused = try command.run("recover", "library.db", "saved.db")
    #expect(refused.status == 1)
    #expect(refused.diagnostics == "error: saved.db already exists (--force replaces it)\n")

    let file = command.folder.appending(path: "library.db")
    var bytes = try Data(contentsOf: file)
    bytes.replaceSubrange(0..<16, with: Data(count: 16))
    try bytes.write(to: file)
    let partial = try command.run("recover", "library.db", "saved.db", "--force")
    #expect(partial.status == 1)
    #expect(partial.output == "films: 3 documents saved\nlost: file: the header is damaged\n")
    #expect(try command.run("count", "saved.db", "films").output == "3\n")
    #expect(try Data(contentsOf: file) == bytes)
    #expect(try command.run("recover", "no.db", "x.db").status == 1)
  }

  @Test("recover and backup name the file that caused the error, in one line")
  func errorsNameFile() throws {
    try command.write("text", "this is no database")
    let noStore = try command.run("recover", "text", "saved.db")
    #expect(noStore.status == 1)
    #expect(
      noStore.diagnostics.hasPrefix("error: Nothing in the file looks like a store: ")
        && noStore.diagnostics.hasSuffix("/text\n"))
    for name in ["recover", "backup"] {
      let noFolder = try command.run(name, "library.db", "none/saved.db")
      #expect(noFolder.status == 1)
      #expect(noFolder.diagnostics.contains("none/saved.db, No such file or directory"))
      #expect(noFolder.lines.isEmpty && noFolder.diagnostics.split(separator: "\n").count == 1)
    }
  }

  @Test(
    "A command removes the leftovers of a killed run",
    arguments: ["recover", "backup", "compact"])
  func killed(name: String) throws {
    let text = String(repeating: "long ", count: 100)
    try command.write(
      "in.json", (0..<20_000).map { "{\"n\":\($0),\"t\":\"\(text)\"}\n" }.joined())
    let imported = try command.run("import", "big.db", "c", "in.json")
    try #require(imported.status == 0, "\(imported.diagnostics)")
    let arguments = name == "compact" ? [name, "big.db"] : [name, "big.db", "saved.db"]
    for milliseconds in [5, 10, 20, 30, 40, 60, 80, 120, 200, 300] {
      let process = Process()
      process.executableURL = CommandRunner.binary
      process.arguments = arguments + (name == "compact" ? [] : ["--force"])
      process.currentDirectoryURL = command.folder
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      usleep(UInt32(milliseconds) * 1_000)
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    #expect(try command.run(arguments + (name == "compact" ? [] : ["--force"])).status == 0)

    #expect(try command.run("count", "big.db", "c").output == "20000\n")
    #expect(try command.run("verify", "big.db").output == "no problems\n")
    if name != "compact" {
      #expect(try command.run("count", "saved.db", "c").output == "20000\n")
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: command.folder.path)
      .filter { $0.contains(".nanostore-") || $0.contains("-journal") }
    #expect(left == [])
  }

  @Test("collections and stats print counts")
  func collectionsAndStats() throws {
    #expect(
      try command.run("collections", "library.db").output
        == #"{"collection":"films","documents":3,"indexes":0,"known by":"key"}"# + "\n")
    #expect(try command.run("stats", "library.db").output.contains("3 documents, 0 indexes"))
    #expect(
      try command.run("stats", "library.db", "--json").output.contains(#""journal_mode": "wal""#))
  }

  @Test("A usage error exits with status 64, help and version with 0")
  func usage() throws {
    #expect(try command.run("find").status == 64)
    #expect(try command.run("nonsense").status == 64)
    #expect(try command.run("import", "db", "c", "-", "--max-record", "0").status == 64)
    #expect(try command.run("--help").status == 0)
    #expect(try command.run("--version").output.hasPrefix("nanostore "))
    #expect(
      try command.run("--generate-completion-script", "bash").output.contains("_nanostore"))
  }

  @Test("A database locked by another process can be read, and written once the lock is released")
  func locked() throws {
    let other = Process()
    let pipe = Pipe()
    other.executableURL = CommandRunner.binary
    other.arguments = ["import", "library.db", "films", "-"]
    other.currentDirectoryURL = command.folder
    other.standardInput = pipe
    other.standardOutput = FileHandle.nullDevice
    try other.run()
    // The transaction begins with the first batch, and stays open until the input ends.
    let films = String(repeating: "{\"title\":\"Ran\"}\n", count: 1_500)
    try pipe.fileHandleForWriting.write(contentsOf: Data(films.utf8))
    var refused = try command.run("put", "library.db", "others", "x", "{}")
    for _ in 0..<300 where refused.status == 0 {
      refused = try command.run("put", "library.db", "others", "x", "{}")
    }

    #expect(try command.run("count", "library.db", "films").output == "3\n")
    #expect(refused.status == 1)
    #expect(refused.diagnostics.hasPrefix("error: Another connection held the lock"))

    try pipe.fileHandleForWriting.close()
    other.waitUntilExit()
    #expect(try command.run("count", "library.db", "films").output == "1503\n")
  }

  @Test("Unusual arguments are errors, not crashes")
  func unusualArguments() throws {
    for arguments in [
      ["aggregate", "library.db", "films", "--column", ""],
      ["aggregate", "library.db", "films", "--column", ":"],
      ["aggregate", "library.db", "films", "--min", ""],
      ["find", "library.db", "films", "--sort", ":desc"],
      ["find", "library.db", "films", "--fields", ","],
      ["find", "library.db", "", "--table"], ["get", "library.db", "films", ""],
      ["get", "library.db", "films", "x", "--row-id"],
      ["index", "library.db", "films", ""], ["sql", "library.db", ""], ["sql", "library.db", ";"],
      ["find", "library.db", "films", "--named", "x"],
      ["find", "library.db", "films", "--arg", "1"],
      ["find", "library.db", "films", String(repeating: "(", count: 10_000)],
    ] {
      let outcome = try command.run(arguments)
      #expect([1, 2, 64].contains(outcome.status) || arguments[2].isEmpty, "\(arguments)")
    }
  }

  @Test("A command with a closed standard output or standard error exits with the correct status")
  func closedDiagnostics() throws {
    #expect(try command.shell("$N count no.db c 2>&-").status == 1)
    #expect(try command.shell("{ $N count no.db c; echo $? >status; } 2>&1 | true").status == 0)
    #expect(try command.read("status") == "1\n")
    #expect(try command.shell("$N count library.db films >&-").status == 1)
  }

  @Test("--debug shows the code of an error")
  func debug() throws {
    let outcome = try command.run("put", "library.db", "films", "k", "[]", "--debug")

    #expect(outcome.diagnostics.contains("[invalidJSON]"))
  }
}
