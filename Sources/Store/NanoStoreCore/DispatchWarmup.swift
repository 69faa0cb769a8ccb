// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoDocument
import Synchronization

/// Starts libdispatch while there are file descriptors for it.
///
/// On Linux its first worker thread opens an epoll instance, an event descriptor and a timer, and
/// terminates the process if it cannot (`_dispatch_epoll_init`). Every `await` and every live query uses it.
enum DispatchWarmup {
  private static let hasStarted = Atomic(false)

  /// - Throws: ``StoreError/Code/cannotOpen`` if the process has too few descriptors left. The next call tries again.
  static func ensure() throws(StoreError) {
    #if os(Linux)
      guard !hasStarted.load(ordering: .acquiring) else { return }
      try requireDescriptors()
      let started = DispatchSemaphore(value: 0)
      // A timer, so that its descriptor is opened now too.
      DispatchQueue.global().asyncAfter(deadline: .now() + firstDelay) { started.signal() }
      started.wait()
      hasStarted.store(true, ordering: .releasing)
    #endif
  }

  /// Long enough to be still ahead when the timer is set, and short for the first store of a process.
  private static let firstDelay = DispatchTimeInterval.microseconds(300)

  /// Those named above, and one for whatever else the process opens at this moment.
  private static let neededDescriptors = 4

  private static func requireDescriptors() throws(StoreError) {
    var opened: [Int32] = []
    defer { for file in opened { close(file) } }
    for _ in 0..<neededDescriptors {
      let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else {
        throw StoreError(
          .cannotOpen, "The process has too few file descriptors left",
          [
            .engineMessage: String(cString: strerror(errno)),
            .hint: "close files, or raise the limit (ulimit -n)",
          ])
      }
      opened.append(file)
    }
  }
}
