// SPDX-License-Identifier: MIT

import Synchronization

/// Something that is true once it was set.
final class Flag: Sendable {
  private let value = Atomic(false)
  var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }
  func set() { value.store(true, ordering: .sequentiallyConsistent) }
}

/// Counts calls.
final class Counter: Sendable {
  private let value = Atomic(0)
  /// Returns the number of calls before.
  func next() -> Int { value.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue }
}
