// SPDX-License-Identifier: MIT

import NanoEngine

extension Interruption {
  /// What stops the call that the scheduler runs on this thread.
  @TaskLocal static var current: Interruption?
}
