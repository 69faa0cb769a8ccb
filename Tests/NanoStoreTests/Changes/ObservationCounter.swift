// SPDX-License-Identifier: MIT

import Observation

/// Counts how often an observer is notified, like a view that reads a value again after each change.
@MainActor final class ObservationCounter<Value> {
  private(set) var count = 0
  /// The values that the handler read, at the moment of each notification.
  private(set) var values: [Value] = []
  private let read: () -> Value
  private let onChange: (Value) -> Void

  init(_ read: @escaping () -> Value, onChange: @escaping (Value) -> Void = { _ in }) {
    self.read = read
    self.onChange = onChange
    observe()
  }

  private func observe() {
    withObservationTracking {
      _ = read()
    } onChange: { [weak self] in
      MainActor.assumeIsolated { self?.receive() }
    }
  }

  private func receive() {
    count += 1
    let value = read()
    values.append(value)
    onChange(value)
    observe()
  }
}
