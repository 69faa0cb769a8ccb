// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTestSupport
import Synchronization
import Testing

@Suite("Importing files")
struct ImportTests {
  let scratch: Scratch
  let films: DocumentCollection

  init() throws {
    scratch = try Scratch()
    films = try anyStore()["films"]
  }

  private func file(_ text: String) throws -> URL {
    let file = URL(filePath: scratch.file("\(UUID().uuidString).json"))
    try Data(text.utf8).write(to: file)
    return file
  }

  private func numbers(_ range: Range<Int>) -> String {
    range.map { #"{"n":\#($0)}"# }.joined(separator: "\n")
  }

  @Test(
    "JSON arrays, JSON lines, and concatenated documents are imported with a complete report",
    arguments: [
      #"[{"n":1},{"n":2}]"#, "{\"n\":1}\n{\"n\":2}\n", "{\n \"n\": 1\n}\n{\n \"n\": 2\n}",
      #"{"n":1}{"n":2}"#,
    ])
  func forms(text: String) throws {
    let report = try films.importDocuments(from: file(text), options: ImportOptions(keyField: "n"))

    #expect(report.documents == 2)
    #expect(report.skipped == 0 && report.skippedRecords.isEmpty)
    #expect(report.bytesRead == text.utf8.count && report.totalBytes == text.utf8.count)
    #expect(try films.get(keys: ["1", "2"]).map { $0["n"]?.int } == [1, 2])
  }

  @Test("Extended JSON is converted to typed values, except in the plain dialect")
  func dialects() throws {
    let file = try self.file(#"{"at":{"$date":"2026-11-20T21:17:00Z"}}"#)
    try films.importDocuments(from: file)
    try films.importDocuments(from: file, options: ImportOptions(dialect: .plain))

    #expect(try films.fetch().map { $0["at"]?.date != nil } == [true, false])
  }

  @Test("Progress is reported after each batch, and the last report is the result")
  func progress() throws {
    var seen: [ImportReport] = []
    let report = try films.importDocuments(from: file(numbers(0..<3_500))) { seen.append($0) }

    #expect(seen.count >= 4)
    #expect(seen.last == report)
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.documents <= $1.documents })
    #expect(report.documents == 3_500)
    #expect(try films.count() == 3_500)
  }

  @Test(
    "An invalid record's error names file, record, line, and byte, and nothing is stored",
    arguments: [
      ("{\"n\":1}\n{\"n\":2,}\n", StoreError.Code.invalidJSON, 2, 2, 14),
      ("{\"n\":1}\n\n{\"n\":1}\n", .duplicateKey, 2, 3, 9),
      ("[{\"n\":1},\n{\"n\":3},\n{\"x\":1}]", .invalidKey, 3, 3, 19),
      ("{\"n\":1}\n{\"n\":{\"$date\":\"x\"}}", .invalidJSON, 2, 2, 22),
      ("[{\"n\":1}", .invalidJSON, 2, 1, 8),
    ])
  func invalidRecord(
    text: String, code: StoreError.Code, record: Int, line: Int, byte: Int
  ) throws {
    let file = try self.file(text)
    let error = error {
      try films.importDocuments(from: file, options: ImportOptions(keyField: "n"))
    }

    #expect(error?.code == code)
    #expect(error?[.path] == file.path)
    #expect(error?[.record] == "\(record)")
    #expect(error?[.line] == "\(line)")
    #expect(error?[.byteOffset] == "\(byte)")
    #expect(error?.description.contains(file.path) == false)
    #expect(try films.store.collections().isEmpty)
  }

  @Test("An invalid record rolls back the batches before it")
  func allOrNothing() throws {
    try films.insert(["n": -1])
    let file = try self.file(numbers(0..<2_500) + "\n{")
    let error = error {
      try films.importDocuments(from: file)
    }
    #expect(error?[.record] == "2501")
    #expect(try films.count() == 1)
  }

  @Test("Invalid records are skipped on request and reported, up to 100 of them")
  func skipping() throws {
    let text = numbers(0..<10) + "\n" + String(repeating: "{\"n\":0}\nnull\n", count: 80)
    let report = try films.importDocuments(
      from: file(text), options: ImportOptions(keyField: "n", skipsInvalidRecords: true))

    #expect(report.documents == 10)
    #expect(report.skipped == 160)
    #expect(report.skippedRecords.count == 100)
    #expect(Set(report.skippedRecords.map(\.code)) == [.invalidJSON, .duplicateKey])
    #expect(report.skippedRecords.allSatisfy { $0[.record] != nil && $0[.line] != nil })
    #expect(try films.count() == 10)
  }

  @Test("A line that was cut off is skipped alone")
  func cutOffLine() throws {
    let report = try films.importDocuments(
      from: file("{\"n\":1,\n{\"n\":2}\n{\"n\":3}\n"),
      options: ImportOptions(keyField: "n", skipsInvalidRecords: true))

    #expect(report.documents == 2 && report.skipped == 1)
    #expect(try films.get(keys: ["2", "3"]).count == 2)
  }

