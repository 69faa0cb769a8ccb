// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import GRDB
import NanoStore

/// A library that opens a large file in a new process and gets one document by key.
enum ColdProduct: String {
  case raw = "cold-raw"
  case ours = "cold-ours"
  case grdb = "cold-grdb"

  /// Creates the file with documents, in batches that fit in memory.
  func fill(_ file: String, documents: Int) throws {
    switch self {
    case .raw:
      let table = try RawTable(file)
      let insert = try table.connection.prepare("INSERT INTO d(key,body) VALUES(?1,?2)")
      try Self.eachBatch(documents) { people in
        try table.connection.execute("BEGIN IMMEDIATE")
        for (number, person) in people {
          var body = person.storedJSON
          try withUnsafeBytes(of: UUID(version7: number).uuid) { key in
            insert.bind(blob: key, at: 1)
            try body.withUTF8 {
              insert.bind(text: UnsafeRawBufferPointer($0), at: 2)
              try insert.run()
            }
          }
        }
        try table.connection.execute("COMMIT")
      }
      try table.checkpoint()
    case .ours:
      let store = try Store.untuned(file)
      try Self.eachBatch(documents) { people in try store["people"].insert(people.map(\.1)) }
      try store.close()
    case .grdb:
      let table = try RecordTable<PersonRow>(file)
      try Self.eachBatch(documents) { people in
        try table.queue.write { db in
          for (number, person) in people {
            try PersonRow(id: UUID(version7: number), person).insert(db)
          }
        }
      }
      try table.checkpoint()
    }
  }

  private static func eachBatch(
    _ documents: Int, _ insert: ([(Int, Person)]) throws -> Void
  ) throws {
    for start in stride(from: 0, to: documents, by: 10_000) {
      let numbers = start..<min(start + 10_000, documents)
      try insert(numbers.map { ($0, Person(number: $0 % 100_000)) })
    }
  }

  /// Returns the key of the document with a number, as an argument for the child.
  func key(_ number: Int, _ file: String) throws -> String {
    guard self == .ours else { return UUID(version7: number).uuidString }
    let store = try Store.untuned(file)
    defer { try? store.close() }
    return try store["people"].get(rowID: Int64(number + 1))?.key ?? ""
  }

  /// What a start opened, which is closed after the measurement, and whether it found the document.
  private struct Start {
    let opened: AnyObject
    let found: Bool
  }

  /// Measures from just before opening the file until the document is read. Runs in the child.
  func measure(file: String, key: String) throws -> [String: Double] {
    let watch = Stopwatch()
    let start =
      switch self {
      case .raw: try watch.measure { try Self.getRaw(file, key) }
      case .ours: try watch.measure { try Self.getOurs(file, key) }
      case .grdb: try watch.measure { try Self.getRecord(file, key) }
      }
    return withExtendedLifetime(start) {
      [
        "cpu": Double(watch.cpuNanoseconds), "wall": Double(watch.wallNanoseconds),
        "found": start.found ? 1 : 0,
      ]
    }
  }

  private static func getRaw(_ file: String, _ key: String) throws -> Start {
    let connection = try RawConnection(file)
    let select = try connection.prepare("SELECT body FROM d WHERE key=?1")
    // A key that is not one is not found.
    let id = UUID(uuidString: key) ?? UUID()
    let isFound = try withUnsafeBytes(of: id.uuid) { bytes in
      select.bind(blob: bytes, at: 1)
      defer { select.reset() }
      return try select.step() && !Array(select.text(0)).isEmpty
    }
    return Start(opened: select, found: isFound)
  }

  /// With the default configuration, as an application opens its store.
  private static func getOurs(_ file: String, _ key: String) throws -> Start {
    let store = try Store(.file(file))
    return Start(opened: store, found: try store["people"].get(key) != nil)
  }

  private static func getRecord(_ file: String, _ key: String) throws -> Start {
    let queue = try DatabaseQueue(path: file, configuration: .benchmark())
    let id = UUID(uuidString: key) ?? UUID()
    let record = try queue.read { db in try PersonRow.get(db, id) }
    return Start(opened: queue, found: record != nil)
  }
}
