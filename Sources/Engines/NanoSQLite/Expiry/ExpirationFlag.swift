// SPDX-License-Identifier: MIT

import Synchronization

/// Whether documents of any collection may expire, as far as the connections of an engine have seen.
final class ExpirationFlag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
