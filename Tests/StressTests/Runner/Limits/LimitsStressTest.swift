// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// Tests the limits: each operation succeeds or is rejected with a reason, in bounded memory.
struct LimitsStressTest: StressTest {
  static let configuration = CommandConfiguration(
    commandName: "limits",
    abstract: "Tests many documents, collections and indexes, and large documents, arrays and keys."
  )

  @Option(help: "The number of documents in one collection.")
  var documents = 10_000_000
  @Option(help: "Divides all other sizes by this number.")
  var divisor = 1
  @Option(help: "The folder of the files; a temporary folder by default.")
  var folder: String?

  func perform() throws -> Figures {
    var figures = Figures()
    try manyDocuments(&figures)
    for (name, test) in [
      ("large document", largeDocument), ("collections", collections), ("indexes", indexes),
      ("array", longList), ("nesting", nesting), ("keys", keys),
    ] as [(String, (Store, inout Figures) throws -> Void)] {
      note(name)
      let start = ContinuousClock.now
      try inStore { try test($0, &figures) }
      figures["\(name), ms"] = (ContinuousClock.now - start).milliseconds
    }
    figures["peak memory, MB"] = Memory.largest
    return figures
  }

  private func inStore(_ work: (Store) throws -> Void) throws {
    let folder = try StressTestFolder("limits", in: folder)
    var configuration = Store.Configuration()
    configuration.indexTuning = .off
    let store = try Store(.file(folder.file("a.db")), configuration: configuration)
    try work(store)
    let problems = try store.verify()
    try require(problems.isEmpty, "verify: \(problems)")
    try store.close()
  }

  private func manyDocuments(_ figures: inout Figures) throws {
    figures["documents"] = documents
    try inStore { store in
      let all = store["all"]
      let batch = 50_000
      let start = ContinuousClock.now
      for first in stride(from: 0, to: documents, by: batch) {
        let numbers = Int64(first)..<Int64(min(first + batch, documents))
        try all.insert(numbers.map(Self.document))
      }
      figures["inserting documents, ms"] = (ContinuousClock.now - start).milliseconds
      note("inserted")
      let indexing = ContinuousClock.now
      try all.createIndex("n", unique: true, elements: false)
      figures["indexing documents, ms"] = (ContinuousClock.now - indexing).milliseconds
      note("indexed")
      let using = ContinuousClock.now
      let middle = Int64(documents / 2)
      try require(try all.find(Field("n") == .int(middle)).count() == 1, "not found by the index")
      try require(try all.count() == documents, "documents are missing")
      let page = try all.find(Field("n") >= middle).sorted(by: "n").limit(20).fetch()
      try require(page.first?["n"] == .int(middle), "the page starts at a different document")
      figures["lookup, count and page, ms"] =
        (ContinuousClock.now - using).milliseconds
      var seen = 0
      let scanning = ContinuousClock.now
      try all.find(Field("group") == 7).each { _ in seen += 1 }
      try require(seen == documents / 1_000, "\(seen) found by a scan")
      figures["scanning documents, ms"] = (ContinuousClock.now - scanning).milliseconds
      figures["peak memory with documents, MB"] = Memory.largest
      note("scanned")
    }
  }

  private static func document(_ number: Int64) -> DocumentObject {
    let name = DocumentValue.string("name \(number)")
    return ["n": .int(number), "group": .int(number % 1_000), "name": name]
  }

  private func largeDocument(_ store: Store, _ figures: inout Figures) throws {
    let size = 100_000_000 / divisor
    figures["large document, bytes"] = size
    let text = String(repeating: "0123456789", count: size / 10)
    try store["a"].save(["text": .string(text), "n": 7], key: "large")
    try require(try store["a"].get("large")?["text"]?.string?.utf8.count == size, "truncated")
    try require(try store["a"].find(Field("n") == 7).count() == 1, "not found")
    store.maximumDocumentSize = size
    try expectError(.documentTooLarge) {
      try store["a"].save(["text": .string(text)], key: "larger")
    }
  }