  @Test(
    "An import that waits for its first documents does not block other writers", .sqlite,
    .timeLimit(.minutes(10)))
  func waiting() async throws {
    let store = try Store.file(scratch.file("a.db"))
    let other = try Store.file(scratch.file("a.db")) { $0.busyTimeout = .milliseconds(50) }
    let pipe = scratch.file("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    let importing = Task {
      try await store["films"].importDocuments(from: URL(filePath: pipe))
    }
    // Opening the pipe waits until the import reads it, which needs a thread of the pool.
    let opened: FileHandle? = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: FileHandle(forWritingAtPath: pipe))
      }
    }
    let input = try #require(opened)

    for _ in 0..<50 { try await other["films"].insert(["n": 1]) }
    try input.write(contentsOf: Data("{\"n\":2}\n".utf8))
    try input.close()

    #expect(try await importing.value.documents == 1)
    #expect(try await other["films"].count() == 51)
  }

  @Test("A field name with a period is an error of its record, and an invalid collection is not")
  func invalidNames() throws {
    films.store.allowsPeriodsInNames = false
    let file = try self.file("{\"n\":1}\n{\"a.b\":1}\n{\"n\":2}")
    let failure = error { try films.importDocuments(from: file) }
    #expect(failure?.code == .invalidName)
    #expect(failure?[.record] == "2" && failure?[.line] == "2")

    let options = ImportOptions(skipsInvalidRecords: true)
    let report = try films.importDocuments(from: file, options: options)
    #expect(report.documents == 2)
    #expect(report.skippedRecords.map(\.code) == [.invalidName])
    let unnamed = films.store[""]
    #expect(
      error { try unnamed.importDocuments(from: file, options: options) }?.code == .invalidName)
  }

  @Test("Documents with the same key are replaced on request")
  func replacing() throws {
    try films.importDocuments(
      from: file(#"{"k":{"x":1},"n":1}"#), options: ImportOptions(keyField: "k.x"))
    try films.importDocuments(
      from: file(#"{"k":{"x":1},"n":2}"#),
      options: ImportOptions(keyField: "k.x", replacesDocuments: true))

    #expect(try films.fetch().map { $0["n"]?.int } == [2])
  }

  @Test("A record over the length limit ends the import, even if invalid records are skipped")
  func tooLong() throws {
    let text = numbers(0..<5) + "\n{\"long\":\"" + String(repeating: "x", count: 5_000) + "\"}"
    let file = try self.file(text)
    let error = error {
      try films.importDocuments(
        from: file, options: ImportOptions(skipsInvalidRecords: true, maximumRecordLength: 1_000))
    }
    #expect(error?.code == .documentTooLarge)
    #expect(error?[.record] == "6")
    #expect(try films.count() == 0)
  }

  @Test("An unreadable file throws, and no collection is created")
  func unreadable() throws {
    let nowhere = URL(filePath: scratch.file("nowhere.json"))
    for file in [nowhere, nowhere.deletingLastPathComponent()] {
      let error = error { try films.importDocuments(from: file) }
      #expect(error?.code == .cannotOpen)
      #expect(error?[.path]?.isEmpty == false)
    }
    let web = error { try films.importDocuments(from: URL(string: "https://example.org/a.json")!) }
    #expect(web?.code == .invalidArgument)
    #expect(try films.store.collections().isEmpty)
  }

  #if os(Linux)
    @Test("A folder that cannot be imported is closed again")
    func descriptors() throws {
      let name = UUID().uuidString
      let folder = scratch.file(name)
      let manager = FileManager.default
      try manager.createDirectory(atPath: folder, withIntermediateDirectories: false)

      #expect(code { try films.importDocuments(from: URL(filePath: folder)) } == .cannotOpen)

      let opened = try manager.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
        try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      }
      #expect(!opened.contains { $0.contains(name) })
    }
  #endif

  @Test(
    "An error in the progress closure ends the import, and a surrounding transaction loses only the import"
  )
  func errorInProgress() throws {
    struct Enough: Error {}
    let file = try self.file(numbers(0..<2_500))
    #expect(throws: Enough.self) {
      try films.importDocuments(from: file) { if $0.documents > 1_000 { throw Enough() } }
    }
    #expect(try films.count() == 0)

    try films.store.write {
      try films.insert(["n": "before"])
      #expect(throws: Enough.self) { try films.importDocuments(from: file) { _ in throw Enough() } }
      try films.insert(["n": "after"])
    }
    #expect(try films.count() == 2)
  }

  @Test("Canceling the task ends the import, and nothing is stored")
  func canceling() async throws {
    let file = try self.file(numbers(0..<5_000))
    let (started, signal) = AsyncStream<Void>.makeStream()
    let resume = DispatchSemaphore(value: 0)
    let task = Task { [films] in
      try await films.importDocuments(from: file) { _ in
        signal.yield()
        resume.wait()
      }
    }
    for await _ in started { break }
    task.cancel()
    for _ in 0..<10 { resume.signal() }

    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await films.count() == 0)
  }

  @Test("An async import has the same result")
  func asynchronous() async throws {
    let documents = Mutex(0)
    let report = try await films.importDocuments(from: file(numbers(0..<1_500))) { report in
      documents.withLock { $0 = report.documents }
    }
    #expect(report.documents == 1_500)
    #expect(documents.withLock { $0 } == 1_500)
    #expect(try await films.count() == 1_500)
  }
}
