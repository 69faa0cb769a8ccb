// SPDX-License-Identifier: MIT

import Observation

/// Counts how often an observer is notified: it reads again in each notification, as a view does.
// @unchecked: used on one thread, which also sends the notifications.
final class Watch<Value>: @unchecked Sendable {
  private let read: () -> Value
  private(set) var count = 0
  /// The values that the observer has read, the first one included.
  private(set) var values: [Value] = []

  init(_ read: @escaping () -> Value) {
    self.read = read
    arm()
  }

  private func arm() {
    let value = withObservationTracking(read) { [weak self] in
      guard let self else { return }
      count += 1
      arm()
    }
    values.append(value)
  }
}
