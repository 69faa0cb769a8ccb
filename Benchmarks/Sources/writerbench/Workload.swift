// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// The calls that a writer repeats.
struct Workload: Sendable {
  static let keys = 1_000
  static let removable = 20_000

  let store: Store
  let operation: Operation
  var documents: DocumentCollection { store["documents"] }

  init(_ store: Store, _ operation: Operation) {
    (self.store, self.operation) = (store, operation)
  }

  /// Documents of about 200 bytes.
  static func fields(_ number: Int) -> DocumentObject {
    [
      "n": .int(Int64(number)), "name": "Grace Hopper", "city": "Arlington",
      "text": .string(String(repeating: "lorem ipsum ", count: 10)), "tags": ["a", "b"],
    ]
  }

  static func json(_ number: String) -> String {
    """
    {"n":\(number),"name":"Grace Hopper","city":"Arlington",\
    "text":"\(String(repeating: "lorem ipsum ", count: 10))","tags":["a","b"]}
    """
  }

  /// Replaces the collection by a new one with the documents that the calls need.
  func fill(_ writers: Int, tracked: Bool) async throws {
    try await documents.drop()
    if tracked { try await documents.setChangeTracking(.on) }
    try await documents.save(
      (0..<Self.keys).map { try Document(Self.fields($0), key: "k\($0)") })
    if operation == .remove {
      for writer in 0..<writers {
        try await documents.insert(
          (0..<Self.removable / writers).map {
            try Document(Self.fields($0), key: "r\(writer)_\($0)")
          })
      }
    }
  }

  /// Connects, and loads the definitions of the collection.
  func warmUp(_ writer: Int) async throws { _ = try await documents.get("k0") }

  /// Runs the calls of several writers, and returns the calls per second of all.
  func run(_ writers: [Int], _ seconds: Double) async throws -> Double {
    let start = ContinuousClock.now
    let end = start + .seconds(seconds)
    let calls = try await withThrowingTaskGroup(of: Int.self) { group in
      for writer in writers {
        group.addTask {
          var count = 0
          while ContinuousClock.now < end, try await call(writer, count) { count += 1 }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
    let elapsed = start.duration(to: .now)
    return Double(calls)
      / (Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18)
  }

  private func call(_ writer: Int, _ number: Int) async throws -> Bool {
    let key = "k\(Int.random(in: 0..<Self.keys))"
    switch operation {
    case .save: try await documents.save(Self.fields(number), key: key)
    case .insert: try await documents.insert(Self.fields(number))
    case .update: try await documents.update(key, set: ["n": .int(Int64(number))])
    case .remove: return try await documents.delete("r\(writer)_\(number)")
    case .apply:
      let other = "k\(Int.random(in: 0..<Self.keys))"
      guard other != key else { return true }
      try await documents.apply([
        .save(Self.fields(number), key: key), .save(Self.fields(number), key: other),
      ])
    case .block:
      let documents = documents
      try await store.write(retries: 10) {
        guard var found = try documents.get(key) else { return }
        found["n"] = .int((found["n"]?.int64 ?? 0) + 1)
        try documents.save(found)
      }
    }
    return true
  }
}
