// SPDX-License-Identifier: MIT

import NanoStore

/// Documents that are written after the call that saves them.
extension NanoStoreCaseRunner {
  /// Replaces documents that were saved or added to a bag by the stored ones, once they are written.
  ///
  /// In the original, objects learn that they were written. Here documents are values: what a delayed save returned
  /// stays as it was.
  func readWritten() {
    guard !unwritten.isEmpty, !store.isClosed else { return }
    for name in unwritten {
      guard let document = documents[name], document.hasUnsavedChanges else {
        unwritten.remove(name)
        continue
      }
      guard let key = document.key, let stored = try? objects.get(key),
        let content = try? stored.object(), let expected = try? document.object(),
        stored.type == document.type,
        DocumentValue.object(expected).matches(.object(content))
      else { continue }
      documents[name] = stored
      unwritten.remove(name)
    }
  }
}
