// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import Synchronization

extension EngineConformance {
  /// Runs a closure on several threads concurrently, and waits for all of them.
  private static func onThreads(
    _ count: Int, _ engine: any Engine, _ work: @escaping @Sendable (any Engine) throws -> Void
  ) throws {
    let failures = Failures()
    let group = DispatchGroup()
    for _ in 0..<count {
      group.enter()
      Thread {
        defer { group.leave() }
        do { try work(engine) } catch { failures.add(error) }
      }.start()
    }
    group.wait()
    if let first = failures.first { throw first }
  }

  /// Distinguishes the first of several threads.
  private final class FirstThread: Sendable {
    private let taken = Atomic(false)
    private let result = Mutex<Bool?>(nil)
    func claim() -> Bool { !taken.exchange(true, ordering: .relaxed) }
    func end(_ hasSucceeded: Bool) { result.withLock { $0 = hasSucceeded } }
    /// Whether the first thread has succeeded; nil until it ends.
    var hasSucceeded: Bool? { result.withLock(\.self) }
  }

  private final class Failures: Sendable {
    private let all = Mutex<[any Error]>([])
    func add(_ error: any Error) { all.withLock { $0.append(error) } }
    var first: (any Error)? { all.withLock(\.first) }
  }

  static let isolation: [Check] = [
    Check("A snapshot does not change during concurrent writes") { probe in
      guard probe.has(.concurrentReads) else { return }
      try probe.insert(["n": 1], key: "k")
      try probe.read { reader in
        try expectEqual(try reader.ids().count, 1, "documents initially")
        try onThreads(1, probe.engine) { engine in
          try engine.write(nil) { writer in
            try writer.insert(["n": 2])
            try writer.save(["n": 3], key: "k")
            try writer.insert([:], into: "new")
            try writer.createIndex(IndexDefinition(columns: [.init("n")]), in: "c")
          }
        }
        try expectEqual(try reader.ids().count, 1, "documents")
        let body = try reader.document(.key(try DocumentKey("k")))?.body
        try expectEqual(body, #"{"n":1}"#, "the changed document")
        try expectEqual(try reader.collections().map(\.name), ["c"], "collections")
        let two = Query(.comparison(.field("n"), .greater, .value(.int(1))))
        try expectEqual(try reader.count(two, in: "c"), 0, "matches of new values")
        try expectEqual(try reader.indexes(in: "c"), [], "indexes")
      }
      try expectEqual(try probe.ids().count, 2, "documents in a later snapshot")
    },
    Check("Uncommitted changes are not visible to other threads") { probe in
      guard probe.has(.concurrentReads) else { return }
      try probe.insert(["n": 1])
      try probe.write { writer in
        try writer.insert(["n": 2])
        try onThreads(1, probe.engine) { engine in
          let count = try engine.read(.snapshot, nil) { try $0.count(Query(), in: "c") }
          try expectEqual(count, 1, "documents visible to another thread")
        }
      }
      try expectEqual(try probe.ids().count, 2, "documents after the commit")
    },
    Check("Readers see new value types written by other connections") { probe in
      try probe.write { writer in
        try writer.createIndex(IndexDefinition(columns: [.init("a")]), in: "c")
        try writer.insert(["a": 1])
      }
      let some = Query(.comparison(.field("a"), .greaterOrEqual, .value(.int(1))))
      try expectEqual(try probe.ids(some).count, 1, "numbers only")
      let values: [DocumentValue] = [[2, "x"], .double(.infinity), ["b": 3], "text", true, 3]
      for (count, value) in values.enumerated() {
        try probe.insert(["a": value])
        let expected = [2, 3, 3, 3, 3, 4][count]
        try expectEqual(try probe.ids(some).count, expected, "after \(value)")
      }
    },
    Check("Concurrent increments are not lost") { probe in
      try probe.insert(["n": 0], key: "k")
      let (threads, rounds) = (4, 25)
      try onThreads(threads, probe.engine) { engine in
        for _ in 0..<rounds {
          try engine.write(nil) { writer in
            let values = try writer.distinct("n", Query(), in: "c")
            guard case .int(let number)? = values.first else { return }
            try writer.save(["n": .int(number + 1)], key: "k")
          }
        }
      }
      let body = try probe.read { try $0.document(.key(try DocumentKey("k")))?.body }
      try expectEqual(body, #"{"n":\#(threads * rounds)}"#, "counter")
    },
    Check("A single call sees one state during concurrent writes") { probe in
      guard probe.has(.concurrentReads) else { return }
      let one = Query(.comparison(.field("a"), .equal, .value(.int(1))))
      for round in 0..<60 {
        let name = "c\(round)"
        try probe.write { writer in
          try writer.createIndex(IndexDefinition(columns: [.init("a")]), in: name)
          try writer.insert(["a": 1], into: name)
        }
        let first = FirstThread()
        try onThreads(2, probe.engine) { engine in
          if first.claim() {
            var hasSucceeded = false
            defer { first.end(hasSucceeded) }
            try engine.write(nil) { writer in
              try writer.insert(["a": 1], into: name)
              // The field is no longer a single number.
              try writer.insert(["a": [1, 2]], into: name)
            }
            hasSucceeded = true
            return
          }
          while true {
            // Before the read, which must then see what was written.
            let hasSucceeded = first.hasSucceeded
            let count = try engine.read(.call, nil) { try $0.count(one, in: name) }
            try expect(count == 1 || count == 3, "\(count) documents: part of a transaction")
            guard let hasSucceeded else { continue }
            return try expect(!hasSucceeded || count == 3, "a committed transaction is not visible")
          }
        }
      }
    },
    Check("Multiple threads can read during a write") { probe in
      try probe.write { writer in for _ in 0..<50 { try writer.insert(["n": 1]) } }
      try onThreads(4, probe.engine) { engine in
        for round in 0..<20 {
          let one = Query(.comparison(.field("n"), .equal, .value(.int(1))))
          let count = try engine.read(.snapshot, nil) { try $0.count(one, in: "c") }
          try expect(count >= 50 && count % 2 == 0, "\(count) documents: part of a transaction")
          guard round % 5 == 0 else { continue }
          try engine.write(nil) { writer in
            try writer.insert(["n": 1])
            try writer.insert(["n": 1])
          }
        }
      }
    },
  ]
}
