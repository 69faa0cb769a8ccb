// SPDX-License-Identifier: MIT

import Foundation
import NIOCore

/// Describes why a server cannot listen.
package enum ListeningFailure {
  /// Returns the reason as the system states it, such as `Address already in use`.
  package static func reason(_ error: any Error) -> String {
    // The description of NIO also names the function that failed and its parameters.
    if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
    return "\(error)"
  }
}
