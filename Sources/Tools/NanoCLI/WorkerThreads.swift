// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

/// The threads of libdispatch, which opens an epoll instance and an event descriptor when its first worker starts, and
/// traps if it cannot (`_dispatch_epoll_init`).
enum WorkerThreads {
  /// Starts a worker before the command opens files.
  ///
  /// - Throws: ``CommandFailure`` if the process can open fewer than three more files.
  static func start() throws {
    let probes = (0..<3).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
    let isFull = probes.contains { $0 < 0 } && (errno == EMFILE || errno == ENFILE)
    for probe in probes where probe >= 0 { close(probe) }
    guard !isFull else {
      throw CommandFailure(message: "Too many files are open; close some, or raise the limit")
    }
    let started = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { started.signal() }
    started.wait()
  }
}
