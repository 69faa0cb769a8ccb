// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting

extension Worker {
  /// Creates and drops indexes while other tasks use them.
  mutating func changeShape() async throws -> Bool {
    let choice = random.number(0...8)
    let store = random.pick(pool.stores)
    return try await attempt(on: store) { worker in
      try await worker.either(plain: { try Self.change(choice, store) }) {
        try await store.write { try Self.change(choice, store) }
      }
    } != nil
  }

  @Sendable private static func change(_ choice: Int, _ store: Store) throws {
    switch choice {
    case 0: try store["accounts"].createIndex("balance")
    case 1: try store["accounts"].dropIndex("balance")
    case 2: try store["lists"].createIndex("items", elements: true, name: "items")
    case 3: try store["lists"].dropIndex("items")
    case 4: try store["slots"].setIndexing(.everything)
    case 5: try store["slots"].setIndexing(.declared)
    case 6: try store["notes"].createFullTextIndex("body", tokens: .substrings, name: "parts")
    case 7: try store["notes"].dropIndex("parts")
    default: try store["scratch"].drop()
    }
  }

  /// Checks that a backup of a store in use is complete.
  mutating func backUp() async throws -> Bool {
    let path = pool.folder + "/backup-\(next()).db"
    defer {
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    }
    let store = random.pick(pool.stores)
    let isDone: Void? = try await attempt(on: store) { worker in
      try await worker.either(plain: { try store.backup(to: path) }) {
        try await store.backup(to: path)
      }
    }
    guard isDone != nil else {
      let isThere = FileManager.default.fileExists(atPath: path)
      try require(!isThere, "a failed backup left a file")
      return false
    }
    try Self.check(path)
    return true
  }

  private static func check(_ path: String) throws {
    let copy = try Store(.file(path))
    defer { try? copy.close() }
    try SharedFile.audit(copy)
    let problems = try copy.verify()
    try require(problems.isEmpty, "a backup is damaged: \(problems.map(\.message))")
  }

  /// Closes a store in use. Calls of other tasks complete or fail as a whole.
  mutating func reopen() async throws -> Bool {
    let store = random.pick(pool.stores)
    return try await attempt(on: store) { worker in
      try await worker.either(plain: { try Self.reopen(store) }) { try Self.reopen(store) }
    } != nil
  }

  @Sendable private static func reopen(_ store: Store) throws {
    try store.close()
    try store.reopen()
  }
}
