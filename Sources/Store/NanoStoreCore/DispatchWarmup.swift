// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoDocument
import Synchronization

/// Starts libdispatch while file descriptors are available for it.
///
/// On Linux, its first worker thread opens an epoll instance, an event descriptor and a timer, and
/// terminates the process if it cannot (`_dispatch_epoll_init`). Every `await` and every live query
/// depends on it.
enum DispatchWarmup {
  private static let hasStarted = Atomic(false)

  /// - Throws: ``StoreError/Code/cannotOpen`` if the process has too few descriptors left. The next
  ///   call tries again.
  static func ensure() throws(StoreError) {
    #if os(Linux)
      guard !hasStarted.load(ordering: .acquiring) else { return }
      try requireDescriptors()
      let started = DispatchSemaphore(value: 0)
      // A timer, so that its descriptor is opened now as well.
      DispatchQueue.global().asyncAfter(deadline: .now() + firstDelay) { started.signal() }
      started.wait()
      hasStarted.store(true, ordering: .releasing)
    #endif
  }

  /// Long enough to be in the future when the timer is set, and short enough for the first store of
  /// a process.
  private static let firstDelay = DispatchTimeInterval.microseconds(300)

  /// The three descriptors named above, and one for anything else that the process opens at the
  /// same time.
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
