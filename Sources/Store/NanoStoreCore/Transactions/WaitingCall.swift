// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// A type-erased call that waits to run.
protocol WaitingCall: Sendable {
  var interruption: Interruption { get }
  /// Whether the call may run again after its transaction was rolled back, and can therefore share
  /// a transaction. False if it contains a user-supplied block, which may have other side effects.
  var isRepeatable: Bool { get }
  /// Runs the call in its own transaction. It can be interrupted.
  func runAlone()
  /// Runs the call in a savepoint of the running transaction. Call the returned closure after the
  /// commit.
  func runInSharedTransaction(on store: Store) -> (done: () -> Void, isFailed: Bool)
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

  func runInSharedTransaction(on store: Store) -> (done: () -> Void, isFailed: Bool) {
    // Interrupting the statement would roll back the writes of others, so a running write
    // continues.
    guard !interruption.isTriggered else { return ({ fail(CancellationError()) }, false) }
    let result = Swift.Result { try store.writeWithoutWaiting { try work() } }
    let isFailed = if case .failure = result { true } else { false }
    return ({ continuation.resume(with: result) }, isFailed)
  }

  func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
