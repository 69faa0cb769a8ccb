// SPDX-License-Identifier: MIT

import Synchronization

/// Whether a client has closed its connection.
package final class Disconnection: Sendable {
  private struct State {
    var isClosed = false
    var action: (@Sendable () -> Void)?
  }
  private let state = Mutex(State())

  package init() {}

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Reports that the connection is closed.
  package func close() {
    let action = state.withLock { state in
      state.isClosed = true
      return state.action
    }
    action?()
  }

  /// Sets what is called when the connection is closed, instead of what was set before.
  func onClose(_ action: (@Sendable () -> Void)?) {
    let isClosed = state.withLock { state in
      state.action = action
      return state.isClosed
    }
    if isClosed { action?() }
  }
}
