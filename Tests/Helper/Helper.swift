// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// A helper process for the tests. It reads one command per line and replies with one line: `ok` and a result, or
/// `error` and its code. Words are separated by tabs.
@main
struct Helper {
  static func main() {
    var session = Session()
    while let line = readLine() { session.handle(line) }
  }
}

struct Session {
  private var store: Store?

  mutating func handle(_ line: String) {
    do {
      reply(
        "ok \(try run(line.split(separator: "\t", omittingEmptySubsequences: false).map { "\($0)" }))"
      )
    } catch let error as StoreError {
      reply("error \(error.code.rawValue)")
      FileHandle.standardError.write(Data((error.debugDescription + "\n").utf8))
    } catch {
      reply("error \(error)")
    }
  }

  private func opened() throws -> Store {
    guard let store else { throw StoreError(.closed, "Nothing is open") }
    return store
  }

  private mutating func run(_ words: [String]) throws -> String {
    switch words[0] {
    case "open":
      var configuration = Store.Configuration()
      var engine = SQLiteConfiguration()
      engine.isReadOnly = words.contains("readonly")
      engine.isImmutable = words.contains("immutable")
      configuration.indexTuning = words.contains("tuned") ? .automatic : .off
      engine.isPrivate = words.contains("private")
      engine.busyTimeout = words.contains("impatient") ? .milliseconds(50) : .seconds(20)
      store = try Store(.file(words[1]), configuration: configuration, engine: engine)
    case "temporary":
      store = try Store(.temporary)
      try opened()["a"].insert(
        (0..<20_000 as Range<Int64>).map { ["n": .int($0), "text": "some words"] })
    case "close": try opened().close()
    case "save": try opened()[words[1]].save(json: words[3], key: words[2])
    case "insert": return "\(try opened()[words[1]].insert(json: words[2]).rowID ?? 0)"
    case "remove": return "\(try opened()[words[1]].delete(words[2]))"
    case "get":
      return try opened()[words[1]].get(words[2]).map { "\($0["n"]?.int ?? 0)" } ?? "nil"
    case "count": return "\(try opened()[words[1]].find(words[2]).count())"
    case "index": try opened()[words[1]].createIndex(words[2], elements: false)
    case "search":
      return try opened()[words[1]].search(words[2]).keys().joined(separator: ",")
    case "indexes": return try opened()[words[1]].indexes().map(\.name).joined(separator: ",")
    case "defaults": try opened()[words[1]].setDefaults(DocumentObject(json: words[2]))
    case "drop": return "\(try opened()[words[1]].drop())"
    case "backup": try opened().backup(to: words[1])
    case "hold": try hold(words[1])
    case "flood": try flood(words[1])
    case "attach": try attach(words[1], words[2], words[3])
    case "saveBag": return "\(try saveBag(times: Int(words[1]) ?? 0))"
    default: throw StoreError(.invalidArgument, "No such command")
    }
    return ""
  }

  /// Writes a document and keeps the transaction open until the next line.
  private func hold(_ collection: String) throws {
    let store = try opened()
    try store.write {
      try store[collection].save(["held": true], key: "held")
      reply("ok held")
      _ = readLine()
    }
  }

  /// Writes an attachment from a file that ends after the next line, when a part of it is written.
  private func attach(_ collection: String, _ key: String, _ name: String) throws {
    let pipe = NSTemporaryDirectory() + "nanostore-helper-\(UUID().uuidString)"
    guard mkfifo(pipe, 0o600) == 0 else { throw StoreError(.cannotOpen, "No pipe") }
    Thread.detachNewThread {
      guard let end = FileHandle(forWritingAtPath: pipe) else { return }
      try? end.write(contentsOf: Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0) }))
      unlink(pipe)
      reply("ok written")
      _ = readLine()
      try? end.close()
    }
    try opened()[collection].attach(.file(path: pipe), named: name, to: key)
  }

  /// Saves a bag with loaded documents in one transaction, each time with another document, and returns by how many
  /// megabytes the memory of this process has grown.
  private func saveBag(times: Int) throws -> Int {
    let store = try opened()
    let bag = Bag(in: store)
    try bag.add((0..<1_000).map { try Document(["n": 1], key: "l\($0)") }, in: "documents")
    try bag.save()
    try bag.inflate()
    return try store.write {
      let before = try Self.residentMegabytes()
      for number in 0..<times {
        try bag.add(Document(["n": 1], key: "d\(number)"), in: "documents")
        try bag.save()
      }
      return try Self.residentMegabytes() - before
    }
  }

  private static func residentMegabytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) / 1024
  }

  /// Writes transactions of a hundred documents until the process is killed.
  private func flood(_ collection: String) throws {
    let documents = try opened()[collection]
    for round in 0... {
      try documents.insert(
        (0..<100 as Range<Int64>).map {
          ["round": .int(Int64(round)), "n": .int($0), "tags": ["a", .string("b\($0)")]]
        })
      reply("ok \(round)")
    }
  }
}

/// Writes a line without buffering; `print` buffers when writing to a pipe.
private func reply(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
