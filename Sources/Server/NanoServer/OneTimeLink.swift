// SPDX-License-Identifier: MIT

import Synchronization

/// A path that leads to the page once.
///
/// The URL with which a program opens the browser is in the arguments of processes, which all users of the machine can
/// read. Unlike the token, this path is of no use to them when the browser has loaded it.
package final class OneTimeLink: Sendable {
  private let token = AccessToken()
  private let isUsed = Mutex(false)

  package init() {}

  /// The path, without slashes.
  package var path: String { token.text }

  /// Returns whether a text is the path, which is accepted once.
  func use(_ text: String) -> Bool {
    guard token.matches(text) else { return false }
    return isUsed.withLock { isUsed in
      defer { isUsed = true }
      return !isUsed
    }
  }
}
