// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// A flag that any thread can set, checked for each document.
final class CancellationFlag: Sendable {
  private let isSet = Atomic(false)

  func set() { isSet.store(true, ordering: .relaxed) }

  func check() throws(StoreError) {
    if isSet.load(ordering: .relaxed) {
      throw StoreError(.interrupted, "The operation was canceled")
    }
  }
}
