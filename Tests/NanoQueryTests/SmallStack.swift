// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// The stack size of secondary threads on Apple platforms.
let smallStack = 512 << 10

/// Runs a closure on a thread with a stack of its own, and returns its result.
func onThread<T: Sendable>(stackSize: Int, _ work: @escaping @Sendable () -> T) -> T {
  let result = Mutex<T?>(nil)
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    let value = work()
    result.withLock { $0 = value }
    done.signal()
  }
  thread.stackSize = stackSize
  thread.start()
  done.wait()
  return result.withLock { $0! }
}
