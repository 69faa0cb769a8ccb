// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import Synchronization

extension NTJsonStoreCaseRunner {
  /// Performs an operation on queued calls; returns nil for operations of other kinds.
  func performOrder(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "completionQueue": return try completionQueues(step)
    case "syncAll", "syncCollections", "sync", "collectionSync":
      let calls = try queueWork(step)
      let names = op == "syncAll" ? nil : names(step)
      let isFinished = try store().finishQueued(names)
      return ["allFinished": .bool(isFinished && calls.allSatisfy { $0.isFinished }), "ok": true]
    case "syncWait", "collectionSyncWait", "storeSyncWait":
      return try waiting(step)
    default: return nil
    }
  }

  private func names(_ step: DocumentObject) -> [String] {
    step["collections"]?.array?.compactMap(\.string) ?? [step["collection"]?.string ?? "c"]
  }

  /// Queues writes on each collection of the step.
  private func queueWork(_ step: DocumentObject) throws -> [QueuedCall<Document>] {
    try names(step).flatMap { name in
      let collection = try collection(["collection": .string(name)])
      return (0..<20 as Range<Int64>).map { number in
        collection.enqueue { try $0.insert(["n": .int(number)]) }
      }
    }
  }

  /// Waits with a timeout, while a call runs if the step has one pending.
  private func waiting(_ step: DocumentObject) throws -> DocumentObject {
    let gate = DispatchSemaphore(value: 0)
    let limit = Duration.milliseconds(step["timeoutMs"]?.int ?? 1)
    let isPending = step["pending"] != nil && step["pending"] != .null
    for name in names(step) where isPending {
      try collection(["collection": .string(name)]).enqueue { _ in
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
