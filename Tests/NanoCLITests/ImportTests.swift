// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("nanostore import and export")
struct ImportTests {
  let command: CommandRunner

  init() throws { command = try CommandRunner() }

  private func keys() throws -> [String] {
    try command.run("find", "db", "c", "--keys").lines
  }

  @Test(
    "Arrays, lines and concatenated values are imported",
    arguments: [
      #"[{"a":1},{"a":2}]"#, "{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\r\n{\"a\":2}",
      "{\n \"a\": 1\n}\n{\n \"a\": 2\n}", #"{"a":1}{"a":2}"#, "\u{FEFF}[{\"a\":1},\n{\"a\":2}]\n",
    ])
  func forms(text: String) throws {
    let outcome = try command.run("import", "db", "c", "-", "--key", "a", input: text)

    #expect(outcome.status == 0, "\(outcome.diagnostics)")
    #expect(outcome.output.hasPrefix("imported 2 documents into c in "))
    #expect(try keys() == ["1", "2"])
  }

  @Test("Extended JSON is decoded to dates and identifiers; --plain imports it unchanged")
  func extendedJSON() throws {
    let text =
      #"{"_id":{"$oid":"55f14312c7447c3da7051b26"},"at":{"$date":"2009-04-01T00:00:00.000-0700"}}"#
    try command.run("import", "db", "c", "-", "--key", "_id", input: text)
    try command.run("import", "db", "p", "-", "--plain", input: text)

    let found = try command.run("get", "db", "c", "55f14312c7447c3da7051b26", "--plain")
    #expect(
      found.output == #"{"_id":"55f14312c7447c3da7051b26","at":"2009-04-01T07:00:00.000Z"}"# + "\n")
    let schema = try command.run("schema", "db", "p", "--csv").lines
    #expect(schema.contains("_id.$oid,text 1,1,100.0 %"))
  }

  struct Bad: CustomTestStringConvertible {
    let text: String
    let message: String
    var arguments: [String] = []
    var testDescription: String { text }
  }

  static let bad = [
    Bad(
      text: "{\"a\":1}\n{\"a\":2,}\n{\"a\":3}\n",
      message: "line 2, byte 14: An object has a trailing comma: expected '}'"),
    Bad(
      text: "[\n{\"a\":1},\n{\"a\":\n tru}\n]",
      message: "line 4, byte 21: "),
    Bad(text: "{\"a\":1}\n42\n", message: "line 2, byte 8: The value is not an object"),
    Bad(text: "[{\"a\":1},,]", message: "line 1, byte 9: An element of the array is missing"),
    Bad(text: "[{\"a\":1}", message: "line 1, byte 8: The array is not closed"),
    Bad(text: "{\"a\":1}\n{\"a\":1,\"a\":2}", message: "line 2, byte 15: An object has two fields"),
    Bad(text: "{\"a\":1}\n{\"a\":\"\u{1}\"}", message: "line 2, byte 14: "),
    Bad(
      text: "{\"a\":1}\n{\"b\":1}\n",
      message: "line 2, byte 8: The key field is missing: field a",
      arguments: ["--key", "a"]),
    Bad(
      text: "{\"a\":1}\n{\"a\":2}\n{\"a\":1}\n",
      message: "line 3, byte 16: A document with this key already exists",
      arguments: ["--key", "a"]),
    Bad(
      text: "{\"a\":1}\n{\"d\":{\"$date\":\"yesterday\"}}\n",
      message: "line 2, byte 22: The form of a special value has invalid content: expected a date"),
    Bad(
      text: "{\"$nanostore\":{\"key\":1},\"a\":1}\n",
      message: "line 1, byte 14: The header of an exported document"),
    Bad(text: "col1,col2\n1,2\n", message: "line 1, byte 0: "),
  ]

