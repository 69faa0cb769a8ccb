// SPDX-License-Identifier: MIT

import Logging
import NanoStore
import Synchronization
import Testing

@Suite("Logging")
struct LoggingTests {
  /// Collects log lines.
  final class Memory: Sendable {
    let lines = Mutex<[String]>([])
  }

  struct Handler: LogHandler {
    let memory: Memory
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) {
      memory.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
    }
  }

  @Test("Statements are logged at the trace level, without values")
  func statements() throws {
    let memory = Memory()
    var configuration = Store.Configuration()
    configuration.logger = Logger(label: "test") { _ in Handler(memory: memory) }
    configuration.logger.logLevel = .trace
    let store = try Store(.memory, configuration: configuration)

    try store["people"].save(["name": "Ada the secret"], key: "secret key")
    _ = try store["people"].find(Field("name") == "Ada the secret").fetch()

    let lines = memory.lines.withLock { $0 }
    #expect(lines.contains { $0.contains("store opened") })
    #expect(lines.contains { $0.contains("SELECT") && $0.contains("people") })
    #expect(!lines.contains { $0.contains("secret") })
  }

  @Test("Every statement is logged with its duration, including SQL calls and failed statements")
  func durations() throws {
    let memory = Memory()
    var configuration = Store.Configuration()
    configuration.logger = Logger(label: "test") { _ in Handler(memory: memory) }
    configuration.logger.logLevel = .trace
    let store = try Store(.memory, configuration: configuration)
    try store["people"].save(["name": "Ada"], key: "a")
    memory.lines.withLock { $0.removeAll() }

    _ = try store.sql("SELECT key FROM people WHERE id = ?", 1)
    _ = try? store.execute("INSERT INTO people(key, body) VALUES ('a', '{}')")

    let lines = memory.lines.withLock { $0 }.filter { $0.contains("people") }
    #expect(lines.contains { $0.contains("SELECT key FROM people") })
    #expect(lines.contains { $0.contains("INSERT INTO people") })
    #expect(lines.allSatisfy { $0.contains(/"?microseconds"?: [0-9]+/) }, "\(lines)")
  }
}
