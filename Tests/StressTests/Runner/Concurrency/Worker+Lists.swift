// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting

extension Worker {
  /// The length at which a list is replaced by another one, because long lists are slow.
  private static let longest = 200
  private static let lists = 4

  private mutating func list() -> String { "l\(random.number(1...Self.lists))-\(round)" }

  /// Appends a token to a list. Acknowledged tokens must be in the list, failed ones must not.
  mutating func append() async throws -> Bool {
    let (list, token) = (list(), next())
    let store = random.pick(pool.stores)
    let fails = random.oneIn(8)
    let start = Event.now
    let count = try await attempt(on: store) { worker in
      try await worker.write(store) { () throws -> Int in
        let count = try Self.add(token, to: list, store)
        if fails { throw Undo() }
        return count
      }
    }
    pool.log.add(
      .append(list: list, token: token, start: start, end: Event.now, done: count != nil))
    if let count, count >= Self.longest { round += 1 }
    return count != nil
  }

  @Sendable private static func add(_ token: String, to list: String, _ store: Store) throws -> Int
  {
    let lists = store["lists"]
    let items = (try lists.get(list)?["items"]?.array ?? []) + [.string(token)]
    try lists.save(["items": .array(items)], key: list)
    return items.count
  }

  mutating func readList() async throws -> Bool {
    let list = list()
    let store = random.pick(pool.stores)
    let isQuery = random.oneIn(2)
    let start = Event.now
    let items = try await attempt(on: store) { worker in
      try await worker.either(plain: { try Self.items(list, isQuery, store) }) {
        try await store.read { try Self.items(list, isQuery, store) }
      }
    }
    guard let items else { return false }
    pool.log.add(
      .read(
        list: list, start: start, end: Event.now, count: items.count, digest: Event.digest(items)))
    return true
  }

  @Sendable private static func items(
    _ list: String, _ isQuery: Bool, _ store: Store
  ) throws -> [String] {
    let lists = store["lists"]
    let found = isQuery ? try lists.find(Condition.key(list)).first() : try lists.get(list)
    return (found?["items"]?.array ?? []).compactMap(\.string)
  }

  /// Starts a long transaction and cancels it. Afterward, either all of its changes exist or none.
  mutating func cancel() async throws -> Bool {
    let (list, token) = (list(), next())
    let store = random.pick(pool.stores)
    let length = random.number(1...40)
    let delay = random.number(0...4_000)
    let start = Event.now
    let began = ContinuousClock.now
    let task = Task {
      try await store.write {
        _ = try Self.add(token, to: list, store)
        for number in 0..<length { try store["scratch"].save(["n": 1], key: "s\(number)") }
      }
    }
    try await Task.sleep(for: .microseconds(delay))
    task.cancel()
    let outcome = await task.result
    var isDone = false
    switch outcome {
    case .success: isDone = true
    case .failure(let error as StoreError) where error.code != .interrupted:
      guard Self.isAllowed(error, .now - began) else { throw error }
    case .failure(let error):
      let isCancelled = error is CancellationError || (error as? StoreError)?.code == .interrupted
      guard isCancelled else { throw error }
    }
    pool.log.add(.append(list: list, token: token, start: start, end: Event.now, done: isDone))
    return true
  }
}

extension Condition {
  fileprivate static func key(_ key: String) -> Condition {
    .comparison(.attribute(.key), .equal, .value(.string(key)))
  }
}
