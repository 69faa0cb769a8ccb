// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import Synchronization

extension NTJsonStoreCaseRunner {
  /// Returns the operations of a step: `n` insertions, or a list of operations, or of their names.
  func sequence(_ step: DocumentObject) throws -> [DocumentObject] {
    if let count = step["n"]?.int64 {
      return (0..<count).map { ["op": "insert", "json": ["n": .int($0)]] }
    }
    let steps = Self.listNames.lazy.compactMap { step[$0]?.array }.first
    guard let steps, !steps.isEmpty else { throw failure("the step has no operations") }
    return try steps.map { step in
      if let name = step.string { return ["op": .string(name), "json": [:]] }
      guard let object = step.object else { throw failure("an operation is no object") }
      return object
    }
  }

  /// Whether a step has the operations that ``sequence(_:)`` returns.
  func isSequence(_ step: DocumentObject) -> Bool {
    step["n"]?.int64 != nil || Self.listNames.contains { step[$0]?.array != nil }
  }
  private static let listNames = ["steps", "operations", "ops", "calls"]

  /// Starts the asynchronous operations without waiting for them, and runs those marked synchronous in
  /// place. Returns each operation's result and the order of completion.
  func queued(_ steps: [DocumentObject], _ outer: DocumentObject) throws -> DocumentObject {
    typealias Entry = (number: Int64, result: DocumentObject, failure: CaseFailure?)
    let journal = Mutex<[Entry]>([])
    let names = try steps.map { try unopened(merged($0, outer)).name }
    for (number, step) in steps.enumerated() {
      var step = merged(step, outer)
      let isPlain = step["async"] == false || step["sync"] == true
      if let op = step["op"]?.string, op.hasPrefix("async"), let first = op.dropFirst(5).first {
        step["op"] = .string(first.lowercased() + op.dropFirst(6))
      }
      if !isPlain { step[Self.isQueued] = true }
      let isWait = Self.waits.contains(step["op"]?.string ?? "")
      let runAndRecord: @Sendable () -> Void = { [step] in
        func run() -> Entry {
          do {
            return (Int64(number), try self.result(of: step), nil)
          } catch {
            return (Int64(number), [:], error as? CaseFailure)
          }
        }
        // An operation that waits for others must not block them.
        let waited = isWait ? run() : nil
        // The others run one at a time, even on different collections.
        journal.withLock { $0.append(waited ?? run()) }
      }
      if isPlain {
        try store().finishQueued()
        runAndRecord()
      } else {
        try unopened(step).enqueue { _ in runAndRecord() }
      }
    }
    try store().finishQueued(names)
    let ended = journal.withLock { $0 }
    if let failure = ended.lazy.compactMap(\.failure).first { throw failure }
    let order = ended.map(\.number)
    let results = ended.sorted { $0.number < $1.number }.map(\.result)
    let isOrdered = DocumentValue.bool(order == order.sorted())
    let isComplete = DocumentValue.bool(ended.count == steps.count)
    return [
      "ok": true, "results": .array(results.map { .object($0) }),
      "order": .array(order.map { .int($0) }), "ordered": isOrdered, "inOrder": isOrdered,
      "rowids": .array(results.map { $0["rowid"] ?? .null }),
      "values": .array(results.map { $0["value"] ?? .null }),
      "completed": isComplete, "called": isComplete, "handlerCalled": isComplete,
      "allFinished": isComplete,
      // The operations may have closed the store.
      "count": .int(Int64((try? unopened(outer).count()) ?? 0)),
    ]
  }
  /// The operations that wait for queued calls.
  private static let waits = Set([
    "syncAll", "syncCollections", "sync", "collectionSync", "syncWait", "collectionSyncWait",
    "storeSyncWait",
  ])
  /// A field of steps that run in a queue. No case has it.
  private static let isQueued = "$isQueued"

  private func merged(_ step: DocumentObject, _ outer: DocumentObject) -> DocumentObject {
    var step = step
    if step["collection"] == nil { step["collection"] = outer["collection"] ?? "c" }
    return step
  }