  @Test(
    "An invalid record aborts the import with its line, byte and reason, and nothing is stored",
    arguments: bad
  )
  func invalidRecord(bad: Bad) throws {
    let outcome = try command.run(["import", "db", "c", "-"] + bad.arguments, input: bad.text)

    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.diagnostics.hasPrefix("error: \(bad.message)"), "\(outcome.diagnostics)")
    #expect(outcome.diagnostics.hasSuffix("; nothing was imported\n"))
    #expect(try command.run("collections", "db").output.isEmpty)
  }

  @Test("With --skip-bad, invalid records are reported and counted, and the others are stored")
  func skipBad() throws {
    let text = "{\"a\":1}\n{\"a\":2,}\n{\"a\":1}\n\n{\"a\":4}\nnull\n"

    let outcome = try command.run(
      "import", "db", "c", "-", "--key", "a", "--skip-bad", input: text)

    #expect(outcome.status == 0)
    #expect(outcome.output.hasPrefix("imported 2 documents into c, skipped 3 in "))
    let skipped = outcome.diagnostics.split(separator: "\n")
    #expect(skipped.count == 3)
    #expect(skipped.contains { $0.hasPrefix("skipped: line 2, byte 14: ") })
    #expect(skipped.contains { $0.hasPrefix("skipped: line 3, byte 17: ") })
    #expect(try keys() == ["1", "4"])
  }

  @Test("An invalid record after several batches rolls back all of them")
  func allOrNothing() throws {
    let lines = (0..<3_500).map { "{\"a\":\($0)}" }
    try command.write("good.ndjson", lines.joined(separator: "\n"))
    try command.write("bad.ndjson", (lines + ["{"]).joined(separator: "\n"))

    let bad = try command.run("import", "db", "c", "bad.ndjson")
    #expect(bad.status == 1)
    #expect(bad.diagnostics.contains("line 3501, "))
    #expect(!command.exists("db"))

    try command.run("import", "db", "c", "good.ndjson", "--key", "a")
    #expect(try command.run("count", "db", "c").output == "3500\n")
  }

  @Test("--replace replaces documents with the same key")
  func replace() throws {
    try command.run("import", "db", "c", "-", "--key", "k", input: #"{"k":"x","n":1}"#)
    let refused = try command.run(
      "import", "db", "c", "-", "--key", "k", input: #"{"k":"x","n":2}"#)
    #expect(refused.status == 1)

    try command.run(
      "import", "db", "c", "-", "--key", "k", "--replace", input: #"{"k":"x","n":3}"#)

    #expect(try command.run("get", "db", "c", "x").output == #"{"k":"x","n":3}"# + "\n")
  }

  @Test("A missing input file creates no database")
  func missingFile() throws {
    let outcome = try command.run("import", "db", "c", "nowhere.json")

    #expect(outcome.status == 1)
    #expect(
      outcome.diagnostics
        == "error: The file cannot be read: nowhere.json, No such file or directory\n")
    #expect(!command.exists("db"))
  }

  @Test("An export imports identically: keys, types, versions, dates, order")
  func roundTrip() throws {
    do {
      let store = try Store(.file(command.folder.appending(path: "db").path))
      var odd: DocumentObject = ["$nanostore": ["key": "no"], "$date": 1, "n": .double(1)]
      odd["x"] = .double(.nan)
      let header = Document.Header(
        key: try DocumentKey("a\n\"b\""), type: "Person", version: 3, added: 1_234_567)
      try store["c"].insert(Document(odd).with(header))
      try store["c"].insert(["date": .date(Date(timeIntervalSinceReferenceDate: 0.1))])
      try store["c"].insert([:], key: "empty")
      try store["c"].insert(["$nanostore": 5])
      let rows = try store.createCollection("rows", identity: .rowID)
      try rows.insert(["n": 1])
      try rows.insert(["n": 2], key: "two")
      try store.close()
    }
    for collection in ["c", "rows"] {
      let exported = try command.run("export", "db", collection)
      #expect(exported.status == 0)
      try command.write("out", exported.output)
      let imported = try command.run("import", "copy", collection, "out")
      #expect(imported.status == 0, "\(imported.diagnostics)")
      #expect(try command.run("export", "copy", collection).output == exported.output)
    }
    let copy = try Store(.file(command.folder.appending(path: "copy").path))
    let person = try #require(try copy["c"].get("a\n\"b\""))
    #expect(person.type == "Person")
    #expect(person.version == 3)
    #expect(person.header.added == 1_234_567)
    #expect(try person.object().names == ["$nanostore", "$date", "n", "x"])
    #expect(person["n"] == .double(1))
    #expect(try copy["rows"].fetch().map(\.key) == [nil, "two"])
  }

  @Test(
    "An insertion date beyond the year 9999 is shown as microseconds, and the other documents too")
  func unusualInsertionDate() throws {
    let nanoseconds = 1_700_000_000_000_000_000
    let text = """
      {"$nanostore":{"key":"x","added":\(nanoseconds)},"a":1}
      {"$nanostore":{"key":"y","added":{"$date":"2020-01-01T00:00:00Z"}},"a":2}

      """
    try command.run("import", "db", "c", "-", input: text)

    let json = try command.run("find", "db", "c", "--fields", "__key__,__added__")
    #expect(
      json.lines == [
        #"{"__key__":"x","__added__":\#(nanoseconds)}"#,
        #"{"__key__":"y","__added__":{"$date":"2020-01-01T00:00:00.000Z"}}"#,
      ])
    #expect(json.status == 0)
    #expect(
      try command.run("find", "db", "c", "--csv", "--fields", "__added__").lines == [
        "__added__", "\(nanoseconds)", "2020-01-01T00:00:00.000Z",
      ])
  }

  @Test("--no-header and --plain export only the fields")
  func exportForms() throws {
    try command.run("put", "db", "c", "k", #"{"$x":1,"at":{"$date":"2020-01-01T00:00:00Z"}}"#)

    #expect(
      try command.run("export", "db", "c", "--no-header").output
        == #"{"$$x":1,"at":{"$date":"2020-01-01T00:00:00.000Z"}}"# + "\n")
    #expect(
      try command.run("export", "db", "c", "--plain").output
        == #"{"$x":1,"at":"2020-01-01T00:00:00.000Z"}"# + "\n")
  }
}
