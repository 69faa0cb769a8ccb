// SPDX-License-Identifier: MIT

import Foundation

/// Accumulates the time spent in measured work: the wall-clock time, and the processor time of the whole process (all
/// threads, user and system).
package final class Stopwatch {
  package private(set) var cpuNanoseconds: UInt64 = 0
  package private(set) var wallNanoseconds: UInt64 = 0

  package init() {}

  @inline(__always)
  package func measure<Result>(_ work: () throws -> Result) rethrows -> Result {
    let start = Self.now()
    defer { add(since: start) }
    return try work()
  }

  /// Measures only the processor time of this thread, to find what other threads cost it.
  @inline(__always)
  package func measureThread<Result>(_ work: () throws -> Result) rethrows -> Result {
    let start = Self.now(.thread)
    defer { add(since: start, .thread) }
    return try work()
  }

  /// Measures asynchronous work. The name differs from ``measure(_:)`` so that calls there stay synchronous: in an
  /// asynchronous closure, Swift would prefer GRDB's asynchronous overloads.
  package func measureAsync<Result>(_ work: () async throws -> Result) async rethrows -> Result {
    let start = Self.now()
    defer { add(since: start) }
    return try await work()
  }

  /// Adds times that another process measured.
  package func add(cpu: UInt64, wall: UInt64) {
    cpuNanoseconds += cpu
    wallNanoseconds += wall
  }

  /// The monotonic clock, in nanoseconds.
  package static var monotonic: UInt64 { nanoseconds(CLOCK_MONOTONIC) }

  private enum Scope { case process, thread }

  private func add(since start: (cpu: UInt64, wall: UInt64), _ scope: Scope = .process) {
    let end = Self.now(scope)
    cpuNanoseconds += end.cpu - start.cpu
    wallNanoseconds += end.wall - start.wall
  }

  private static func now(_ scope: Scope = .process) -> (cpu: UInt64, wall: UInt64) {
    let clock = scope == .process ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID
    return (nanoseconds(clock), nanoseconds(CLOCK_MONOTONIC))
  }

  private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
    #if canImport(Darwin)
      clock_gettime_nsec_np(clock)
    #else
      var time = timespec()
      clock_gettime(clock, &time)
      return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    #endif
  }
}
