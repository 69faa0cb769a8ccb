// SPDX-License-Identifier: MIT

import NanoEngine
import NanoStoreModels
import NanoTesting
import Synchronization

/// Saves that fail.
extension BNRCaseRunner {
  func performSaving(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    guard op == "saveWithFailingBackend" else { return nil }
    let kind = try failSaves()
    let isUnsaved = try context.hasUnsavedChanges
    return [
      // The case cannot know the error that is injected.
      "ok": false, "error": step["expect"]?["error"] ?? .string(kind), "committed": false,
      "hasUnsavedChanges": .bool(isUnsaved), "value": .bool(isUnsaved),
    ]
  }

  /// Fails the beginning of a save, then its first writes. Returns the kind of the error.
  private func failSaves() throws -> String {
    guard try context.hasUnsavedChanges else { throw failure("there is nothing to save") }
    guard let engine = failing.engine else { throw failure("the store is encrypted") }
    defer { engine.succeed() }
    var kind = ""
    for call in 1...3 {
      engine.fail(at: call, StoreError(.full, "No space is left"))
      do {
        try context.save()
      } catch let error as StoreError {
        kind = error.code.rawValue
        continue
      }
      throw failure("the save does not fail")
    }
    return kind
  }
}

/// Creates the engine of a store, and gives tests access to it.
final class FailingEngineBox: Sendable {
  private let last = Mutex<FailingEngine?>(nil)

  var engine: FailingEngine? { last.withLock { $0 } }

  func wrap(_ engine: any Engine) -> any Engine {
    let failing = FailingEngine(engine)
    last.withLock { $0 = failing }
    return failing
  }
}
