// SPDX-License-Identifier: MIT

import Dispatch
import NanoStore

private struct Undo: Error {}

extension ProgramExecutor {
  /// Performs a call on the store as a whole.
  func performStoreCall(_ call: Call) throws -> Outcome {
    switch call {
    case .metadata(let name, let value):
      try store.setMetadata(value, name)
      return .text(try store.metadata(name)?.jsonString() ?? "none")
    case .write(let calls, let fails): return try write(calls, fails)
    case .read(let calls):
      return try store.read { .several(calls.map { perform($0) }) }
    case .enqueue(let name, let calls):
      return try store[name].enqueue { _ in .several(calls.map { self.perform($0) }) }.wait()
    case .awaiting(let call): return waiting { await self.awaiting(call) }
    case .interval(let count, let shown):
      store.saveInterval = count
      store.showsUnsavedChanges = shown
      return .flag(store.hasUnsavedChanges)
    case .flush(let discarding):
      if discarding { store.discardUnsavedChanges() } else { try store.flush() }
    case .cache(let name, let size):
      if isReference { break }
      store[name].cacheSize = size
      store.flushCache()
    case .tune:
      if isReference || store.isInTransaction { break }
      _ = try store.indexAdvice()
      _ = try store.applyIndexAdvice()
      try store.finishIndexTuning()
    case .compact: try store.compact()
    case .verify: return Outcome(try store.verify())
    case .statistics:
      return .lines(try store.statistics().collections.map { "\($0.name) \($0.documents)" })
    case .reopen: try reopen(asAnother: false)
    case .restart: try reopen(asAnother: true)
    case .backup(let opening): try backup(opening: opening)
    default: preconditionFailure("Unhandled call: \(call).")
    }
    return .done
  }

  /// Performs a transaction, which is rolled back at its end if it is to fail.
  private func write(_ calls: [Call], _ fails: Bool) throws -> Outcome {
    var outcomes: [Outcome] = []
    let restartable = restartable
    do {
      try store.write {
        outcomes = calls.map { perform($0) }
        if fails { throw Undo() }
      }
    } catch is Undo {
      self.restartable = restartable
      outcomes.append(.text("rolled back"))
    }
    return .several(outcomes)
  }

  /// Blocks this thread, which does not belong to the cooperative pool, until a task completes.
  private func waiting(_ work: @escaping @Sendable () async -> Outcome) -> Outcome {
    let done = DispatchSemaphore(value: 0)
    let box = OutcomeBox()
    Task.detached {
      box.outcome = await work()
      done.signal()
    }
    done.wait()
    return box.outcome
  }
}

// @unchecked: written before the semaphore is signaled and read after waiting for it.
private final class OutcomeBox: @unchecked Sendable { var outcome = Outcome.done }
