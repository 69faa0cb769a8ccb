// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoStoreSync

/// A process that writes to a file and synchronizes it, until it is killed or has written enough.
///
/// The arguments are the file, the URL of the server, the name of the process, the number of writes, and `both` or `push`. It prints
/// `try KEY FIELD` before each write and `ack KEY FIELD` after it, `done N` when N changes were looked at, and at the end
/// `end PULLED PUSHED DONE FAILURES` of a last synchronization.
@main
struct SyncHelper {
  static func main() async throws {
    let words = CommandLine.arguments
    let (name, count) = (words[3], Int(words[4]) ?? 0)
    var engine = SQLiteConfiguration()
    // Another process writes to the file.
    engine.busyTimeout = .seconds(600)
    let store = try Store(.file(words[1]), engine: engine)
    var options = SyncOptions()
    options.defaultRules.counters = ["n"]
    options.batchDocuments = 20
    if count > 0 {
      let sync = try store.replicate(["films"], with: .url(words[2]), options: options)
      for number in 0..<count {
        try await write(store["films"], "k\(number % 5)", "\(name)\(number)")
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...15)))
      }
      await sync.stop()
    }
    let sync = try store.replicate(
      ["films"], with: .url(words[2]), direction: words[5] == "push" ? .push : .both, mode: .once,
      options: options)
    for await status in sync.updates { say("done \(status.done)") }
    let status = try await sync.finish()
    say("end \(status.pulled) \(status.pushed) \(status.done) \(status.failures.count)")
    try store.close()
  }

  /// Adds a field and one to the counter.
  private static func write(
    _ films: DocumentCollection, _ key: String, _ field: String
  ) async throws {
    say("try \(key) \(field)")
    try await films.store.write {
      let n = try films.get(key)?["n"]?.int64
      if let n {
        try films.update(key, set: [FieldPath(field): true, "n": .int(n + 1)])
      } else {
        try films.save(DocumentObject([(field, .bool(true)), ("n", .int(1))]), key: key)
      }
    }
    say("ack \(key) \(field)")
  }

  /// Writes a line without buffering, as one that is killed has to.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
