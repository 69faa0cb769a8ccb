// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Synchronization
import Testing

@Suite("Exporting documents")
struct ExportTests {
  let scratch: Scratch
  let films: DocumentCollection
  let file: URL

  init() throws {
    scratch = try Scratch()
    films = try anyStore()["films"]
    file = URL(filePath: scratch.file("export"))
  }

  private func text(_ query: DocumentQuery, _ format: ExportFormat) throws -> String {
    var data = Data()
    let report = try query.export(as: format) { data.append($0) }
    #expect(report.bytesWritten == data.count)
    return String(decoding: data, as: UTF8.self)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
  }

  private func fill(_ count: Int) throws {
    try films.insert((0..<count).map { ["n": .int(Int64($0)), "text": "some text"] })
  }

  @Test("Each form of JSON is written, as lines and as an array")
  func json() throws {
    let date = Date(timeIntervalSince1970: 1_795_209_420.25)
    try films.insert(["n": 1, "x": 2.0, "at": .date(date), "d": .data(Data([1, 2]))], key: "a")
    try films.insert(["n": 2], key: "b")

    #expect(
      try text(films.find(), .ndjson(.extended)) == """
        {"n":1,"x":2.0,"at":{"$date":"2026-11-20T21:17:00.250Z"},"d":{"$binary":{"base64":"AQI=","subType":"00"}}}
        {"n":2}

        """)
    #expect(
      try text(films.find(), .json(.plain)) == """
        [
        {"n":1,"x":2.0,"at":"2026-11-20T21:17:00.250Z","d":"AQI="},
        {"n":2}
        ]

        """)
    #expect(
      try text(films.find(), .ndjson(.mongoDB)) == """
        {"_id":"a","n":{"$numberInt":"1"},"x":{"$numberDouble":"2.0"},"at":{"$date":{"$numberLong":"1795209420250"}},"d":{"$binary":{"base64":"AQI=","subType":"00"}}}
        {"_id":"b","n":{"$numberInt":"2"}}

        """)
    #expect(try text(films.find(Field("n") == 3), .json()) == "[]\n")
    #expect(try text(films.find(Field("n") == 3), .ndjson()) == "")
    #expect(try text(films.find().sorted(by: "-n").limit(1), .ndjson(.plain)) == "{\"n\":2}\n")
  }

  @Test(
    "The default format restores documents, as lines and as an array", arguments: [false, true])
  func restorable(isArray: Bool) throws {
    var generator = ValueGenerator(random: SplitMix(seed: .random(in: 0 ... .max)))
    for number in 0..<200 {
      let object = DocumentObject((0..<3).map { ("f\($0)", generator.value(.mixed)) })
      try films.save(Document(object, key: "k\(number)", type: "T"))
    }
    try films.find().export(to: file, as: isArray ? .json() : .ndjson())
    let copy = try Store(.memory)["copy"]
    try copy.importDocuments(from: file)

    let (copies, originals) = (try copy.fetch(), try films.fetch())
    #expect(
      try copies.map { try $0.object().jsonString() }
        == originals.map { try $0.object().jsonString() })
    #expect(copies.map(\.key) == originals.map(\.key))
    #expect(copies.map(\.type) == originals.map(\.type))
    #expect(copies.map(\.added) == originals.map(\.added))
  }

  @Test("CSV has the key and a column for each field, in the order of the documents")
  func csvColumns() throws {
    try films.insert(["title": "Alien", "by": ["name": "Scott"], "genres": ["SF"]], key: "a")
    try films.insert(
      ["title": "007", "year": 1962, "by": ["born": 1915, "name": "Young"]], key: "b")
    try films.insert(["title": "", "year": nil, "x": "a,b"], key: "c")

    #expect(
      try text(films.find(), .csv())
        == """
        __key__,title,year,x,by.born,by.name,genres
        a,Alien,,,,Scott,"[""SF""]"
        b,"007",1962,,1915,Young,
        c,"",null,"a,b",,,

        """.replacing("b,\"007\"", with: "b,007"))
    #expect(
      try text(films.find(), .csv(columns: ["year", "by.name"], separator: ";")) == """
        year;by.name
        ;Scott
        1962;Young
        null;

        """)
    #expect(
      try text(films.find(Field("year") == 1962).select("title"), .tsv)
        == "__key__\ttitle\nb\t007\n")
  }

  @Test("A field that is an object in some documents only is one column")
  func mixedColumns() throws {
    try films.insert(["a": ["b": 1], "c": [:]], key: "1")
    try films.insert(["a": 5, "c": 2, "__key__": "12", "d": ["x.y": "1"]], key: "2")

    #expect(
      try text(films.find(), .csv()) == """
        __key__,a,c,\"\"\"__key__\"\"\",\"d.\"\"x.y\"\"\"
        1,"{""b"":1}",{},,
        2,5,2,"12","1"

        """)
  }

  @Test(
    "A column of metadata other than the key is refused; in quotes, the name is that of a field")
  func metadataColumns() throws {
    try films.insert(["__added__": 1], key: "a")

    for name in ["__added__", "__rowid__", "__type__", "__version__"] {
      let refused = error {
        try films.find().export(to: file, as: .csv(columns: ["__key__", name]))
      }
      #expect(refused?.code == .invalidArgument)
      #expect(refused?[.field] == name)
    }
    #expect(try names() == [])
    #expect(
      try text(films.find(), .csv(columns: ["\"__added__\""]))
        == "\"\"\"__added__\"\"\"\n1\n")
  }

  @Test("CSV of documents without keys has no column for them")
  func withoutKeys() throws {
    let store = try Store(.memory)
    let rows = try store.createCollection("rows", identity: .rowID)
    try rows.insert(["a": 1])
    #expect(try text(rows.find(), .csv()) == "a\n1\n")
    #expect(
      try text(rows.find(), .ndjson(.mongoDB))
        == #"{"_id":{"$numberInt":"1"},"a":{"$numberInt":"1"}}"# + "\n")
  }

  @Test("A field with an empty name cannot be a column, and no file is created")
  func emptyName() throws {
    try films.insert(["": 1])
    let error = error { try films.find().export(to: file, as: .csv()) }
    #expect(error?.code == .invalidPath)
    #expect(try names() == [])
    #expect(
      self.error { try films.find().export(to: file, as: .csv(columns: ["a..b"])) }?.code
        == .invalidPath)
  }

  private func error(_ work: () throws -> Void) -> StoreError? {
    do { try work() } catch { return error as? StoreError }
    return nil
  }

  @Test("An existing file is replaced only on request")
  func existing() throws {
    try fill(1)
    try Data("old".utf8).write(to: file)

    #expect(error { try films.find().export(to: file) }?.code == .alreadyExists)
    #expect(try String(contentsOf: file, encoding: .utf8) == "old")

    try films.find().export(to: file, as: .ndjson(.plain), replacing: true)
    #expect(try String(contentsOf: file, encoding: .utf8) == "{\"n\":0,\"text\":\"some text\"}\n")
    #expect(try names() == ["export"])

    let folder = URL(filePath: scratch.path)
    #expect(error { try films.find().export(to: folder, replacing: true) }?.code == .cannotOpen)
    let nowhere = folder.appending(path: "no/file")
    #expect(error { try films.find().export(to: nowhere) }?.code == .cannotOpen)
    let web = error { try films.find().export(to: URL(string: "https://example.org")!) }
    #expect(web?.code == .invalidArgument)
  }

  @Test("A file that an export replaces keeps its permissions", arguments: [0o600, 0o640])
  func permissions(mode: Int) throws {
    try fill(1)
    try Data("old".utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)

    try films.find().export(to: file, replacing: true)

    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.posixPermissions] as? Int == mode)
  }

  @Test("An export never replaces a file of its own store, by whatever path", .sqlite)
  func ownFile() throws {
    let store = try Store(.file(scratch.file("own.db")))
    let own = store["films"]
    try own.save(["n": 1], key: "a")
    let attachment = try own.attach(.data(Data([1])), named: "x", to: "a")
    let link = scratch.file("link")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: scratch.file("own.db"))
    for path in [
      scratch.file("own.db"), scratch.file("own.db-wal"), scratch.file("./own.db"), link,
    ] {
      let exported = error { try own.find().export(to: URL(filePath: path), replacing: true) }
      #expect(exported?.code == .invalidArgument, "\(path)")
      let written = error { try store.export(attachment, to: path, replacing: true) }
      #expect(written?.code == .invalidArgument, "\(path)")
    }
    #expect(try own.count() == 1)
    #expect(try store.verify() == [])
    try store.close()
    #expect(try Store(.file(scratch.file("own.db")))["films"].count() == 1)
  }

  @Test("An error of a closure ends the export, and an existing file is unchanged")
  func failing() throws {
    struct Enough: Error {}
    try fill(5_000)
    try Data("old".utf8).write(to: file)
    #expect(throws: Enough.self) {
      try films.find().export(to: file, replacing: true) {
        if $0.documents > 2_000 { throw Enough() }
      }
    }
    #expect(throws: Enough.self) { try films.find().export { _ in throw Enough() } }
    #expect(try String(contentsOf: file, encoding: .utf8) == "old")
    #expect(try names() == ["export"])
  }

  @Test("Progress is reported, and the last report is the result")
  func progress() throws {
    try fill(2_500)
    var seen: [ExportReport] = []
    let report = try films.find().export(to: file, progress: { seen.append($0) })

    #expect(seen.map(\.documents) == [1_000, 2_000, 2_500])
    #expect(seen.last == report)
    #expect(report.bytesWritten == (try Data(contentsOf: file).count))
  }

  @Test("Canceling the task ends the export, and no file is created")
  func canceling() async throws {
    try await films.store.write { try fill(20_000) }
    let (started, signal) = AsyncStream<Void>.makeStream()
    let resume = DispatchSemaphore(value: 0)
    let task = Task { [films, file] in
      try await films.find().export(to: file) { _ in
        signal.yield()
        resume.wait()
      }
    }
    for await _ in started { break }
    task.cancel()
    for _ in 0..<30 { resume.signal() }

    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(try names() == [])
  }

  @Test("An async export has the same result")
  func asynchronous() async throws {
    try await films.insert(["n": 1], key: "a")
    try await films.find().export(to: file, as: .ndjson(.plain))
    let chunks = Mutex(Data())
    try await films.find().export(as: .ndjson(.plain)) { chunk in
      chunks.withLock { $0.append(chunk) }
    }
    #expect(chunks.withLock { $0 } == Data("{\"n\":1}\n".utf8))
    #expect(try Data(contentsOf: file) == Data("{\"n\":1}\n".utf8))
  }

  @Test("A document that no import could restore ends the export, or is reported and skipped")
  func unrepresentable() throws {
    let store = try Store(.file(scratch.file("s.db")))
    let rows = store["rows"]
    try rows.insert([["n": 1], ["n": 2], ["n": 3]])
    try store.execute(#"UPDATE rows SET body = '{"n":2,"n":"twice"}' WHERE id = 2"#)

    let formats: [ExportFormat] = [
      .ndjson(), .json(.plain), .ndjson(.mongoDB), .csv(columns: ["n"]),
    ]
    for format in formats {
      #expect(error { try rows.find().export(as: format) { _ in } }?.code == .corruptDocument)
      var skipped: [Int64] = []
      var data = Data()
      let report = try rows.find().export(
        as: format, onFailure: { skipped.append($0.rowID) }, to: { data.append($0) })
      #expect(skipped == [2])
      #expect(report.documents == 2 && report.skipped == 1)
      #expect(!String(decoding: data, as: UTF8.self).contains("twice"))
    }
    try store.close()
  }

  @Test(
    "A document of another program whose key or class no document can have is skipped by an export, and ends a copy",
    arguments: [
      "key, body) VALUES (CAST(x'61ff' AS TEXT)", "key, body) VALUES (''",
      "key, body) VALUES (CAST(x'610062' AS TEXT)", "type, body) VALUES (CAST(x'61ff' AS TEXT)",
    ])
  func unrepresentableKey(columns: String) throws {
    let store = try Store(.file(scratch.file("s.db")))
    let rows = store["rows"]
    try rows.save(["n": 1], key: "a")
    try store.execute("INSERT INTO rows(\(columns), '{\"n\":2}')")

    for format: ExportFormat in [.ndjson(), .json(.plain), .ndjson(.mongoDB), .csv()] {
      var skipped: [Int64] = []
      let report = try rows.find().export(
        as: format, onFailure: { skipped.append($0.rowID) }, to: { _ in })
      #expect(skipped == [2], "\(format)")
      #expect(report.documents == 1 && report.skipped == 1)
    }
    let copy = error { try store.copy(to: Store(.file(scratch.file("copy.db")))) }
    #expect(copy?.code == .corruptDocument && copy?[.rowID] == "2")
    #expect(try store.verify().count == 1)
    #expect(try rows.find(Field("n") == 2).update(set: ["n": 3]) == 1)
    #expect(try rows.find(Field("n") == 3).count() == 1)
    try store.close()
  }

  @Test("A document that is not JSON is skipped by an export of some fields as well")
  func selectedOfCorrupt() throws {
    let store = try Store(.file(scratch.file("s.db")))
    let rows = store["rows"]
    try rows.insert([["n": 1], ["n": 2]])
    try store.execute(#"INSERT INTO rows(key, body) VALUES ('x', '{"n":')"#)

    for format: ExportFormat in [.ndjson(), .csv()] {
      var skipped: [String?] = []
      let query = rows.find().select("n")
      let report = try query.export(
        as: format, onFailure: { skipped.append($0.key) }, to: { _ in })
      #expect(skipped == ["x"])
      #expect(report.documents == 2 && report.skipped == 1)
      #expect(error { try query.export(as: format) { _ in } }?.code == .corruptDocument)
    }
    try store.close()
  }

  @Test(
    "Columns of array positions have the selected elements, and fields that are not selected stay empty"
  )
  func selectedPositions() throws {
    let films = try anyStore()["films"]
    try films.insert(["cast": [["n": "x"], ["n": "y"], ["n": "z"]], "year": 1985])
    let query = films.find().select("cast.1.n", "cast.2.n")
    let columns = ["cast.1.n", "cast.2.n", "year"]
    #expect(try text(query, .csv(columns: columns)) == "cast.1.n,cast.2.n,year\ny,z,\n")
    let parents = films.find().select("cast.1.n")
    #expect(
      try text(parents, .csv(columns: ["cast.1", "cast.0.n"]))
        == "cast.1,cast.0.n\n\"{\"\"n\"\":\"\"y\"\"}\",\n")
    #expect(
      try text(parents, .csv(columns: ["cast.0", "cast.1.n"])) == "cast.0,cast.1.n\n,y\n")
    let found = try text(query, .csv())
    #expect(found.contains("\"\"y\"\"") && !found.contains("\"\"x\"\"") && !found.contains("1985"))
  }
}
