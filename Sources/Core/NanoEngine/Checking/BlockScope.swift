// SPDX-License-Identifier: MIT

import Synchronization

/// The block that received a reader or writer, which is confined to it and to its thread.
final class BlockScope: Sendable {
  private let owner = ThreadOwner()
  /// Atomic, since a caller that violates the contract may read it on another thread.
  private let hasEnded = Atomic(false)

  init() { owner.take() }

  func end() { hasEnded.store(true, ordering: .releasing) }

  /// The rule that a use at this point violates; `nil` if it is permitted.
  var violation: ContractViolation.Rule? {
    if hasEnded.load(ordering: .acquiring) { return .usedOutsideBlock }
    return owner.isCurrent ? nil : .usedOnOtherThread
  }
}