  private func collections(_ store: Store, _ figures: inout Figures) throws {
    let count = 10_000 / divisor
    figures["collections"] = count
    let creating = ContinuousClock.now
    try store.createCollections((0..<count).map { "c\($0)" })
    figures["creating collections, ms"] = (ContinuousClock.now - creating).milliseconds
    for number in 0..<count { try store["c\(number)"].save(["n": .int(Int64(number))], key: "k") }
    try require(try store.collections().count == count, "collections are missing")
    for number in stride(from: 0, to: count, by: max(1, count / 100)) {
      try require(try store["c\(number)"].get("k")?["n"] == .int(Int64(number)), "not found")
    }
    try store.close()
    let opening = ContinuousClock.now
    try store.reopen()
    try require(try store["c\(count - 1)"].count() == 1, "not found after opening")
    figures["opening with collections, ms"] = (ContinuousClock.now - opening).milliseconds
  }

  private func indexes(_ store: Store, _ figures: inout Figures) throws {
    let count = 5_000 / divisor
    figures["indexes"] = count
    let many = store["many"]
    for number in 0..<count { try many.createIndex("f\(number)", elements: false) }
    try many.insert((0..<10).map { ["f\(count - 1)": .int($0), "f0": .int($0)] })
    try require(try many.find(Field("f\(count - 1)") == 3).explain().indexes.count == 1, "unused")
    try require(try many.find(Field("f\(count - 1)") == 3).count() == 1, "not found")
    try require(try many.indexes().count == count, "indexes are missing")
  }

  private func longList(_ store: Store, _ figures: inout Figures) throws {
    let count = 100_000 / divisor
    figures["array elements"] = count
    let lists = store["lists"]
    try lists.createIndex("tags", elements: true)
    try lists.save(["tags": .array((0..<count).map { .int(Int64($0)) })], key: "long")
    try require(try lists.find(Field("tags") == .int(Int64(count - 1))).count() == 1, "not found")
    try lists.update("long", set: ["tags": [1]])
    try require(try lists.find(Field("tags") == .int(Int64(count - 1))).count() == 0, "still there")
  }

  private func nesting(_ store: Store, _ figures: inout Figures) throws {
    func nested(_ depth: Int) -> DocumentValue {
      (0..<depth).reduce(DocumentValue.int(7)) { value, _ in ["a": value] }
    }
    figures["nesting levels"] = 500
    let object = nested(500).object ?? [:]
    try store["a"].save(object, key: "deep")
    try require(try store["a"].get("deep")?.object() == object, "changed")
    try expectError(.valueNotStorable) {
      try store["a"].save(nested(600).object ?? [:], key: "deeper")
    }
  }

  private func keys(_ store: Store, _ figures: inout Figures) throws {
    try expectError(.invalidKey) {
      try store["a"].save(
        ["n": 1], key: String(repeating: "k", count: DocumentKey.maximumLength + 1))
    }
    let longest = String(repeating: "k", count: DocumentKey.maximumLength)
    figures["longest key, bytes"] = longest.utf8.count
    try store["a"].save(["n": 1], key: longest)
    try require(try store["a"].get(longest)?["n"] == 1, "not found by a long key")
    // Field names have no limit of their own.
    let name = String(repeating: "n", count: 1_000_000 / divisor)
    figures["field name, bytes"] = name.utf8.count
    try store["a"].save(DocumentObject([(name, DocumentValue.int(1))]), key: "name")
    try require(try store["a"].get("name")?.object()[name] == 1, "the name is lost")
  }

  private func expectError(_ code: StoreError.Code, _ work: () throws -> some Any) throws {
    do { _ = try work() } catch let error as StoreError where error.code == code { return }
    throw StressTestFailure("\(code) was expected")
  }
}

extension Duration {
  fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}

/// The memory usage of this process.
enum Memory {
  /// The peak memory usage in megabytes.
  static var largest: Int {
    #if canImport(Darwin)
      var usage = rusage()
      getrusage(RUSAGE_SELF, &usage)
      // In bytes.
      return usage.ru_maxrss >> 20
    #else
      let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
      return (Int(line.filter(\.isNumber)) ?? 0) / 1024
    #endif
  }
}
