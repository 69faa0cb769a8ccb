// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
package import NanoDocument
import Synchronization

/// Starts libdispatch while file descriptors are available for it.
///
/// On Linux, its first worker thread opens an epoll instance, an event descriptor and a timer, and
/// terminates the process if it cannot (`_dispatch_epoll_init`). Every `await` and every live query
/// depends on it.
package struct DispatchWarmup {
  private static let hasStarted = Atomic(false)
  /// Nil once libdispatch has started.
  private let started: DispatchSemaphore?

  /// Begins to start libdispatch. It takes a tenth of the time of opening the first store of a process, and waits most
  /// of it, so that the caller can open the file meanwhile.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the process has too few descriptors left. The next
  ///   call tries again.
  package init() throws(StoreError) {
    #if os(Linux)
      guard !Self.hasStarted.load(ordering: .acquiring) else {
        started = nil
        return
      }
      let leavesEnough = try Self.requireDescriptors()
      let started = DispatchSemaphore(value: 0)
      // A timer, so that its descriptor is opened now as well.
      let delay = leavesEnough ? Self.delay : Self.safeDelay
      DispatchQueue.global().asyncAfter(deadline: .now() + delay) { started.signal() }
      self.started = started
      // The caller must not open the last descriptors first.
      if !leavesEnough { wait() }
    #else
      started = nil
    #endif
  }

  /// Waits until libdispatch has started. May be called several times.
  package func wait() {
    guard let started, !Self.hasStarted.load(ordering: .acquiring) else { return }
    started.wait()
    started.signal()
    Self.hasStarted.store(true, ordering: .releasing)
  }

  /// Long enough to be in the future when the timer is set, because otherwise none is set, and shorter than opening the
  /// first store of a process.
  private static let delay = DispatchTimeInterval.milliseconds(1)
  /// The same on a machine that is busy with other work, where the descriptor would not be free later.
  private static let safeDelay = DispatchTimeInterval.milliseconds(50)

  /// The three descriptors named above, and one for anything else that the process opens at the
  /// same time.
  private static let neededDescriptors = 4

  /// More than opening a store needs: a file and a log for the writing connection and a reader, and shared memory.
  private static let openedByStores = 12

  /// Returns whether a store can be opened at the same time.
  private static func requireDescriptors() throws(StoreError) -> Bool {
    var opened: [Int32] = []
    defer { for file in opened { close(file) } }
    for _ in 0..<neededDescriptors + openedByStores {
      let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else {
        guard opened.count < neededDescriptors else { return false }
        throw StoreError(
          .cannotOpen, "The process has too few file descriptors left",
          [
            .engineMessage: String(cString: strerror(errno)),
            .hint: "close files, or raise the limit (ulimit -n)",
          ])
      }
      opened.append(file)
    }
    return true
  }
}
