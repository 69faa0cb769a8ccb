// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// A call that waits for its turn, whatever its result is.
protocol WaitingCall: Sendable {
  var interruption: Interruption { get }
  /// Whether it may run again after its transaction was undone, and so share one with others: not if
  /// a block of the caller is in it, which may have changed other things.
  var isRepeatable: Bool { get }
  /// In a transaction of its own; can be stopped.
  func runAlone()
  /// In a savepoint of the running transaction. What it gives is to be called after the commit.
  func runTogether(on store: Store) -> (done: () -> Void, isFailed: Bool)
  func fail(_ error: any Error)
}

struct Call<Result: Sendable>: WaitingCall {
  let interruption: Interruption
  let isRepeatable: Bool
  let work: @Sendable () throws -> Result
  let continuation: CheckedContinuation<Result, any Error>

  func runAlone() {
    guard !interruption.isTriggered else { return fail(CancellationError()) }
    do {
      continuation.resume(returning: try interruption.stopping(work))
    } catch let error as StoreError where error.code == .interrupted && interruption.isTriggered {
      fail(CancellationError())
    } catch {
      fail(error)
    }
  }

  func runTogether(on store: Store) -> (done: () -> Void, isFailed: Bool) {
    // Stopping the statement would undo the writes of others, so a write that runs goes on.
    guard !interruption.isTriggered else { return ({ fail(CancellationError()) }, false) }
    let result = Swift.Result { try store.writeAtOnce { try work() } }
    let isFailed = if case .failure = result { true } else { false }
    return ({ continuation.resume(with: result) }, isFailed)
  }

  func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
