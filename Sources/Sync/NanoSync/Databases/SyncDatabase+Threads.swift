// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

extension SyncDatabase {
  /// Runs work off the caller's thread. Canceling the task interrupts it.
  package func offThread<Result: Sendable>(
    _ work: @escaping @Sendable (SyncDatabase) throws -> Result
  ) async throws -> Result {
    let interruption = Interruption()
    return try await withTaskCancellationHandler {
      do {
        return try await store.onMaintenanceThread {
          try interruption.stopping { try work(self) }
        }
      } catch let error as StoreError where error.code == .interrupted && interruption.isTriggered {
        throw CancellationError()
      }
    } onCancel: {
      interruption.trigger()
    }
  }
}
