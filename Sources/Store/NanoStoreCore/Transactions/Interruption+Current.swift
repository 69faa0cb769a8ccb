// SPDX-License-Identifier: MIT

package import NanoEngine

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension Interruption {
  /// What stops the call that the scheduler runs on this thread. A task that the call starts
  /// inherits the task-local value, but is not stopped with it.
  static var current: Interruption? {
    guard let call = RunningCall.innermost, pthread_equal(call.thread, pthread_self()) != 0,
      call.isActive
    else { return nil }
    return call.interruption
  }

  /// Runs a call that this interruption stops.
  package func stopping<Result>(_ work: () throws -> Result) throws -> Result {
    let call = RunningCall(self)
    defer { call.isActive = false }
    return try RunningCall.$innermost.withValue(call) { try work() }
  }
}

// @unchecked: `isActive` is written on `thread`, and read there only.
private final class RunningCall: @unchecked Sendable {
  @TaskLocal static var innermost: RunningCall?
  let interruption: Interruption
  let thread = pthread_self()
  var isActive = true
  init(_ interruption: Interruption) { self.interruption = interruption }
}
