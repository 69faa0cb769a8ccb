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
  /// The interruption of the call that the scheduler runs on this thread. A task started by the
  /// call inherits the task-local value, but is not interrupted with it.
  package static var current: Interruption? {
    guard let call = RunningCall.innermost, pthread_equal(call.thread, pthread_self()) != 0,
      call.isActive
    else { return nil }
    return call.interruption
  }

  /// Runs a call that this interruption can stop.
  package func stopping<Result>(_ work: () throws -> Result) throws -> Result {
    let call = RunningCall(self)
    defer { call.isActive = false }
    return try RunningCall.$innermost.withValue(call) { try work() }
  }
}

// @unchecked: `isActive` is read and written only on `thread`.
private final class RunningCall: @unchecked Sendable {
  @TaskLocal static var innermost: RunningCall?
  let interruption: Interruption
  let thread = pthread_self()
  var isActive = true
  init(_ interruption: Interruption) { self.interruption = interruption }
}