  /// Performs an operation on queued calls; returns nil for operations of other kinds.
  func performOrder(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "completionQueue": return try completionQueues(step)
    case "syncAll", "syncCollections", "sync", "collectionSync":
      let isList = step["collections"]?.array != nil || step["collection"] != nil
      let names = isList || !["syncAll", "syncCollections"].contains(op) ? names(step) : nil
      let calls = try queueWork(step, on: names)
      let isFinished = try store().finishQueued(op == "syncAll" ? nil : names)
      let isComplete = DocumentValue.bool(isFinished && calls.allSatisfy { $0.isFinished })
      return ["allFinished": isComplete, "value": isComplete, "ok": true]
    case "syncWait", "collectionSyncWait", "storeSyncWait":
      return try waiting(step)
    default: return nil
    }
  }

  private func names(_ step: DocumentObject) -> [String] {
    let names = step["collections"]?.array?.compactMap(\.string)
    return (names ?? [step["collection"]?.string ?? "c"]).map { $0.lowercased() }
  }

  /// Queues reads, which leave no trace, on some collections, or on all.
  private func queueWork(
    _ step: DocumentObject, on names: [String]?
  ) throws -> [QueuedCall<Int>] {
    let store = try store()
    // A call cannot wait for later calls in its own queue.
    if step[Self.isQueued] == true || store.isClosed { return [] }
    return try (names ?? store.collections().map(\.name)).flatMap { name in
      (0..<20).map { _ in store[name].enqueue { try $0.count() } }
    }
  }

  /// Waits with a timeout, while a call runs if the step has one pending.
  private func waiting(_ step: DocumentObject) throws -> DocumentObject {
    let gate = DispatchSemaphore(value: 0)
    let limit = Duration.milliseconds(step["timeoutMs"]?.int ?? 1)
    let pending = step["pending"] ?? .null
    let isPending = pending != .null && pending != false
    for name in names(step) where isPending {
      try store()[name].enqueue { _ in
        gate.wait()
        gate.signal()
      }
    }
    let isFinished = try store().finishQueued(names(step), within: limit)
    gate.signal()
    try store().finishQueued()
    return ["value": .bool(isFinished)]
  }

  /// Returns the queues on which completions run, by the queue of the caller and the requested target.
  private func completionQueues(_ step: DocumentObject) throws -> DocumentObject {
    let key = DispatchSpecificKey<String>()
    DispatchQueue.main.setSpecific(key: key, value: "main")
    let collection = try collection(step)
    let (order, found) = (Log(), DispatchSemaphore(value: 0))
    func completionQueue(from queue: DispatchQueue, _ target: CompletionTarget) -> String {
      let seen = Log()
      queue.async {
        collection.enqueue(completingOn: target) { _ in
        } completion: { _ in
          seen.add(DispatchQueue.getSpecific(key: key) ?? "global default")
          found.signal()
        }
      }
      guard found.wait(timeout: .now() + 60) == .success else { return "never" }
      return seen.all.joined()
    }
    let main = completionQueue(from: .main, .automatic)
    let background = completionQueue(from: .global(), .automatic)
    for number in 0..<3 {
      collection.enqueue(completingOn: .inLine) { _ in
        order.add("call \(number)")
      } completion: { _ in
        order.add("completion \(number) \((try? collection.count()) == nil ? "fails" : "succeeds")")
      }
    }
    collection.finishQueued()
    let inLine = (0..<3).flatMap { ["call \($0)", "completion \($0) succeeds"] }
    return [
      "main": .string(main), "background": .string(background),
      "serial": order.all == inLine ? "collection queue" : .string("\(order.all)"),
    ]
  }
}

private final class Log: Sendable {
  private let entries = Mutex<[String]>([])
  func add(_ entry: String) { entries.withLock { $0.append(entry) } }
  var all: [String] { entries.withLock { $0 } }
}
